/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of SCAN, TAKE, PUT, COMPRESS and EXPAND compile with NVRTC, which needs no GPU: each
 * reduction and each PUT operation x some loop dtypes, in turning layouts, with and without a look
 * for errors. To PTX for sm_90, a sample to machine code. Skipped where libnvrtc is not installed.
 */
#include "nvrtc_batch.h"

static bool is_taken(unsigned *turn, enum gsh_dtype loop)
{
    static const enum gsh_dtype main_ones[] = {GSH_BOOL, GSH_INT64, GSH_FLOAT16, GSH_FLOAT64,
                                               GSH_COMPLEX128};
    for (size_t i = 0; i < GSH_COUNT(main_ones); i++)
        if (main_ones[i] == loop)
            return true;
    return ++*turn % 4 == 0;
}

static struct gsh_launch dense(enum gsh_launch_kind kind, enum gsh_dtype loop, unsigned nin,
                               int64_t rows, int64_t length)
{
    struct gsh_launch launch = {
        .kind = kind, .loop = loop, .nin = nin, .nout = 1, .ndim = 2, .shape = {rows, length}};
    int64_t size = (int64_t)gsh_dtype_size(loop);
    for (unsigned k = 0; k <= nin; k++) {
        launch.operands[k] = (struct gsh_operand){.dtype = loop, .address = 4096};
        launch.strides[k][0] = length * size;
        launch.strides[k][1] = size;
    }
    return launch;
}

/* Rows, few long rows (three stages), columns. */
static void add_scan(struct batch *batch, enum gsh_reduction reduction, enum gsh_dtype loop,
                     unsigned layout)
{
    static const int64_t shapes[][2] = {{5000, 100}, {3, 100000}, {3000, 3000}};
    struct gsh_launch launch =
        dense(GSH_LAUNCH_SCAN, loop, 1, shapes[layout % 3][0], shapes[layout % 3][1]);
    launch.reduction = reduction;
    launch.errors.claims = layout % 2 ? 4096 : 0;
    for (unsigned k = 0; layout % 3 == 2 && k < 2; k++) {
        launch.strides[k][1] = launch.strides[k][0];
        launch.strides[k][0] = (int64_t)gsh_dtype_size(loop);
    }
    if (layout % 4 == 3 && loop != GSH_BOOL) /* with casts */
        launch.operands[0].dtype = launch.operands[1].dtype = GSH_FLOAT32;
    add_launch(batch, &launch);
}

static void add_scans(struct batch *batch)
{
    unsigned turn = 0, layout = 0;
    for (int r = 0; r < GSH_REDUCTION_COUNT; r++)
        for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
            if (gsh_reduction_has_loop((enum gsh_reduction)r, (enum gsh_dtype)loop) &&
                gsh_reduction_info((enum gsh_reduction)r)->result != GSH_RESULT_INDEX &&
                is_taken(&turn, (enum gsh_dtype)loop))
                add_scan(batch, (enum gsh_reduction)r, (enum gsh_dtype)loop, layout++);
}

/* Products of floats, in each layout. */
static void add_products(struct batch *batch)
{
    static const enum gsh_dtype loops[] = {GSH_FLOAT16, GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64,
                                           GSH_COMPLEX128};
    for (size_t i = 0; i < GSH_COUNT(loops); i++)
        for (unsigned layout = 0; layout < 3; layout++)
            add_scan(batch, GSH_REDUCE_PROD, loops[i], layout + i % 2 * 3);
}

/* One value for all, so that every operation has a kernel. */
static void add_put(struct batch *batch, enum gsh_op op, enum gsh_dtype loop, unsigned layout)
{
    struct gsh_launch launch = dense(GSH_LAUNCH_PUT, loop, 2, 100, 10);
    launch.op = op;
    launch.operands[0].is_constant = true;
    launch.strides[0][0] = launch.strides[0][1] = launch.strides[2][0] = 0;
    launch.operands[1].dtype = layout % 2 ? GSH_UINT8 : GSH_INT64;
    launch.errors.claims = layout % 3 ? 4096 : 0;
    launch.indexed = (struct gsh_indexed){.stride = launch.strides[2][1] * 10, .extent = 7};
    static struct gsh_source_plan plan;
    if (gsh_source_plan(&launch, 256, &plan) == GSH_OK)
        add_launch(batch, &launch);
    else
        CHECK(gsh_dtype_size(loop) > 8 || gsh_op_info(op)->inputs != GSH_INPUTS_SAME ||
              gsh_op_output_dtype(op, loop, 0) != loop);
}

