/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of SELECT compile with NVRTC, which needs no GPU: each dtype, few elements and many, ranks in the middle and elsewhere. To
 * PTX for sm_90, a sample to machine code. Skipped where libnvrtc is not installed.
 */
#include "nvrtc_batch.h"

static struct gsh_launch selection(enum gsh_dtype loop, int count, int rank, int ndim)
{
    const int64_t size = (int64_t)gsh_dtype_size(loop);
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_SELECT, .loop = loop, .nin = 2, .nout = 1, .ndim = ndim};
    launch.selection = (struct gsh_selection){{size, 10000}, count, rank};
    for (unsigned k = 0; k < 3; k++)
        launch.operands[k] =
            (struct gsh_operand){.dtype = k == 1 ? GSH_INT64 : loop, .address = 4096};
    for (int d = 0; d < ndim; d++) {
        launch.shape[d] = 50;
        launch.strides[0][d] = d == ndim - 1 ? size : 60 * size;
        launch.strides[2][d] = d == ndim - 1 ? size : 50 * size;
    }
    return launch;
}

static void add_all(struct batch *batch)
{
    static const int windows[][2] = {{1, 0}, {2, 1}, {9, 4}, {25, 12}, {25, 3}, {49, 40}};
    const unsigned dtypes = GSH_SET_BOOL | GSH_SET_INTEGERS | GSH_SET_FLOAT32_64;
    for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
        for (size_t w = 0; (1u << loop & dtypes) != 0 && w < GSH_COUNT(windows); w++) {
            struct gsh_launch launch =
                selection((enum gsh_dtype)loop, windows[w][0], windows[w][1], (int)w % 4);
            add_launch(batch, &launch);
        }
}

int main(void)
{
    return batch_main(add_all, 1, 13);
}
