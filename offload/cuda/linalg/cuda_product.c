/* SPDX-License-Identifier: Apache-2.0
 *
 * An operand that cuBLAS does not take (no unit stride, unaligned, conjugated) is copied to packed memory first;
 * batch dimensions with stride 0 keep it. The longest batch dimension is one call of cuBLAS, the others are loops.
 */
#include "cuda_product.h"

#include "cuda_blas.h"
#include "cuda_blas_forms.h"
#include "cuda_mem.h"
#include "cuda_module.h"
#include "cuda_timing.h"
#include "source.h"
#include "source_texts.h"
#include "stats.h"

#include <string.h>

#define OPERANDS 3
#define BLOCK 256

/* A launch as it is prepared for cuBLAS. */
struct work {
    const struct gsh_launch *given;
    struct gsh_launch launch; /* some operands are replaced by packed ones */
    size_t packed[OPERANDS];  /* bytes; 0: not packed */
    unsigned row;
};

static bool is_conjugated(const struct gsh_gemm *g, unsigned k)
{
    return (k == 0 && g->a_is_conjugate) || (k == 1 && g->b_is_conjugate);
}

bool gsh_cuda_product_needs_blas(const struct gsh_launch *launch)
{
    return gsh_cuda_blas_has_loop(launch->loop) && !gsh_source_is_certain(launch);
}

bool gsh_cuda_product_supports(const struct gsh_launch *launch)
{
    struct gsh_source_plan plan;
    const struct gsh_gemm *g = &launch->gemm;
    if (g->form != GSH_GEMM_GE)
        return gsh_cuda_blas_forms_supports(launch);
    if (!gsh_cuda_product_needs_blas(launch))
        return gsh_source_plan(launch, 0, &plan) == GSH_OK;
    if (launch->nin != 2 || g->m <= 0 || g->n <= 0 || g->k < 0 || launch->ndim + 2 > GSH_MAX_DIMS)
        return false;
    for (unsigned k = 0; k < OPERANDS; k++)
        if (launch->operands[k].dtype != launch->loop || launch->operands[k].is_constant)
            return false;
    return true;
}

/* ---- packing ---- */

static bool lies_well(const struct gsh_launch *launch, unsigned k)
{
    int64_t size = (int64_t)gsh_dtype_size(launch->loop);
    struct gsh_core core = gsh_launch_core(launch, k);
    bool is_taken =
        gsh_cuda_blas_takes(&core, size) && launch->operands[k].address % (uint64_t)size == 0;
    for (int d = 0; d < launch->ndim; d++)
        is_taken &= launch->strides[k][d] % size == 0;
    if (is_conjugated(&launch->gemm, k))
        is_taken &= k == 0 && launch->ndim == 0 && gsh_cuda_blas_is_dot(&launch->gemm);
    return is_taken;
}

/* Copies operand k of one launch to that of the other; they differ in address and strides. */
static enum gsh_status copy_operand(const struct gsh_launch *from, const struct gsh_launch *to,
                                    unsigned k, unsigned row)
{
    const struct gsh_core cores[] = {gsh_launch_core(from, k), gsh_launch_core(to, k)};
    struct gsh_launch copy = {.kind = GSH_LAUNCH_ELEMENTWISE,
                              .op = is_conjugated(&from->gemm, k) ? GSH_OP_CONJUGATE : GSH_OP_COPY,
                              .loop = from->loop,
                              .nin = 1,
                              .nout = 1,
                              .operands = {from->operands[k], to->operands[k]}};
    for (int d = 0; d < from->ndim; d++) {
        if (from->strides[k][d] == 0)
            continue;
        copy.shape[copy.ndim] = from->shape[d];
        copy.strides[0][copy.ndim] = from->strides[k][d];
        copy.strides[1][copy.ndim++] = to->strides[k][d];
    }
    for (int d = 0; d < 2; d++, copy.ndim++) {
        copy.shape[copy.ndim] = cores[0].extent[d];
        for (int side = 0; side < 2; side++)
            copy.strides[side][copy.ndim] = cores[side].stride[d];
    }
    gsh_launch_collapse(&copy);
    return gsh_cuda_module_launch(&copy, row);
}

