/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of SORT and SEARCH compile with NVRTC, which needs no GPU: each dtype, elements and their order, rows that fit in
 * shared memory and longer ones, both sides, values, one value, a line with gaps. To PTX for sm_90, a sample to machine code. Skipped where libnvrtc is not installed.
 */
#include "nvrtc_batch.h"

static struct gsh_launch sort(enum gsh_dtype loop, bool gives_order, int64_t length)
{
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_SORT, .loop = loop, .nin = 1, .nout = 1, .ndim = 1, .shape = {length}};
    launch.sort.gives_order = gives_order;
    for (unsigned k = 0; k < 2; k++) {
        launch.operands[k] = (struct gsh_operand){.dtype = loop, .address = 4096};
        if (k == 1)
            launch.operands[k].dtype = gsh_launch_result_dtype(&launch, 0);
        launch.strides[k][0] = (int64_t)gsh_dtype_size(launch.operands[k].dtype);
    }
    return launch;
}

static void add_sorts(struct batch *batch)
{
    for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
        for (int form = 0; form < 4; form++) {
            struct gsh_launch launch =
                sort((enum gsh_dtype)loop, form % 2 != 0, form / 2 != 0 ? 100000 : 100);
            add_launch(batch, &launch);
        }
}

static struct gsh_launch search(enum gsh_dtype loop, bool is_right, bool is_constant, bool is_far)
{
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_SEARCH, .loop = loop, .nin = 2, .nout = 1, .ndim = 1, .shape = {100}};
    int64_t step = (int64_t)gsh_dtype_size(loop);
    launch.search = (struct gsh_search){{is_far ? 2 * step : step, 1000}, is_right};
    for (unsigned k = 0; k < 3; k++)
        launch.operands[k] = (struct gsh_operand){.dtype = loop, .address = 4096};
    launch.operands[1].is_constant = is_constant;
    launch.operands[2].dtype = GSH_INT64;
    launch.strides[1][0] = is_constant ? 0 : step;
    launch.strides[2][0] = sizeof(int64_t);
    return launch;
}

static void add_searches(struct batch *batch)
{
    for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
        for (int form = 0; form < 6; form++) {
            struct gsh_launch launch =
                search((enum gsh_dtype)loop, form % 2 != 0, form / 2 == 1, form / 2 == 2);
            add_launch(batch, &launch);
        }
}

static void add_all(struct batch *batch)
{
    add_sorts(batch);
    add_searches(batch);
}

int main(void)
{
    return batch_main(add_all, 1, 13);
}
