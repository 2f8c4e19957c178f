/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_keywords.h"

#include "python_error.h"
#include "python_text.h"

#include <string.h>

/* Feature versions of NumPy's C-API */
#define FEATURE_2_3 0x14u
#define FEATURE_2_4 0x15u

/* Interned, so that usually one comparison finds them. */
static const char *const texts[GSH_KEYWORD_COUNT] = {"out",    "casting", "subok",     "dtype",
                                                     "where",  "order",   "signature", "sig",
                                                     "extobj", "axes",    "axis"};
static PyObject *names[GSH_KEYWORD_COUNT];

bool gsh_numpy_keywords_init(void)
{
    for (int i = 0; i < GSH_KEYWORD_COUNT; i++) {
        names[i] = gsh_py.PyUnicode_InternFromString(texts[i]);
        if (!names[i]) {
            gsh_python_error_clear();
            return false;
        }
    }
    return true;
}

int gsh_numpy_keywords_find(PyObject *name)
{
    for (int i = 0; i < GSH_KEYWORD_COUNT; i++)
        if (name == names[i])
            return i;
    for (int i = 0; i < GSH_KEYWORD_COUNT; i++)
        if (gsh_py.PyUnicode_CompareWithASCIIString(name, texts[i]) == 0)
            return i;
    return -1;
}

PyObject *gsh_numpy_keywords_name(enum gsh_keyword keyword)
{
    return names[keyword];
}

/* Sets output j. */
static void set_out(struct gsh_ufunc_call *call, unsigned j, PyObject *value)
{
    call->outs[j] = gsh_py_is_none(value) ? NULL : value;
}

/* out=: a tuple with an array or None for each output. A ufunc with one output also accepts the
 * array itself or `...`. */
static bool parse_out(struct gsh_ufunc_call *call, PyObject *value)
{
    unsigned nout = (unsigned)call->ufunc->nout;
    if (gsh_py_type(value) == gsh_py.PyTuple_Type) {
        if (gsh_py_size(value) != (Py_ssize_t)nout)
            return false;
        for (unsigned j = 0; j < nout; j++)
            set_out(call, j, gsh_py.PyTuple_GetItem(value, (Py_ssize_t)j));
        return true;
    }
    if (value == gsh_py._Py_EllipsisObject)
        return gsh_np.feature >= FEATURE_2_3;
    set_out(call, 0, value);
    return nout == 1;
}

static bool parse_casting(struct gsh_ufunc_call *call, PyObject *value)
{
    call->casting_name = value;
    return gsh_numpy_arguments_casting(value, GSH_CASTING_SAME_KIND, &call->casting);
}

/* Whether the type keywords are valid: dtype= and signature= together are an error, even if one is
 * None. */
static bool may_name_types(struct gsh_ufunc_call *call)
{
    bool is_first = !call->names_types;
    call->names_types = true;
    return is_first;
}

/* The dtype of a class of dtypes (type(np.dtype(float)), as np.linspace names them), or -1. */
static int find_class(PyObject *object)
{
    for (int i = 0; i < GSH_DTYPE_COUNT; i++)
        if (gsh_py_type(gsh_np.descrs[i]) == object)
            return i;
    return -1;
}

static bool parse_dtype(struct gsh_ufunc_call *call, PyObject *value)
{
    if (!may_name_types(call))
        return false;
    if (gsh_py_is_none(value))
        return true;
    int dtype = find_class(value);
    if (dtype < 0)
        dtype = gsh_numpy_describe_dtype(value);
    for (int j = 0; j < call->ufunc->nout; j++)
        call->fixed[call->ufunc->nin + j] = (signed char)dtype;
    call->dtype = value;
    return dtype >= 0;
}

/* The dtype for NumPy's type character, or -1. */
static int find_char(char numpy_char)
{
    for (int i = 0; i < GSH_DTYPE_COUNT; i++)
        if (gsh_dtype_numpy_char((enum gsh_dtype)i) == numpy_char)
            return i;
    return -1;
}

/* "dd->d" */
static bool parse_signature_text(struct gsh_ufunc_call *call, PyObject *value)
{
    const char *text = gsh_python_text_utf8(value);
    size_t nin = (size_t)call->ufunc->nin, count = (size_t)call->ufunc->nargs;
    if (!text || strlen(text) != count + 2 || strncmp(text + nin, "->", 2) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        int dtype = find_char(text[i < nin ? i : i + 2]);
        if (dtype < 0)
            return false;
        call->fixed[i] = (signed char)dtype;
    }
    return true;
}

