/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of SPMV compile with NVRTC, which needs no GPU: each dtype of numbers and of indices. To PTX for sm_90, a sample to machine
 * code. Skipped where libnvrtc is not installed.
 */
#include "nvrtc_batch.h"

static struct gsh_launch spmv(enum gsh_dtype loop, enum gsh_dtype index)
{
    const int64_t size = (int64_t)gsh_dtype_size(loop), step = (int64_t)gsh_dtype_size(index);
    struct gsh_launch launch = {.kind = GSH_LAUNCH_SPMV,
                                .loop = loop,
                                .nin = GSH_SPMV_INPUTS,
                                .nout = 1,
                                .ndim = 1,
                                .shape = {100},
                                .spmv = {{{step, 2}, {step, 1000}, {size, 1000}, {size, 50}}}};
    for (unsigned k = 0; k <= GSH_SPMV_INPUTS; k++) {
        bool is_index = k <= GSH_SPMV_COLUMNS;
        launch.operands[k] =
            (struct gsh_operand){.dtype = is_index ? index : loop, .address = 4096};
        launch.strides[k][0] = k == GSH_SPMV_STARTS ? step : k >= GSH_SPMV_INITIAL ? size : 0;
    }
    return launch;
}

static void add_all(struct batch *batch)
{
    for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
        for (int is_wide = 0; is_wide < 2; is_wide++) {
            struct gsh_launch launch = spmv((enum gsh_dtype)loop, is_wide ? GSH_INT64 : GSH_INT32);
            if (gsh_launch_is_spmv(&launch))
                add_launch(batch, &launch);
        }
}

int main(void)
{
    return batch_main(add_all, 1, 5);
}
