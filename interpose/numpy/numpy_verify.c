/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. While the original runs, the thread pauses (dispatch.h), so that no hook takes its calls, and NumPy ignores
 * floating-point errors, of which the first run has told.
 */
#include "numpy_verify.h"

#include "dispatch.h"
#include "fmt.h"
#include "numpy_describe.h"
#include "numpy_errors.h"
#include "numpy_errstate.h"
#include "python_error.h"
#include "python_text.h"
#include "verify_ledger.h"

#include <fenv.h>
#include <string.h>

#define NESTING 2 /* lists of lists of values */

static void refuse(struct gsh_numpy_verify *verify, enum gsh_verify_gap gap)
{
    verify->is_refused = true;
    verify->gap = (int)gap;
}

/* ---- copies of what is written ---- */

static bool is_tuple(PyObject *object)
{
    return gsh_py_type(object) == gsh_py.PyTuple_Type;
}

/* Whether NumPy may read the object twice: no code of the program runs then. */
static bool is_plain(PyObject *object, int nesting)
{
    PyObject *type = gsh_py_type(object);
    if (gsh_numpy_is_array(object) || gsh_py_is_none(object) || type == gsh_py.PyFloat_Type ||
        type == gsh_py.PyLong_Type || type == gsh_py.PyBool_Type || type == gsh_py.PyComplex_Type ||
        type == gsh_py.PyUnicode_Type || type == gsh_py.PyType_Type ||
        type == gsh_py.PySlice_Type || object == gsh_py._Py_EllipsisObject ||
        gsh_py.PyType_IsSubtype(type, gsh_np.descr_type) != 0 ||
        strcmp(((struct gsh_pytype *)type)->tp_name, "_NoValueType") == 0) /* NumPy's "not given" */
        return true;
    for (int i = 0; i < GSH_DTYPE_COUNT; i++)
        if (type == gsh_np.scalar_types[i])
            return true;
    if (!gsh_numpy_describe_is_sequence(object) || nesting == 0)
        return false;
    for (Py_ssize_t i = 0; i < gsh_py_size(object); i++)
        if (!is_plain(gsh_numpy_describe_item(object, i), nesting - 1))
            return false;
    return true;
}

/* Whether the object is an array of the list or has one that shares memory with it. */
static bool meets(PyObject *object, PyObject *written)
{
    if (gsh_numpy_is_array(object))
        return gsh_numpy_is_array(written) && gsh_numpy_describe_meet(object, written);
    bool is_sequence = gsh_numpy_describe_is_sequence(object);
    for (Py_ssize_t i = 0; is_sequence && i < gsh_py_size(object); i++)
        if (meets(gsh_numpy_describe_item(object, i), written))
            return true;
    return false;
}

/* A copy of an array, of the arrays of a tuple, or another reference. NULL with an exception. */
static PyObject *copy_of(PyObject *object)
{
    if (gsh_numpy_is_array(object))
        return gsh_py.PyObject_CallMethod(object, "copy", "s", "K");
    if (!is_tuple(object)) {
        gsh_py.Py_IncRef(object);
        return object;
    }
    PyObject *tuple = gsh_py.PyTuple_New(gsh_py_size(object));
    for (Py_ssize_t i = 0; tuple && i < gsh_py_size(object); i++) {
        PyObject *item = copy_of(gsh_py.PyTuple_GetItem(object, i));
        if (!item) {
            gsh_py.Py_DecRef(tuple);
            return NULL;
        }
        gsh_py.PyTuple_SetItem(tuple, i, item);
    }
    return tuple;
}

static bool is_out(PyObject *name)
{
    return gsh_py.PyUnicode_CompareWithASCIIString(name, "out") == 0;
}

static bool is_written(const struct gsh_numpy_verify_call *call, unsigned i)
{
    if (i < call->positional)
        return (call->writes >> i & 1) != 0;
    return is_out(gsh_py.PyTuple_GetItem(call->kwnames, (Py_ssize_t)(i - call->positional)));
}