static bool parse_signature(struct gsh_ufunc_call *call, PyObject *value)
{
    if (!may_name_types(call))
        return false;
    call->signature = value;
    if (gsh_py_type(value) == gsh_py.PyUnicode_Type)
        return parse_signature_text(call, value);
    if (gsh_py_type(value) != gsh_py.PyTuple_Type ||
        gsh_py_size(value) != (Py_ssize_t)call->ufunc->nargs)
        return false;
    for (int i = 0; i < call->ufunc->nargs; i++) {
        PyObject *item = gsh_py.PyTuple_GetItem(value, i);
        if (gsh_py_is_none(item))
            continue;
        int dtype = gsh_numpy_describe_dtype(item);
        if (dtype < 0)
            return false;
        call->fixed[i] = (signed char)dtype;
    }
    return true;
}

static bool parse_one(struct gsh_ufunc_call *call, int keyword, PyObject *value)
{
    switch (keyword) {
    case GSH_KEYWORD_OUT:
        return parse_out(call, value);
    case GSH_KEYWORD_CASTING:
        return parse_casting(call, value);
    case GSH_KEYWORD_SUBOK:
        return value == gsh_py._Py_TrueStruct || value == gsh_py._Py_FalseStruct;
    case GSH_KEYWORD_DTYPE:
        return parse_dtype(call, value);
    case GSH_KEYWORD_SIGNATURE:
    case GSH_KEYWORD_SIG:
        return parse_signature(call, value);
    case GSH_KEYWORD_WHERE:
        call->where = value == gsh_py._Py_TrueStruct ? NULL : value;
        return !call->ufunc->core_enabled; /* a gufunc refuses it */
    case GSH_KEYWORD_ORDER:
        return gsh_numpy_arguments_order(value, GSH_ORDER_KEEP, &call->order);
    case GSH_KEYWORD_EXTOBJ:
        call->extobj = value;
        return true;
    case GSH_KEYWORD_AXES:
        call->axes = value;
        return true;
    case GSH_KEYWORD_AXIS:
        call->axis = value;
        return strcmp(call->ufunc->name, "vecdot") == 0;
    default:
        return false;
    }
}

/* Parses outputs given by position. NumPy 2.4 warns about them for maximum and minimum. */
static bool parse_positional(struct gsh_ufunc_call *call, PyObject *const *args, size_t nargs)
{
    size_t nin = (size_t)call->ufunc->nin;
    if (nargs > nin && gsh_np.feature >= FEATURE_2_4 &&
        (strcmp(call->ufunc->name, "maximum") == 0 || strcmp(call->ufunc->name, "minimum") == 0))
        return false;
    for (size_t i = nin; i < nargs; i++) {
        if (args[i] == gsh_py._Py_EllipsisObject)
            return false;
        set_out(call, (unsigned)(i - nin), args[i]);
    }
    return true;
}

bool gsh_numpy_keywords_parse(struct gsh_ufunc *ufunc, PyObject *const *args, size_t nargs,
                              PyObject *kwnames, struct gsh_ufunc_call *call)
{
    if (ufunc->nin > GSH_MAX_INPUTS || ufunc->nout > GSH_UFUNC_OUTPUTS ||
        nargs < (size_t)ufunc->nin || nargs > (size_t)ufunc->nargs)
        return false;
    *call = (struct gsh_ufunc_call){.ufunc = ufunc,
                                    .inputs = args,
                                    .casting = GSH_CASTING_SAME_KIND,
                                    .order = GSH_ORDER_KEEP,
                                    .fixed = {-1, -1, -1, -1, -1, -1, -1}};
    if (!parse_positional(call, args, nargs))
        return false;
    bool has_out = nargs > (size_t)ufunc->nin;
    Py_ssize_t keywords = kwnames ? gsh_py_size(kwnames) : 0;
    for (Py_ssize_t i = 0; i < keywords; i++) {
        int keyword = gsh_numpy_keywords_find(gsh_py.PyTuple_GetItem(kwnames, i));
        if ((keyword == GSH_KEYWORD_OUT && has_out) ||
            !parse_one(call, keyword, args[nargs + (size_t)i]))
            return false;
        has_out |= keyword == GSH_KEYWORD_OUT;
    }
    if (has_out && call->where && call->where == gsh_numpy_arguments_no_value())
        call->where = NULL; /* NumPy converts it to True */
    call->is_plain = !call->where && !call->dtype && !call->signature && !call->extobj &&
                     !call->axes && !call->axis && call->order == GSH_ORDER_KEEP;
    /* NumPy 2.4 warns about where= without out=. */
    return !call->where || has_out || gsh_np.feature < FEATURE_2_4;
}
