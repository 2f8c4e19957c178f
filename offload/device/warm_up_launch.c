/* SPDX-License-Identifier: Apache-2.0
 *
 * The small launch: extents shrink in proportion, so that those of different operands that must agree still do. For LAPACK the
 * matrices are symmetric and positive definite, so that every routine takes the way that it takes with good ones; other
 * numbers are zeros.
 */
#include "warm_up.h"

#include "backend.h"
#include "dispatch_lock.h"
#include "stats.h"
#include "warm_up_plan.h"

#include <math.h>
#include <stdlib.h>

/* ---- a small one ---- */

static int64_t longest_of(const struct gsh_launch *launch)
{
    int64_t longest = 1;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        const struct gsh_core core = gsh_launch_core(launch, k);
        for (int d = 0; d < GSH_CORE_DIMS; d++)
            longest = GSH_MAX(longest, core.extent[d]);
    }
    return longest;
}

/* Rows and columns of a matrix become packed, in the order that they have; their bytes or numbers, as `size` says. */
static int64_t pack(int64_t rows, int64_t columns, int64_t *row, int64_t *column, int64_t size)
{
    bool is_by_columns = gsh_launch_step(*row) < gsh_launch_step(*column);
    *row = is_by_columns ? size : size * columns;
    if (columns > 1)
        *column = is_by_columns ? size * rows : size;
    return size * rows * columns;
}

static void pack_batch(struct gsh_launch *launch, unsigned k, int64_t step)
{
    for (int d = launch->ndim - 1; d >= 0; d--) {
        bool is_shared = launch->strides[k][d] == 0 && launch->shape[d] > 1;
        launch->strides[k][d] = is_shared ? 0 : step;
        step *= is_shared ? 1 : launch->shape[d];
    }
}

static void shrink_product(struct gsh_launch *launch, int64_t longest)
{
    struct gsh_gemm *g = &launch->gemm;
    int64_t size = (int64_t)gsh_dtype_size(launch->loop);
    g->m = gsh_warm_up_plan_extent(g->m, longest);
    g->n = gsh_warm_up_plan_extent(g->n, longest);
    g->k = gsh_warm_up_plan_extent(g->k, longest);
    pack_batch(launch, 0, size * pack(g->m, g->k, &g->a_row, &g->a_col, 1));
    pack_batch(launch, 1, size * pack(g->k, g->n, &g->b_row, &g->b_col, 1));
    pack_batch(launch, 2, size * pack(g->m, g->n, &g->c_row, &g->c_col, 1));
}

static void shrink_cores(struct gsh_launch *launch, int64_t longest)
{
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        struct gsh_core *core = &launch->lapack.cores[k];
        int64_t size = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
        for (int d = 0; d < 2; d++)
            core->extent[d] = gsh_warm_up_plan_extent(core->extent[d], longest);
        pack_batch(
            launch, k,
            pack(core->extent[0], core->extent[1], &core->stride[0], &core->stride[1], size));
    }
}

struct gsh_launch gsh_warm_up_launch_make(const struct gsh_launch *launch)
{
    struct gsh_launch small = *launch;
    int64_t longest = longest_of(launch);
    int64_t most = gsh_warm_up_plan_batch(longest, launch->kind == GSH_LAUNCH_LAPACK,
                                          gsh_lapack_is_many(gsh_launch_elements(launch), longest));
    for (int d = 0; d < small.ndim; d++)
        small.shape[d] = GSH_MIN(small.shape[d], most);
    if (launch->kind == GSH_LAUNCH_GEMM)
        shrink_product(&small, longest);
    if (launch->kind == GSH_LAUNCH_LAPACK)
        shrink_cores(&small, longest);
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        small.operands[k].address = 0;
    small.errors = (struct gsh_error_sink){.claims = 0};
    return small;
}

/* ---- its numbers ---- */

