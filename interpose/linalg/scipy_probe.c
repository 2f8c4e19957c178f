/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "scipy_probe.h"

#include "verify_compare.h"

void gsh_scipy_probe_store(PyObject *array, enum gsh_dtype dtype, int64_t place, double value)
{
    char *data = gsh_numpy_array(array)->data;
    if (gsh_dtype_is_single(dtype))
        ((float *)(void *)data)[place] = (float)value;
    else
        ((double *)(void *)data)[place] = value;
}

PyObject *gsh_scipy_probe_make(const struct gsh_layout *layout, enum gsh_dtype dtype, int64_t seed)
{
    struct gsh_layout filled = *layout;
    int64_t count = gsh_dtype_kind(dtype) == 'c' ? 2 : 1;
    gsh_numpy_output_c_order(&filled, gsh_dtype_size(dtype));
    PyObject *array = gsh_numpy_output_allocate(dtype, &filled);
    for (int d = 0; d < layout->ndim; d++)
        count *= layout->shape[d];
    for (int64_t i = 0; array && i < count; i++)
        gsh_scipy_probe_store(array, dtype, i, (double)((i * 37 + seed * 13) % 101 - 47) / 103);
    return array;
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

bool gsh_scipy_probe_is_same(PyObject *got, PyObject *want, enum gsh_dtype dtype)
{
    const struct gsh_contract exact = {.kind = GSH_CONTRACT_EXACT};
    struct gsh_verify_outcome outcome = {.different = 1};
    const struct gsh_verify_array ours = view_of(got, dtype), theirs = view_of(want, dtype);
    gsh_verify_compare(&ours, &theirs, NULL, exact, &outcome);
    return outcome.different == 0;
}