/* Whether the object shares memory with what the call writes. */
static bool meets_written(const struct gsh_numpy_verify *verify, PyObject *object)
{
    const struct gsh_numpy_verify_call *call = &verify->call;
    if (call->writes_self && meets(object, call->self))
        return true;
    PyObject *out = call->kwdict ? gsh_py.PyDict_GetItemString(call->kwdict, "out") : NULL;
    for (unsigned i = 0; i <= verify->count; i++) {
        PyObject *written = i == verify->count ? out : is_written(call, i) ? call->values[i] : NULL;
        if (!written)
            continue;
        for (Py_ssize_t j = 0; is_tuple(written) && j < gsh_py_size(written); j++)
            if (meets(object, gsh_py.PyTuple_GetItem(written, j)))
                return true;
        if (meets(object, written))
            return true;
    }
    return false;
}

/* *copy = a copy where the call may change the object. */
static void keep(struct gsh_numpy_verify *verify, PyObject *object, bool written, PyObject **copy)
{
    if (!is_plain(object, NESTING)) {
        refuse(verify, GSH_VERIFY_GAP_ARGUMENTS);
        return;
    }
    if (!written && !meets_written(verify, object))
        return;
    *copy = gsh_numpy_is_array(object) || is_tuple(object) || written ? copy_of(object) : NULL;
    if (!*copy) {
        gsh_python_error_clear();
        refuse(verify, GSH_VERIFY_GAP_OUTPUT);
    }
}

static void keep_dict(struct gsh_numpy_verify *verify)
{
    Py_ssize_t position = 0;
    PyObject *name, *value;
    verify->kwdict = gsh_py.PyDict_New();
    while (verify->kwdict && gsh_py.PyDict_Next(verify->call.kwdict, &position, &name, &value)) {
        PyObject *copy = NULL;
        keep(verify, value, is_out(name), &copy);
        gsh_py.PyDict_SetItem(verify->kwdict, name, copy ? copy : value);
        if (copy)
            gsh_py.Py_DecRef(copy);
    }
    if (!verify->kwdict)
        refuse(verify, GSH_VERIFY_GAP_OUTPUT);
    gsh_python_error_clear();
}

static void keep_all(struct gsh_numpy_verify *verify)
{
    const struct gsh_numpy_verify_call *call = &verify->call;
    if (call->writes_self)
        keep(verify, call->self, true, &verify->self);
    for (unsigned i = 0; i < verify->count; i++)
        keep(verify, call->values[i], is_written(call, i), &verify->values[i]);
    if (call->kwdict)
        keep_dict(verify);
}

void gsh_numpy_verify_begin(struct gsh_numpy_verify *verify,
                            const struct gsh_numpy_verify_call *call)
{
    verify->is_attended = gsh_verify_share_is_on && gsh_dispatch_is_live();
    if (!verify->is_attended)
        return;
    verify->is_chosen = gsh_verify_share_chooses();
    size_t count = call->positional + (call->kwnames ? (size_t)gsh_py_size(call->kwnames) : 0);
    if (verify->is_chosen) {
        verify->call = *call;
        verify->is_refused = false;
        verify->self = verify->kwdict = NULL;
        memset(verify->values, 0, sizeof verify->values);
        verify->count = (unsigned)GSH_MIN(count, (size_t)GSH_NUMPY_VERIFY_VALUES);
        gsh_dispatch_pause(true);
        keep_all(verify);
        gsh_dispatch_pause(false);
        if (count > GSH_NUMPY_VERIFY_VALUES)
            refuse(verify, GSH_VERIFY_GAP_ARGUMENTS);
    }
    gsh_witness_begin(&verify->witness);
}

/* ---- the second run ---- */

/* What the original is called with. */
struct run {
    PyObject *self, *values[GSH_NUMPY_VERIFY_VALUES], *kwdict; /* owned */
    PyObject *result;                                          /* owned */
};

/* The magnitudes of an array of floats; another reference to anything else. */
static PyObject *magnitude_of(PyObject *object)
{
    int dtype = gsh_numpy_is_array(object) ? gsh_numpy_dtype(gsh_numpy_array(object)->descr) : -1;
    PyObject *absolute = gsh_py.PyDict_GetItemString(gsh_np.dict, "absolute");
    if (dtype >= 0 && absolute && (1u << dtype & GSH_SET_NUMBERS) != 0)
        return gsh_np.call_ufunc(absolute, &object, 1, NULL);
    gsh_py.Py_IncRef(object);
    return object;
}

static PyObject *object_for_run(PyObject *object, PyObject *copy, bool is_output, bool magnitudes)
{
    if (magnitudes && !is_output)
        return magnitude_of(copy ? copy : object);
    if (copy)
        return copy_of(copy);
    gsh_py.Py_IncRef(object);
    return object;
}

