/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The arguments are those of _linear_filter without states, or of _sosfilt.
 */
#include "scipy_filter_probe.h"

#include "numpy_output.h"
#include "python_error.h"
#include "verify_compare.h"

#include <math.h>
#include <string.h>

enum { LINES = 2, LENGTH = 24, ORDER = 3, ARRAYS = 3 };
enum { SIGNAL = 1 }; /* of _sosfilt, which overwrites it and what follows */

static const struct gsh_layout layouts[][ARRAYS] = {
    [GSH_FILTER_DIRECT] = {{1, {ORDER + 1}, {0}}, {1, {ORDER + 1}, {0}}, {2, {LINES, LENGTH}, {0}}},
    [GSH_FILTER_SECTIONS] = {
        {2, {ORDER, 6}, {0}}, {2, {LINES, LENGTH}, {0}}, {3, {LINES, ORDER, 2}, {0}}}};

static void store(PyObject *array, enum gsh_dtype dtype, int64_t place, double value)
{
    char *data = gsh_numpy_array(array)->data;
    if (gsh_dtype_is_single(dtype))
        ((float *)(void *)data)[place] = (float)value;
    else
        ((double *)(void *)data)[place] = value;
}

/* An array of numbers below 1, none of which is a sum of few powers of two. NULL: there is no memory. */
static PyObject *make(const struct gsh_layout *layout, enum gsh_dtype dtype, int64_t seed)
{
    struct gsh_layout filled = *layout;
    int64_t count = gsh_dtype_kind(dtype) == 'c' ? 2 : 1;
    gsh_numpy_output_c_order(&filled, gsh_dtype_size(dtype));
    PyObject *array = gsh_numpy_output_allocate(dtype, &filled);
    for (int d = 0; d < layout->ndim; d++)
        count *= layout->shape[d];
    for (int64_t i = 0; array && i < count; i++)
        store(array, dtype, i, (double)((i * 37 + seed * 13) % 101 - 47) / 103);
    return array;
}

/* The same arrays at each call. The last line ends with an infinity and what it makes. */
static bool make_all(enum gsh_filter_form form, enum gsh_dtype dtype, PyObject **arrays)
{
    unsigned signal = form == GSH_FILTER_SECTIONS ? SIGNAL : ARRAYS - 1;
    int64_t parts = gsh_dtype_kind(dtype) == 'c' ? 2 : 1;
    bool is_made = true;
    for (unsigned k = 0; k < ARRAYS; k++) {
        arrays[k] = make(&layouts[form][k], dtype, k + 1);
        is_made &= arrays[k] != NULL;
    }
    if (is_made)
        store(arrays[signal], dtype, parts * (LINES * LENGTH - 4), INFINITY);
    return is_made;
}

static struct gsh_verify_array view_of(PyObject *array, enum gsh_dtype dtype)
{
    const struct gsh_ndarray *found = gsh_numpy_array(array);
    return (struct gsh_verify_array){.dtype = dtype,
                                     .ndim = found->nd,
                                     .shape = found->dimensions,
                                     .strides = found->strides,
                                     .data = found->data};
}

static bool is_same(PyObject *got, PyObject *want, enum gsh_dtype dtype)
{
    const struct gsh_contract exact = {.kind = GSH_CONTRACT_EXACT};
    struct gsh_verify_outcome outcome = {.different = 1};
    const struct gsh_verify_array ours = view_of(got, dtype), theirs = view_of(want, dtype);
    gsh_verify_compare(&ours, &theirs, NULL, exact, &outcome);
    return outcome.different == 0;
}

/* A form's result: what the function returns, or what it overwrites. */
static bool has_same_results(enum gsh_filter_form form, enum gsh_dtype dtype, PyObject *const *got,
                             PyObject *const *want, PyObject *ours, PyObject *theirs)
{
    if (!ours || !theirs)
        return false;
    if (form == GSH_FILTER_DIRECT)
        return gsh_numpy_is_array(theirs) && is_same(ours, theirs, dtype);
    return is_same(got[SIGNAL], want[SIGNAL], dtype) &&
           is_same(got[SIGNAL + 1], want[SIGNAL + 1], dtype);
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