/* Between -0.5 and 0.5, the same for (j, i): SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static double noise(int64_t i, int64_t j)
{
    uint64_t bits = (uint64_t)GSH_MIN(i, j) << 32 | (uint64_t)GSH_MAX(i, j);
    bits = bits * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((bits ^ bits >> 31) >> 11) * 0x1p-53 - 0.5;
}

/* Random numbers with a diagonal that outweighs them; integers are pivots that exchange nothing. */
static void fill_matrix(char *first, const struct gsh_core *core, enum gsh_dtype dtype)
{
    double weight = 1 + sqrt((double)GSH_MAX(core->extent[0], core->extent[1]));
    for (int64_t i = 0; i < core->extent[0]; i++)
        for (int64_t j = 0; j < core->extent[1]; j++) {
            void *at = first + i * core->stride[0] + j * core->stride[1];
            double number = noise(i, j) + (i == j ? weight : 0);
            if (dtype == GSH_INT32)
                *(int32_t *)at = (int32_t)(i + 1);
            else if (gsh_dtype_is_single(dtype))
                *(float *)at = (float)number; /* the real part of a complex one */
            else
                *(double *)at = number;
        }
}

/* The bytes of an operand, and its memory on the device. */
struct memory {
    size_t size;
    int64_t low;   /* of the operand's lowest byte, from its first element */
    char *numbers; /* on the host; NULL: zeros */
    uint64_t address;
};

static enum gsh_status make_numbers(const struct gsh_launch *launch, unsigned k,
                                    struct memory *memory)
{
    int64_t elements = gsh_launch_elements(launch);
    memory->numbers = calloc(1, GSH_MAX(memory->size, 1));
    if (memory->numbers == NULL)
        return GSH_FAILED;
    for (int64_t element = 0; element < elements; element++) {
        int64_t offset = -memory->low, left = element;
        for (int d = launch->ndim - 1; d >= 0; left /= launch->shape[d--])
            offset += left % launch->shape[d] * launch->strides[k][d];
        fill_matrix(memory->numbers + offset, &launch->lapack.cores[k], launch->operands[k].dtype);
    }
    return GSH_OK;
}

/* ---- running it ---- */

static enum gsh_status take_memory(struct gsh_launch *launch, unsigned k, struct memory *memory)
{
    const struct gsh_backend *backend = gsh_backend_get();
    GSH_TRY(backend->allocate(memory->size, &memory->address));
    launch->operands[k].address = memory->address - (uint64_t)memory->low;
    return memory->numbers != NULL
               ? backend->upload(memory->address, memory->numbers, memory->size, false)
               : backend->clear(memory->address, memory->size);
}

static void run_locked(const struct gsh_launch *small, struct memory *memory)
{
    const struct gsh_backend *backend = gsh_backend_get();
    struct gsh_launch launch = *small;
    enum gsh_status status = GSH_OK;
    unsigned operands = gsh_launch_operands(small), row = gsh_stats_row("first", "runs");
    for (unsigned k = 0; k < operands && status == GSH_OK; k++)
        if (!launch.operands[k].is_constant)
            status = take_memory(&launch, k, &memory[k]);
    if (status == GSH_OK) {
        gsh_launch_collapse(&launch);
        if (backend->run(&launch, row) == GSH_OK) /* what it gives is nobody's */
            gsh_stats_device_call(row, 0);
    }
    for (unsigned k = 0; k < operands; k++)
        if (memory[k].address != 0)
            backend->release(memory[k].address, memory[k].size);
}

void gsh_warm_up_launch_run(const struct gsh_launch *small, bool (*may_run)(void))
{
    struct memory memory[GSH_MAX_OPERANDS] = {{.size = 0}};
    enum gsh_status status = GSH_OK;
    size_t bytes = 0;
    for (unsigned k = 0; k < gsh_launch_operands(small); k++) {
        int64_t low = 0, high = 0;
        gsh_launch_extent(small, k, &low, &high);
        memory[k].low = low;
        memory[k].size = GSH_MAX((size_t)(high - low), 1);
        bytes += memory[k].size;
    }
    if (!gsh_warm_up_plan_fits(bytes))
        return;
    for (unsigned k = 0; k < small->nin && status == GSH_OK; k++)
        if (small->kind == GSH_LAUNCH_LAPACK)
            status = make_numbers(small, k, &memory[k]);
    gsh_dispatch_lock_acquire();
    if (status == GSH_OK && may_run())
        run_locked(small, memory);
    gsh_dispatch_lock_release();
    for (unsigned k = 0; k < small->nin; k++)
        free(memory[k].numbers);
}
