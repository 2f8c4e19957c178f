/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "draw_call.h"

struct gsh_call gsh_draw_call_make(const struct gsh_random_draw *draw, enum gsh_dtype dtype,
                                   int ndim, const int64_t *shape, void *out, unsigned row)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_DRAW,
                                       .op = GSH_OP_COPY,
                                       .loop = dtype,
                                       .nout = 1,
                                       .ndim = ndim,
                                       .draw = *draw},
                            .row = row};
    int64_t step = (int64_t)gsh_dtype_size(dtype);
    call.launch.operands[0] = (struct gsh_operand){.dtype = dtype, .address = (uintptr_t)out};
    for (int d = ndim; d-- > 0; step *= shape[d]) {
        call.launch.shape[d] = shape[d];
        call.launch.strides[0][d] = step;
    }
    return call;
}
