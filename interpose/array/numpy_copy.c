/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_copy.h"

#include "numpy_assign.h"
#include "numpy_parallel_copy.h"

PyObject *gsh_numpy_copy_run(const char *name, const struct gsh_view *view, enum gsh_dtype dtype,
                             const struct gsh_layout *layout, const int64_t *strides,
                             enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {.row = gsh_numpy_output_row(name, &view->dtype, 1, dtype)};
    *row = call.row;
    *why = GSH_REASON_SHAPE;
    for (int i = 0; i < view->ndim; i++)
        if (view->shape[i] == 0)
            return NULL;
    *why = gsh_numpy_assign_check_cast(view->dtype, dtype);
    if (*why != GSH_REASON_NONE)
        return NULL;
    gsh_numpy_describe_copy(&call.launch, view, dtype, strides);
    PyObject *result = gsh_numpy_output_run(&call, NULL, layout, why);
    if (!result)
        result = gsh_numpy_parallel_copy_new(&call, layout, *why);
    return result;
}

PyObject *gsh_numpy_copy_in_order(const char *name, const struct gsh_view *view,
                                  enum gsh_dtype dtype, enum gsh_order order, enum gsh_reason *why,
                                  unsigned *row)
{
    struct gsh_layout layout;
    gsh_numpy_arguments_lay_out(view, order, gsh_dtype_size(dtype), &layout);
    return gsh_numpy_copy_run(name, view, dtype, &layout, layout.strides, why, row);
}