static void set_core(struct gsh_gemm *g, unsigned k, int64_t row)
{
    int64_t *const rows[] = {&g->a_row, &g->b_row, &g->c_row};
    int64_t *const columns[] = {&g->a_col, &g->b_col, &g->c_col};
    *rows[k] = row;
    *columns[k] = 1;
}

/* Allocates packed memory for operand k, row by row. */
static enum gsh_status make_room(struct work *work, unsigned k)
{
    struct gsh_launch *launch = &work->launch;
    struct gsh_core core = gsh_launch_core(launch, k);
    size_t bytes = gsh_dtype_size(launch->loop);
    if (!gsh_mul(bytes, (size_t)core.extent[0], &bytes) ||
        !gsh_mul(bytes, (size_t)core.extent[1], &bytes) || bytes == 0)
        return GSH_DECLINED;
    for (int d = launch->ndim; d-- > 0;) {
        if (launch->strides[k][d] == 0)
            continue;
        launch->strides[k][d] = (int64_t)bytes;
        if (!gsh_mul(bytes, (size_t)launch->shape[d], &bytes))
            return GSH_DECLINED;
    }
    GSH_TRY(gsh_cuda_mem_allocate(bytes, &launch->operands[k].address));
    work->packed[k] = bytes;
    set_core(&launch->gemm, k, core.extent[1]);
    return GSH_OK;
}

static enum gsh_status pack(struct work *work)
{
    const struct gsh_launch *given = work->given;
    for (unsigned k = 0; k < OPERANDS; k++) {
        if (lies_well(given, k))
            continue;
        GSH_TRY(make_room(work, k));
        if (k != 2 || given->gemm.beta != 0)
            GSH_TRY(copy_operand(given, &work->launch, k, work->row));
    }
    work->launch.gemm.a_is_conjugate &= work->packed[0] == 0;
    work->launch.gemm.b_is_conjugate &= work->packed[1] == 0;
    return GSH_OK;
}

static void release_packed(const struct work *work)
{
    for (unsigned k = 0; k < OPERANDS; k++)
        if (work->packed[k] != 0)
            gsh_cuda_mem_release(work->launch.operands[k].address, work->packed[k]);
}

/* ---- the product of a matrix with its own transpose ---- */

/* As mirror.cuh declares them. */
struct mirror_args {
    uint64_t address;
    int64_t batch, n, row, column, step;
};

static bool is_gram(const struct gsh_launch *launch)
{
    const struct gsh_gemm *g = &launch->gemm;
    bool is_same = launch->operands[0].address == launch->operands[1].address && g->m == g->n &&
                   g->m > 1 && g->a_row == g->b_col && g->a_col == g->b_row && g->beta == 0 &&
                   !g->a_is_conjugate && !g->b_is_conjugate;
    for (int d = 0; d < launch->ndim; d++)
        is_same &= launch->strides[0][d] == launch->strides[1][d];
    return is_same;
}

static void write_mirror(const void *size, struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt, "struct __align__(%zu) E { unsigned words[%zu]; };\n",
                   *(const size_t *)size, *(const size_t *)size / sizeof(unsigned));
    gsh_fmt_text(fmt, gsh_cuda_text_mirror);
}

/* Copies one triangle to the other: BLAS kernels may sum the two in different orders. */
static enum gsh_status mirror(const struct gsh_launch *launch, uint64_t address,
                              const struct gsh_cuda_blas_batch *batch)
{
    const struct gsh_gemm *g = &launch->gemm;
    const struct mirror_args args = {address,  batch->count, g->n,
                                     g->c_row, g->c_col,     batch->steps[2]};
    int64_t threads = batch->count * g->n * g->n;
    size_t size = gsh_dtype_size(launch->loop);
    struct gsh_fmt fmt;
    struct gsh_source_stage stage = {.grid = {(unsigned)((threads + BLOCK - 1) / BLOCK), 1, 1},
                                     .block = {BLOCK, 1, 1},
                                     .argument_bytes = sizeof args};
    if (threads / BLOCK >= INT32_MAX)
        return GSH_DECLINED;
    memcpy(stage.arguments, &args, sizeof args);
    gsh_fmt_init(&fmt, stage.key, sizeof stage.key);
    gsh_fmt_printf(&fmt, "mirror_%zu", size);
    return gsh_cuda_module_launch_text(&stage, write_mirror, &size);
}