static PyObject *dict_for_run(PyObject *kept, bool magnitudes)
{
    Py_ssize_t position = 0;
    PyObject *name, *value, *dict = gsh_py.PyDict_New();
    while (dict && gsh_py.PyDict_Next(kept, &position, &name, &value)) {
        PyObject *item =
            object_for_run(value, is_out(name) ? value : NULL, is_out(name), magnitudes);
        if (item) {
            gsh_py.PyDict_SetItem(dict, name, item);
            gsh_py.Py_DecRef(item);
        }
    }
    return dict;
}

static void drop_run(struct run *run)
{
    PyObject *const owned[] = {run->self, run->kwdict, run->result};
    gsh_py_drop(run->values, GSH_COUNT(run->values));
    gsh_py_drop(owned, GSH_COUNT(owned));
}

/* Calls the original. `magnitudes`: on the magnitudes of what it reads. False: it raised. */
static bool run_again(const struct gsh_numpy_verify *verify, bool magnitudes, struct run *run)
{
    const struct gsh_numpy_verify_call *call = &verify->call;
    *run = (struct run){.self = NULL};
    bool good = true;
    run->self = object_for_run(call->self, verify->self, call->writes_self, magnitudes);
    good = run->self != NULL;
    for (unsigned i = 0; i < verify->count && good; i++) {
        run->values[i] =
            object_for_run(call->values[i], verify->values[i], is_written(call, i), magnitudes);
        good = run->values[i] != NULL;
    }
    if (verify->kwdict && good) {
        run->kwdict = dict_for_run(verify->kwdict, magnitudes);
        good = run->kwdict != NULL;
    }
    if (good)
        run->result = call->again(call->hook, run->self, run->values, call->positional,
                                  call->kwnames, run->kwdict);
    good = run->result != NULL;
    gsh_python_error_clear();
    return good;
}

/* ---- comparison ---- */

/* False: no array of numbers. *array is a new reference that holds the view. */
static bool view_of(PyObject *object, struct gsh_verify_array *view, PyObject **array)
{
    *array = gsh_np.FromAny(object, NULL, 0, 0, 0, NULL);
    gsh_python_error_clear();
    if (!*array)
        return false;
    const struct gsh_ndarray *fields = gsh_numpy_array(*array);
    int dtype = gsh_numpy_dtype(fields->descr);
    *view = (struct gsh_verify_array){(enum gsh_dtype)dtype, fields->nd, fields->dimensions,
                                      fields->strides, fields->data};
    return dtype >= 0;
}

static bool has_same_shape(const struct gsh_verify_array *x, const struct gsh_verify_array *y)
{
    return x->ndim == y->ndim &&
           (x->ndim == 0 || memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof *x->shape) == 0);
}

/* The dimensions that the transform ran along: they step like the launch's. Where none does, all are one line. */
static void find_lines(const struct gsh_launch *launch, const struct gsh_verify_array *got,
                       bool *is_line)
{
    bool any = false;
    for (int d = 0; d < got->ndim; d++) {
        is_line[d] = false;
        for (int r = 0; r < launch->fft.rank; r++)
            is_line[d] |= launch->fft.cores[1].extent[r] == got->shape[d] &&
                          launch->fft.cores[1].stride[r] == got->strides[d];
        any |= is_line[d];
    }
    for (int d = 0; d < got->ndim && !any; d++)
        is_line[d] = true;
}

/* The innermost frame's place that is none of NumPy's or SciPy's own code. */
static PyObject *frame_of_program(void)
{
    PyObject *frame = gsh_py.PyEval_GetFrame();
    if (frame)
        gsh_py.Py_IncRef(frame);
    while (frame) {
        PyObject *globals = gsh_py.PyObject_GetAttrString(frame, "f_globals");
        PyObject *name = globals ? gsh_py.PyDict_GetItemString(globals, "__name__") : NULL;
        const char *text = name ? gsh_python_text_utf8(name) : NULL;
        bool is_own = text && (strncmp(text, "numpy.", 6) == 0 || strncmp(text, "scipy.", 6) == 0);
        gsh_py_drop(&globals, 1);
        PyObject *back = is_own ? gsh_py.PyFrame_GetBack(frame) : NULL;
        if (!back)
            return frame;
        gsh_py.Py_DecRef(frame);
        frame = back;
    }
    return NULL;
}