static void add_puts(struct batch *batch)
{
    unsigned turn = 0, layout = 0;
    for (int op = 0; op < GSH_OP_COUNT; op++)
        for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
            if (gsh_op_has_loop((enum gsh_op)op, (enum gsh_dtype)loop) &&
                gsh_op_info((enum gsh_op)op)->nin == 2 && gsh_op_info((enum gsh_op)op)->nout == 1 &&
                (gsh_op_info((enum gsh_op)op)->flags & GSH_USES_INDEX) == 0 &&
                is_taken(&turn, (enum gsh_dtype)loop))
                add_put(batch, (enum gsh_op)op, (enum gsh_dtype)loop, layout++);
}

/* Sums of different floats, in order: few places of a rank and many, with errors and without. */
static void add_ordered_puts(struct batch *batch)
{
    static const enum gsh_dtype loops[] = {GSH_FLOAT16, GSH_FLOAT64, GSH_COMPLEX128};
    for (size_t i = 0; i < GSH_COUNT(loops); i++) {
        struct gsh_launch launch = dense(GSH_LAUNCH_PUT, loops[i], 2, 10000, i % 2 ? 50 : 10);
        launch.op = GSH_OP_ADD;
        launch.operands[1].dtype = GSH_INT64;
        launch.strides[1][1] = launch.strides[2][0] = 0;
        launch.errors.claims = i % 2 ? 0 : 4096;
        launch.indexed = (struct gsh_indexed){.stride = launch.strides[2][1] * 50, .extent = 7};
        add_launch(batch, &launch);
    }
}

/* TAKE, PUT's assignment (three stages), COMPRESS and EXPAND, bytes moved or cast. */
static void add_moves(struct batch *batch, enum gsh_dtype loop, bool casts)
{
    struct gsh_launch launch = dense(GSH_LAUNCH_TAKE, loop, 2, 100, 10);
    launch.op = GSH_OP_COPY;
    launch.operands[1].dtype = GSH_INT32;
    launch.strides[0][0] = 0;
    launch.indexed = (struct gsh_indexed){.stride = launch.strides[0][1] * 10, .extent = 7};
    launch.errors.claims = 4096;
    if (casts)
        launch.operands[2].dtype = GSH_INT8;
    launch.has_mask = true;
    launch.operands[3].dtype = GSH_BOOL;
    add_launch(batch, &launch);
    launch.kind = GSH_LAUNCH_PUT;
    launch.strides[0][0] = launch.strides[2][0];
    launch.strides[2][0] = 0;
    launch.has_mask = false;
    add_launch(batch, &launch);
    launch = dense(GSH_LAUNCH_COMPRESS, loop, 1, 1000, 100);
    launch.op = GSH_OP_COPY;
    launch.has_mask = true;
    launch.operands[2].dtype = GSH_BOOL;
    launch.indexed.extent = 7;
    launch.errors.claims = 4096;
    if (casts)
        launch.operands[1].dtype = GSH_INT8;
    add_launch(batch, &launch);
    launch.kind = GSH_LAUNCH_EXPAND;
    add_launch(batch, &launch);
}

static void compile_all(const char *arch, unsigned every)
{
    struct batch batch;
    if (!batch_open(&batch, arch, every))
        return;
    add_scans(&batch);
    add_products(&batch);
    add_puts(&batch);
    add_ordered_puts(&batch);
    for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++) {
        add_moves(&batch, (enum gsh_dtype)loop, false);
        add_moves(&batch, (enum gsh_dtype)loop, true);
    }
    batch_close(&batch);
}

int main(void)
{
    if (!load_nvrtc()) {
        printf("skipped: no libnvrtc here\n");
        return CHECK_SKIP;
    }
    compile_all("--gpu-architecture=compute_90", 1);
    compile_all("--gpu-architecture=sm_80", 61);
    compile_all("--gpu-architecture=sm_100", 61);
    if (nvrtc_knows(61))
        compile_all("--gpu-architecture=sm_61", 7);
    return check_result();
}