/* ---- the products ---- */

/* The longest batch dimension along which cuBLAS can step; -1: none. */
static int find_inner(const struct gsh_launch *launch)
{
    int inner = -1;
    for (int d = 0; d < launch->ndim; d++) {
        bool is_forward =
            launch->strides[0][d] >= 0 && launch->strides[1][d] >= 0 && launch->strides[2][d] >= 0;
        if (is_forward && (inner < 0 || launch->shape[d] > launch->shape[inner]))
            inner = d;
    }
    return inner;
}

static enum gsh_status multiply(const struct work *work)
{
    const struct gsh_launch *launch = &work->launch;
    int inner = find_inner(launch);
    int64_t index[GSH_MAX_DIMS] = {0}, size = (int64_t)gsh_dtype_size(launch->loop);
    struct gsh_cuda_blas_batch batch = {.count = inner < 0 ? 1 : launch->shape[inner]};
    bool is_mirrored = is_gram(work->given);
    for (unsigned k = 0; k < OPERANDS && inner >= 0; k++)
        batch.steps[k] = launch->strides[k][inner] / size;
    for (int d = 0; d >= 0;) {
        uint64_t addresses[OPERANDS];
        for (unsigned k = 0; k < OPERANDS; k++) {
            addresses[k] = launch->operands[k].address;
            for (int e = 0; e < launch->ndim; e++)
                addresses[k] += (uint64_t)(index[e] * launch->strides[k][e]);
        }
        GSH_TRY(gsh_cuda_blas_run(&launch->gemm, launch->loop, addresses, &batch));
        gsh_stats_add(GSH_COUNTER_LAUNCHES, 1);
        if (is_mirrored)
            GSH_TRY(mirror(launch, addresses[2], &batch));
        for (d = launch->ndim - 1; d >= 0 && (d == inner || ++index[d] == launch->shape[d]); d--)
            index[d] = 0;
    }
    return GSH_OK;
}

static enum gsh_status multiply_form(const struct gsh_launch *launch, unsigned row)
{
    bool is_timed = gsh_cuda_timing_begin(row);
    GSH_TRY(gsh_cuda_blas_forms_run(launch));
    gsh_stats_add(GSH_COUNTER_LAUNCHES, 1);
    if (is_timed)
        gsh_cuda_timing_end();
    return GSH_OK;
}

static enum gsh_status multiply_timed(const struct work *work)
{
    bool is_timed = gsh_cuda_timing_begin(work->row);
    GSH_TRY(multiply(work));
    if (is_timed)
        gsh_cuda_timing_end();
    return GSH_OK;
}

static enum gsh_status pack_and_multiply(struct work *work)
{
    GSH_TRY(pack(work));
    GSH_TRY(multiply_timed(work));
    return work->packed[2] != 0 ? copy_operand(&work->launch, work->given, 2, work->row) : GSH_OK;
}

enum gsh_status gsh_cuda_product_run(const struct gsh_launch *launch, unsigned row)
{
    if (!gsh_cuda_product_supports(launch))
        return GSH_DECLINED;
    if (launch->gemm.form != GSH_GEMM_GE)
        return multiply_form(launch, row);
    if (!gsh_cuda_product_needs_blas(launch))
        return gsh_cuda_module_launch(launch, row);
    struct work work = {.given = launch, .launch = *launch, .row = row};
    enum gsh_status status = pack_and_multiply(&work);
    release_packed(&work);
    return status;
}