static void find_place(struct gsh_verify_place *place)
{
    PyObject *frame = frame_of_program();
    PyObject *code = frame ? gsh_py.PyFrame_GetCode(frame) : NULL;
    PyObject *file = code ? gsh_py.PyObject_GetAttrString(code, "co_filename") : NULL;
    const char *text = file ? gsh_python_text_utf8(file) : NULL;
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, place->file, sizeof place->file);
    gsh_fmt_text(&fmt, text ? text : "?");
    place->line = frame ? gsh_py.PyFrame_GetLineNumber(frame) : 0;
    PyObject *const made[] = {frame, code, file};
    gsh_py_drop(made, GSH_COUNT(made));
    gsh_python_error_clear();
}

enum verdict { SAME, DIFFERS, NOT_COMPARED };

/* Compares one result. `magnitude` may be NULL. */
static enum verdict compare(struct gsh_numpy_verify *verify, PyObject *got, PyObject *want,
                            PyObject *magnitude, bool tells)
{
    struct gsh_verify_array views[3];
    PyObject *arrays[3] = {NULL};
    struct gsh_verify_outcome outcome = {
        .different = 1, .ulps = __builtin_inf(), .device = "another shape", .cpu = "or dtype"};
    bool is_line[GSH_VERIFY_DIMS];
    enum verdict verdict = NOT_COMPARED;
    bool measures = magnitude && view_of(magnitude, &views[2], &arrays[2]);
    if (view_of(got, &views[0], &arrays[0]) && view_of(want, &views[1], &arrays[1])) {
        if (views[0].dtype == views[1].dtype && has_same_shape(&views[0], &views[1])) {
            if (verify->witness.contract.kind == GSH_CONTRACT_NORM &&
                gsh_launch_is_batch(&verify->witness.last)) {
                find_lines(&verify->witness.last, &views[0], is_line);
                gsh_verify_compare_lines(&views[0], &views[1], is_line, verify->witness.contract,
                                         &outcome);
            } else {
                measures = measures && has_same_shape(&views[1], &views[2]);
                gsh_verify_compare(&views[0], &views[1], measures ? &views[2] : NULL,
                                   verify->witness.contract, &outcome);
            }
        }
        verdict = outcome.different == 0 ? SAME : DIFFERS;
    }
    if (verdict == DIFFERS && tells) {
        struct gsh_verify_place place;
        find_place(&place);
        gsh_verify_ledger_note_different(verify->call.name, &place, &outcome, &views[1]);
    }
    gsh_py_drop(arrays, 3);
    return verdict;
}

static enum verdict worse(enum verdict a, enum verdict b)
{
    return a == DIFFERS || b == DIFFERS ? DIFFERS : GSH_MAX(a, b);
}

/* The same for a result that may be a tuple or list of them. */
static enum verdict compare_results(struct gsh_numpy_verify *verify, PyObject *got, PyObject *want,
                                    PyObject *magnitude, bool tells)
{
    bool is_list = gsh_py_type(got) == gsh_py.PyList_Type;
    if (!is_list && !is_tuple(got))
        return compare(verify, got, want, magnitude, tells);
    if (gsh_py_type(want) != gsh_py_type(got) || gsh_py_size(want) != gsh_py_size(got) ||
        (magnitude && gsh_py_size(magnitude) != gsh_py_size(got)))
        return NOT_COMPARED;
    PyObject *(*item)(PyObject *, Py_ssize_t) =
        is_list ? gsh_py.PyList_GetItem : gsh_py.PyTuple_GetItem;
    enum verdict verdict = SAME;
    for (Py_ssize_t i = 0; i < gsh_py_size(got); i++)
        verdict = worse(verdict, compare_results(verify, item(got, i), item(want, i),
                                                 magnitude ? item(magnitude, i) : NULL, tells));
    return verdict;
}

/* The result, or, where the call returns none, what it wrote. */
static enum verdict compare_run(struct gsh_numpy_verify *verify, PyObject *result,
                                const struct run *run, const struct run *magnitudes, bool tells)
{
    const struct gsh_numpy_verify_call *call = &verify->call;
    if (!gsh_py_is_none(result))
        return compare_results(verify, result, run->result, magnitudes ? magnitudes->result : NULL,
                               tells);
    enum verdict verdict = NOT_COMPARED;
    if (call->writes_self)
        verdict =
            compare(verify, call->self, run->self, magnitudes ? magnitudes->self : NULL, tells);
    for (unsigned i = 0; i < verify->count && !call->writes_self; i++)
        if (is_written(call, i) && gsh_numpy_is_array(call->values[i]))
            verdict = compare(verify, call->values[i], run->values[i],
                              magnitudes ? magnitudes->values[i] : NULL, tells);
    return verdict;
}

