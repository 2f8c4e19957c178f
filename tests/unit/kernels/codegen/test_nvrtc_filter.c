/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of FILTER compile with NVRTC, which needs no GPU: each dtype and form, short tables and long ones, lines along and
 * across memory, with states and without. To PTX for sm_90, a sample to machine code. Skipped where libnvrtc is not installed.
 */
#include "nvrtc_batch.h"

static struct gsh_launch filter(enum gsh_dtype loop, enum gsh_filter_form form, int order, int way)
{
    const int64_t size = (int64_t)gsh_dtype_size(loop), lines = 100, length = 1000;
    bool is_across = way % 2 != 0, has_states = way / 2 != 0;
    struct gsh_launch launch = {.kind = GSH_LAUNCH_FILTER,
                                .loop = loop,
                                .nin = has_states ? 3 : 2,
                                .nout = has_states ? 2 : 1,
                                .ndim = 1,
                                .shape = {lines}};
    launch.filter.form = form;
    launch.filter.order = order;
    for (unsigned k = 0; k < launch.nin + launch.nout; k++) {
        launch.operands[k] = (struct gsh_operand){.dtype = loop, .address = 4096};
        launch.strides[k][0] = is_across ? size : length * size;
        launch.filter.cores[k] =
            (struct gsh_core){{length, 1, 1}, {is_across ? lines * size : size, 0, 0}};
    }
    launch.filter.cores[GSH_FILTER_TABLE].extent[0] =
        form == GSH_FILTER_SECTIONS ? 6 * order : 2 * (order + 1) + (gsh_dtype_kind(loop) == 'c');
    return launch;
}

static void add_all(struct batch *batch)
{
    static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64,
                                            GSH_COMPLEX128};
    static const int orders[][3] = {{1, 4, GSH_FILTER_MOST_ORDER},
                                    {1, 4, GSH_FILTER_MOST_SECTIONS}};
    for (size_t d = 0; d < GSH_COUNT(dtypes); d++)
        for (int form = 0; form < 2; form++)
            for (int i = 0; i < 3; i++)
                for (int way = 0; way < 4; way++) {
                    struct gsh_launch launch =
                        filter(dtypes[d], (enum gsh_filter_form)form, orders[form][i], way);
                    add_launch(batch, &launch);
                }
}

int main(void)
{
    return batch_main(add_all, 3, 29);
}
