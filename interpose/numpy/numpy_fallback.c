/* SPDX-License-Identifier: Apache-2.0
 *
 * The warning's place is the line of the program: as many frames of libraries are passed as python_line.h passes.
 */
#include "numpy_fallback.h"

#include "decide.h"
#include "dispatch.h"
#include "fmt.h"
#include "line_profile.h"
#include "numpy_abi.h"
#include "numpy_describe.h"
#include "options.h"
#include "python_line.h"

#include <string.h>

bool gsh_numpy_fallback_is_on;

static _Thread_local bool is_telling; /* what shows a warning may call NumPy */

void gsh_numpy_fallback_init(void)
{
    gsh_numpy_fallback_is_on = gsh_option_number(GSH_OPTION_ON_FALLBACK) != GSH_FALLBACK_IGNORE;
    if (gsh_numpy_fallback_is_on)
        gsh_line_profile_want(false);
}

/* Arrays of subclasses count too. */
static bool is_large(PyObject *object)
{
    return object && gsh_py.PyType_IsSubtype(gsh_py_type(object), gsh_np.ndarray_type) &&
           gsh_numpy_describe_size(gsh_numpy_array(object)) >= GSH_DECIDE_LEAST_ELEMENTS;
}

static bool is_one_large(PyObject *const *operands, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_large(operands[i]))
            return true;
    return false;
}

/* False: the thread is in no line of the program, such as in NumPy's own import. */
static bool write_text(struct gsh_fmt *fmt, unsigned row, enum gsh_reason why)
{
    struct gsh_stats_row_copy names;
    struct gsh_line_profile_copy line;
    unsigned here = gsh_line_profile_here();
    if (here == 0)
        return false;
    (void)gsh_stats_get_row(row, &names);
    (void)gsh_line_profile_get(here, &line);
    const char *slash = strrchr(line.file, '/');
    gsh_fmt_printf(fmt, "gpushim: %s%s%s ran on the CPU: %s (%s:%u)", names.name,
                   names.signature[0] ? " " : "", names.signature, gsh_reason_texts[why],
                   slash ? slash + 1 : line.file, line.line);
    return true;
}

static bool raise_or_warn(const char *text)
{
    if (gsh_option_number(GSH_OPTION_ON_FALLBACK) == GSH_FALLBACK_RAISE) {
        gsh_py.PyErr_SetString(*(PyObject **)gsh_py.PyExc_RuntimeError, text);
        return false;
    }
    PyObject *category = *(PyObject **)gsh_py.PyExc_RuntimeWarning;
    return gsh_py.PyErr_WarnEx(category, text, 1 + (Py_ssize_t)gsh_python_line_depth()) == 0;
}

bool gsh_numpy_fallback_tell_result(unsigned row, enum gsh_reason why, PyObject *result,
                                    PyObject *const *operands, size_t count)
{
    return is_large(result) ? gsh_numpy_fallback_tell(row, why, &result, 1)
                            : gsh_numpy_fallback_tell(row, why, operands, count);
}

bool gsh_numpy_fallback_tell(unsigned row, enum gsh_reason why, PyObject *const *operands,
                             size_t count)
{
    char text[512];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    if (!gsh_reason_is_fallback[why] || is_telling || gsh_dispatch_is_inside() ||
        !is_one_large(operands, count) || gsh_py.PyErr_Occurred() || !write_text(&fmt, row, why))
        return true;
    is_telling = true;
    bool is_allowed = raise_or_warn(text);
    is_telling = false;
    return is_allowed;
}