/* Whether the second run would write where the first has. */
static bool writes_unseen(const struct gsh_numpy_verify *verify, PyObject *result)
{
    const struct gsh_numpy_verify_call *call = &verify->call;
    bool is_unseen = result == call->self && !verify->self;
    bool has_copy = verify->self != NULL;
    for (unsigned i = 0; i < verify->count; i++) {
        is_unseen |= result == call->values[i] && !verify->values[i] && gsh_numpy_is_array(result);
        has_copy |= verify->values[i] != NULL;
    }
    return is_unseen || (gsh_py_is_none(result) && !has_copy);
}

static void note(struct gsh_numpy_verify *verify, enum verdict verdict)
{
    if (verdict == NOT_COMPARED)
        gsh_verify_ledger_note_gap(GSH_VERIFY_GAP_RESULT);
    else if (verdict == DIFFERS && verify->witness.contract.is_open)
        gsh_verify_ledger_note_gap(GSH_VERIFY_GAP_CONTRACT);
    else
        gsh_verify_ledger_note_checked();
}

/* A difference counts only where it is more than the magnitudes allow. */
static void run_and_compare(struct gsh_numpy_verify *verify, PyObject *result)
{
    struct run run, magnitudes;
    if (!run_again(verify, false, &run)) {
        gsh_verify_ledger_note_gap(GSH_VERIFY_GAP_RAISED);
        drop_run(&run);
        return;
    }
    bool by_magnitude = verify->witness.contract.kind == GSH_CONTRACT_MAGNITUDE;
    bool tells = !by_magnitude && !verify->witness.contract.is_open;
    enum verdict verdict = compare_run(verify, result, &run, NULL, tells);
    if (verdict == DIFFERS && by_magnitude) {
        bool good = run_again(verify, true, &magnitudes);
        verdict = good ? compare_run(verify, result, &run, &magnitudes, true) : NOT_COMPARED;
        drop_run(&magnitudes);
    }
    note(verify, verdict);
    drop_run(&run);
}

static void check(struct gsh_numpy_verify *verify, PyObject *result)
{
    if (verify->witness.contract.kind == GSH_CONTRACT_RESIDUAL)
        refuse(verify, GSH_VERIFY_GAP_CONTRACT);
    else if (!verify->is_refused && writes_unseen(verify, result))
        refuse(verify, GSH_VERIFY_GAP_OUTPUT);
    if (verify->is_refused) {
        gsh_verify_ledger_note_gap((enum gsh_verify_gap)verify->gap);
        return;
    }
    fexcept_t flags;
    fegetexceptflag(&flags, FE_ALL_EXCEPT);
    PyObject *errstate = gsh_numpy_errstate_replace(0, NULL);
    bool held = gsh_numpy_errors_hold(true);
    gsh_dispatch_pause(true);
    run_and_compare(verify, result);
    gsh_dispatch_pause(false);
    gsh_numpy_errors_hold(held);
    if (errstate)
        gsh_numpy_errstate_restore(errstate);
    fesetexceptflag(&flags, FE_ALL_EXCEPT);
}

PyObject *gsh_numpy_verify_end(struct gsh_numpy_verify *verify, PyObject *result)
{
    if (!verify->is_attended)
        return result;
    gsh_witness_end(&verify->witness);
    if (!verify->is_chosen)
        return result;
    if (result && verify->witness.launches > 0 && !gsh_py.PyErr_Occurred())
        check(verify, result);
    PyObject *const owned[] = {verify->self, verify->kwdict};
    gsh_py_drop(verify->values, GSH_NUMPY_VERIFY_VALUES);
    gsh_py_drop(owned, GSH_COUNT(owned));
    return result;
}

void gsh_numpy_verify_init(void)
{
    gsh_verify_share_init();
    gsh_witness_is_on = gsh_verify_share_is_on;
    if (gsh_verify_share_is_on)
        gsh_verify_ledger_init();
}
