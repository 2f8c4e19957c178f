/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kernel text compiles with NVRTC, which needs no GPU: each op x loop dtype in one layout (the
 * layouts take turns), casts between all dtypes, each reduction x loop dtype in rows and columns.
 * To PTX for sm_90, which checks the C++; a sample to machine code for sm_80, sm_90 and sm_100,
 * which checks the PTX. Skipped where libnvrtc is not installed. Arguments: an architecture and
 * `all` compile the whole set, in all layouts, for that alone.
 */
#include "nvrtc_batch.h"

static struct gsh_launch elementwise(enum gsh_op op, enum gsh_dtype loop)
{
    const struct gsh_op_info *info = gsh_op_info(op);
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                .op = op,
                                .loop = loop,
                                .nin = info->nin,
                                .nout = info->nout,
                                .ndim = 1,
                                .shape = {1000}};
    for (unsigned k = 0; k < launch.nin; k++)
        launch.operands[k].dtype = gsh_op_input_dtype(op, loop, k);
    for (unsigned j = 0; j < launch.nout; j++)
        launch.operands[launch.nin + j].dtype = gsh_op_output_dtype(op, loop, j);
    for (unsigned k = 0; k < GSH_MAX_OPERANDS; k++)
        launch.operands[k].address = 4096;
    return launch;
}

static void set_strides(struct gsh_launch *launch, int ndim, int64_t step)
{
    launch->ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        launch->shape[d] = 10;
        for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
            launch->strides[k][d] =
                step * (d + 1) * (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    }
}

static void check_errors(struct gsh_launch *launch)
{
    launch->errors = (struct gsh_error_sink){.claims = 4096, .found = 4096, .sequence = 1};
}

enum { PACKS, CONSTANT, STRIDED, SCALAR_UNALIGNED, MASKED, WIDE, ROWS, LAYOUTS };

/* The layouts, each for itself; errors are looked for in every other one. */
static void add_layout(struct batch *batch, struct gsh_launch launch, int layout)
{
    launch.has_mask = layout == MASKED;
    set_strides(&launch,
                layout == STRIDED || layout == WIDE ? 3
                : layout == ROWS                    ? 2
                                                    : 1,
                layout == STRIDED || layout == WIDE ? -2 : 1);
    if (layout % 2 == 0)
        check_errors(&launch);
    if (layout == CONSTANT)
        launch.operands[0].is_constant = true;
    if (layout == SCALAR_UNALIGNED) {
        launch.strides[0][0] = 0;
        launch.operands[launch.nin].address = 4097;
    }
    if (layout == WIDE) {
        launch.shape[0] = INT64_C(1) << 32;
        launch.strides[0][0] = INT64_C(1) << 33;
    }
    for (unsigned k = 0; layout == ROWS && k < gsh_launch_operands(&launch); k++) {
        int64_t size = (int64_t)gsh_dtype_size(launch.operands[k].dtype);
        launch.shape[1] = 64;
        launch.strides[k][0] = 128 * size;
        launch.strides[k][1] = k == 0 && launch.nin > 1 ? 0 : size;
    }
    add_launch(batch, &launch);
}

static void add_op(struct batch *batch, enum gsh_op op, enum gsh_dtype loop)
{
    static int turn;
    struct gsh_launch launch = elementwise(op, loop);
    for (int layout = 0; layout < LAYOUTS; layout++)
        if (batch->every_layout || layout == turn % LAYOUTS)
            add_layout(batch, launch, layout);
    turn++;
}

static void add_casts(struct batch *batch)
{
    for (int from = 0; from < GSH_DTYPE_COUNT; from++)
        for (int to = 0; to < GSH_DTYPE_COUNT; to++) {
            struct gsh_launch launch = elementwise(GSH_OP_COPY, (enum gsh_dtype)to);
            launch.operands[0].dtype = (enum gsh_dtype)from;
            set_strides(&launch, 1, 1);
            check_errors(&launch);
            add_launch(batch, &launch);
            if (!batch->every_layout)
                continue;
            launch.operands[0].is_constant = true;
            add_launch(batch, &launch);
            launch.operands[0].is_constant = false;
            set_strides(&launch, 16, 3);
            for (int d = 0; d < 15; d++)
                launch.shape[d] = 1;
            add_launch(batch, &launch);
        }
}

