/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The arguments are those of _linear_filter without states, or of _sosfilt.
 */
#include "scipy_filter_probe.h"

#include "python_error.h"
#include "scipy_probe.h"

#include <math.h>

enum { LINES = 2, LENGTH = 24, ORDER = 3, ARRAYS = 3 };
enum { SIGNAL = 1 }; /* of _sosfilt, which overwrites it and what follows */

static const struct gsh_layout layouts[][ARRAYS] = {
    [GSH_FILTER_DIRECT] = {{1, {ORDER + 1}, {0}}, {1, {ORDER + 1}, {0}}, {2, {LINES, LENGTH}, {0}}},
    [GSH_FILTER_SECTIONS] = {
        {2, {ORDER, 6}, {0}}, {2, {LINES, LENGTH}, {0}}, {3, {LINES, ORDER, 2}, {0}}}};

/* The same arrays at each call. The last line ends with an infinity and what it makes. */
static bool make_all(enum gsh_filter_form form, enum gsh_dtype dtype, PyObject **arrays)
{
    unsigned signal = form == GSH_FILTER_SECTIONS ? SIGNAL : ARRAYS - 1;
    int64_t parts = gsh_dtype_kind(dtype) == 'c' ? 2 : 1;
    bool is_made = true;
    for (unsigned k = 0; k < ARRAYS; k++) {
        arrays[k] = gsh_scipy_probe_make(&layouts[form][k], dtype, k + 1);
        is_made &= arrays[k] != NULL;
    }
    if (is_made)
        gsh_scipy_probe_store(arrays[signal], dtype, parts * (LINES * LENGTH - 4), INFINITY);
    return is_made;
}

/* A form's result: what the function returns, or what it overwrites. */
static bool has_same_results(enum gsh_filter_form form, enum gsh_dtype dtype, PyObject *const *got,
                             PyObject *const *want, PyObject *ours, PyObject *theirs)
{
    if (!ours || !theirs)
        return false;
    if (form == GSH_FILTER_DIRECT)
        return gsh_numpy_is_array(theirs) && gsh_scipy_probe_is_same(ours, theirs, dtype);
    return gsh_scipy_probe_is_same(got[SIGNAL], want[SIGNAL], dtype) &&
           gsh_scipy_probe_is_same(got[SIGNAL + 1], want[SIGNAL + 1], dtype);
}

static bool compare(const struct gsh_method_hook *hook, PyObject *self, enum gsh_filter_form form,
                    enum gsh_dtype dtype, gsh_scipy_filter_loops ours)
{
    PyObject *got[ARRAYS], *want[ARRAYS], *results[2] = {NULL};
    bool is_made = make_all(form, dtype, got);
    is_made = make_all(form, dtype, want) && is_made;
    const struct gsh_method_call call = {.self = self, .args = want, .nargs = ARRAYS};
    if (is_made) {
        results[0] = ours(got);
        results[1] = gsh_numpy_method_patch_call_original(hook, &call, self);
    }
    bool agrees = is_made && has_same_results(form, dtype, got, want, results[0], results[1]);
    gsh_python_error_clear();
    gsh_py_drop(got, ARRAYS);
    gsh_py_drop(want, ARRAYS);
    gsh_py_drop(results, 2);
    return agrees;
}

bool gsh_scipy_filter_probe_agrees(const struct gsh_method_hook *hook, PyObject *self,
                                   enum gsh_filter_form form, enum gsh_dtype dtype,
                                   gsh_scipy_filter_loops ours)
{
    static enum { NOT_COMPARED, AGREES, DIFFERS } verdicts[2][GSH_DTYPE_COUNT];
    if (verdicts[form][dtype] == NOT_COMPARED)
        verdicts[form][dtype] = compare(hook, self, form, dtype, ours) ? AGREES : DIFFERS;
    return verdicts[form][dtype] == AGREES;
}