static void add_reduction(struct batch *batch, enum gsh_reduction reduction, enum gsh_dtype loop,
                          enum gsh_dtype in)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_REDUCE,
                                .reduction = reduction,
                                .loop = loop,
                                .nin = 1,
                                .nout = 1,
                                .ndim = 2,
                                .nreduce = 1,
                                .shape = {32, 100000}};
    int64_t size = (int64_t)gsh_dtype_size(in);
    launch.operands[0] = (struct gsh_operand){.dtype = in, .address = 4096};
    launch.operands[1] =
        (struct gsh_operand){.dtype = gsh_launch_result_dtype(&launch, 0), .address = 4096};
    launch.operands[2] = (struct gsh_operand){.dtype = GSH_BOOL, .address = 4096};
    launch.strides[1][0] = (int64_t)gsh_dtype_size(launch.operands[1].dtype);
    launch.strides[0][0] = 100000 * size;
    launch.strides[0][1] = size;
    check_errors(&launch);
    add_launch(batch, &launch); /* rows, two stages */
    launch.strides[0][0] = size;
    launch.strides[0][1] = 32 * size;
    launch.shape[1] = 100;
    launch.errors.claims = 0;
    add_launch(batch, &launch); /* columns, one stage */
    if (!batch->every_layout)
        return;
    launch.has_mask = launch.has_initial =
        gsh_reduction_info(reduction)->result != GSH_RESULT_INDEX;
    launch.strides[2][0] = launch.strides[2][1] = 1;
    launch.ndim = launch.nreduce = 3;
    launch.shape[0] = 5;
    launch.shape[2] = INT64_C(1) << 32;
    add_launch(batch, &launch); /* everything, three dimensions, 64-bit indices, a mask */
}

static void add_reductions(struct batch *batch, enum gsh_reduction reduction)
{
    for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
        for (int in = 0; in < GSH_DTYPE_COUNT; in++)
            if (gsh_reduction_has_loop(reduction, (enum gsh_dtype)loop) &&
                (in == loop || (batch->every_layout && in % 3 == 0)))
                add_reduction(batch, reduction, (enum gsh_dtype)loop, (enum gsh_dtype)in);
}

/* Products that are no BLAS's. */
static void add_products(struct batch *batch)
{
    for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++) {
        struct gsh_source_plan plan;
        struct gsh_launch launch = {
            .kind = GSH_LAUNCH_GEMM, .loop = (enum gsh_dtype)loop, .nin = 2, .nout = 1};
        launch.gemm =
            (struct gsh_gemm){9, 8, 7, 7, 1, 8, 1, 8, 1, 1, 0, false, false, GSH_GEMM_GE, 0};
        for (unsigned k = 0; k < 3; k++)
            launch.operands[k] =
                (struct gsh_operand){.dtype = (enum gsh_dtype)loop, .address = 4096};
        set_strides(&launch, loop % 2 == 0 ? 0 : 2, 100);
        if (gsh_source_plan(&launch, 0, &plan) == GSH_OK)
            add_launch(batch, &launch);
    }
}

/* Of each form (source_narrow_product.h). */
static void add_narrow_products(struct batch *batch)
{
    static const int64_t extents[][3] = {{1, 300, 400}, {1, 9000, 7}, {1, 1, 100000},
                                         {4, 33, 5},    {9, 700, 32}, {300, 1, 400}};
    for (int loop = GSH_FLOAT32; loop < GSH_DTYPE_COUNT; loop++)
        for (size_t i = 0; i < GSH_COUNT(extents); i++) {
            int64_t m = extents[i][0], n = extents[i][1], k = extents[i][2];
            struct gsh_launch launch = {
                .kind = GSH_LAUNCH_GEMM, .loop = (enum gsh_dtype)loop, .nin = 2, .nout = 1};
            launch.gemm =
                (struct gsh_gemm){m, n, k, k, 1, n, 1, n, 1, 1, 0, false, false, GSH_GEMM_GE, 0};
            for (unsigned j = 0; j < 3; j++)
                launch.operands[j] =
                    (struct gsh_operand){.dtype = (enum gsh_dtype)loop, .address = 4096 << j};
            CHECK(gsh_source_is_certain(&launch));
            add_launch(batch, &launch);
        }
}

static void compile_all(const char *arch, unsigned every, bool every_layout)
{
    struct batch batch;
    if (!batch_open(&batch, arch, every))
        return;
    batch.every_layout = every_layout;
    for (int op = 0; op < GSH_OP_COUNT; op++)
        for (int dtype = 0; dtype < GSH_DTYPE_COUNT; dtype++)
            if (gsh_op_has_loop((enum gsh_op)op, (enum gsh_dtype)dtype))
                add_op(&batch, (enum gsh_op)op, (enum gsh_dtype)dtype);
    add_casts(&batch);
    for (int r = 0; r < GSH_REDUCTION_COUNT; r++)
        add_reductions(&batch, (enum gsh_reduction)r);
    add_products(&batch);
    add_narrow_products(&batch);
    batch_close(&batch);
}

int main(int argc, char **argv)
{
    if (!load_nvrtc()) {
        printf("skipped: no libnvrtc here\n");
        return CHECK_SKIP;
    }
    if (argc > 1) {
        bool all = argc > 2 && strcmp(argv[2], "all") == 0;
        compile_all(argv[1], all ? 1 : 17, all);
        return check_result();
    }
    compile_all("--gpu-architecture=compute_90", 1, false);
    compile_all("--gpu-architecture=sm_90", 29, false);
    compile_all("--gpu-architecture=sm_80", 53, false);
    compile_all("--gpu-architecture=sm_100", 53, false);
    if (nvrtc_knows(61))
        compile_all("--gpu-architecture=sm_61", 53, false);
    return check_result();
}
