/* SPDX-License-Identifier: Apache-2.0
 *
 * Which launches are alike is told by a hash: where two that are not alike share one, the second pays for itself when it
 * runs. The small launch has the call's strides and options, fewer and smaller matrices; for LAPACK these are symmetric and
 * positive definite, so that every routine takes the way that it takes with good ones.
 */
#include "first_run.h"

#include "backend.h"
#include "device.h"
#include "hash.h"
#include "node.h"
#include "service.h"
#include "stats.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#define LONGEST INT64_C(1024)          /* extent of a matrix */
#define MOST_MATRICES INT64_C(16)      /* along a dimension of a batch */
#define MOST_BYTES ((size_t)512 << 20) /* of all operands: what needs more is not run ahead */
enum { NAMES = 4096 };
enum { FREE, FILLING, WANTED };

static _Atomic bool over[NAMES];
static _Atomic int state; /* of `wanted`, released with it */
static struct gsh_launch wanted;
static _Atomic bool is_settled;

/* ---- which are alike ---- */

static int64_t longest_of(const struct gsh_launch *launch)
{
    const struct gsh_core core = gsh_launch_core(launch, 0);
    return GSH_MAX(core.extent[0], core.extent[1]);
}

/* Whether libraries have a fast transform of the length. */
static bool is_smooth(int64_t length)
{
    for (int64_t factor = 2; factor <= 7; factor++)
        while (length % factor == 0 && length > 0)
            length /= factor;
    return length == 1;
}

static uint64_t detail_of(const struct gsh_launch *launch)
{
    const struct gsh_gemm *gemm = &launch->gemm;
    const struct gsh_fft *fft = &launch->fft;
    uint64_t detail = 0;
    switch (launch->kind) {
    case GSH_LAUNCH_GEMM:
        return (uint64_t)gemm->form << 4 | (uint64_t)(gemm->m == 1) << 3 |
               (uint64_t)(gemm->n == 1) << 2 | (uint64_t)gemm->a_is_conjugate << 1 |
               gemm->b_is_conjugate;
    case GSH_LAUNCH_LAPACK: /* libraries have ways of their own for small matrices */
        return (uint64_t)launch->lapack.routine << 2 | (uint64_t)(longest_of(launch) > 32) << 1 |
               (longest_of(launch) > 512);
    default:
        for (int d = 0; d < fft->rank; d++)
            detail = detail << 1 | !is_smooth(fft->length[d]);
        return detail << 8 | (uint64_t)fft->type << 4 | (uint64_t)fft->rank;
    }
}

static _Atomic bool *place_of(const struct gsh_launch *launch)
{
    uint64_t hash = gsh_hash_add(GSH_HASH_BEGIN, (uint64_t)launch->kind);
    hash = gsh_hash_add(hash, (uint64_t)launch->loop << 1 | (gsh_launch_elements(launch) > 1));
    hash = gsh_hash_add(hash, detail_of(launch));
    return &over[(hash ^ hash >> 32) % NAMES];
}

bool gsh_first_run_is_over(const struct gsh_launch *launch)
{
    return atomic_load_explicit(place_of(launch), memory_order_relaxed);
}

void gsh_first_run_note(const struct gsh_launch *launch)
{
    atomic_store_explicit(place_of(launch), true, memory_order_relaxed);
}

/* ---- a small one like it ---- */

static void shorten(int64_t *extent, int64_t most)
{
    *extent = GSH_MIN(*extent, most);
}

/* The extents of all operands are shortened alike, so that those that must agree still do; transforms keep their length. */
static void make_small(struct gsh_launch *launch)
{
    bool is_many = launch->kind != GSH_LAUNCH_LAPACK ||
                   gsh_lapack_is_many(gsh_launch_elements(launch), longest_of(launch));
    for (int d = 0; d < launch->ndim; d++)
        shorten(&launch->shape[d], is_many ? MOST_MATRICES : 1);
    if (launch->kind == GSH_LAUNCH_GEMM) {
        shorten(&launch->gemm.m, LONGEST);
        shorten(&launch->gemm.n, LONGEST);
        shorten(&launch->gemm.k, LONGEST);
    }
    for (unsigned k = 0; launch->kind == GSH_LAUNCH_LAPACK && k < gsh_launch_operands(launch); k++)
        for (int d = 0; d < GSH_CORE_DIMS; d++)
            shorten(&launch->lapack.cores[k].extent[d], LONGEST);
    launch->errors = (struct gsh_error_sink){.claims = 0};
}

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

static void fill(const struct gsh_launch *launch, unsigned k, char *first)
{
    int64_t elements = gsh_launch_elements(launch);
    for (int64_t element = 0; element < elements; element++) {
        int64_t offset = 0, left = element;
        for (int d = launch->ndim - 1; d >= 0; left /= launch->shape[d--])
            offset += left % launch->shape[d] * launch->strides[k][d];
        fill_matrix(first + offset, &launch->lapack.cores[k], launch->operands[k].dtype);
    }
}

/* An operand's memory on the device. */
struct memory {
    uint64_t address;
    size_t size;
    int64_t low; /* of the operand's lowest byte, from its first element */
};

static enum gsh_status fill_input(const struct gsh_launch *launch, unsigned k,
                                  const struct memory *memory)
{
    const struct gsh_backend *backend = gsh_backend_get();
    if (launch->kind != GSH_LAUNCH_LAPACK || k >= launch->nin)
        return backend->clear(memory->address, memory->size);
    char *numbers = calloc(memory->size, 1);
    if (numbers == NULL)
        return GSH_FAILED;
    fill(launch, k, numbers - memory->low);
    enum gsh_status status = backend->upload(memory->address, numbers, memory->size, false);
    free(numbers);
    return status;
}

static enum gsh_status take_memory(struct gsh_launch *launch, unsigned k, struct memory *memory)
{
    GSH_TRY(gsh_backend_get()->allocate(memory->size, &memory->address));
    launch->operands[k].address = memory->address - (uint64_t)memory->low;
    return fill_input(launch, k, memory);
}

static void run_locked(struct gsh_launch *launch)
{
    const struct gsh_backend *backend = gsh_backend_get();
    struct memory memory[GSH_MAX_OPERANDS] = {{.address = 0}};
    enum gsh_status status = GSH_OK;
    unsigned operands = gsh_launch_operands(launch), row = gsh_stats_row("first", "runs");
    size_t bytes = 0;
    for (unsigned k = 0; k < operands; k++) {
        int64_t low = 0, high = 0;
        gsh_launch_extent(launch, k, &low, &high);
        memory[k].low = low;
        memory[k].size = GSH_MAX((size_t)(high - low), 1);
        bytes += launch->operands[k].is_constant ? 0 : memory[k].size;
    }
    if (bytes > MOST_BYTES)
        return;
    for (unsigned k = 0; k < operands && status == GSH_OK; k++)
        if (!launch->operands[k].is_constant)
            status = take_memory(launch, k, &memory[k]);
    if (status == GSH_OK) {
        gsh_launch_collapse(launch);
        (void)backend->run(launch, row); /* what it gives is nobody's */
        gsh_stats_device_call(row, 0);
    }
    for (unsigned k = 0; k < operands; k++)
        if (memory[k].address != 0)
            backend->release(memory[k].address, memory[k].size);
}

/* ---- wanting, serving ---- */

void gsh_first_run_want(const struct gsh_launch *launch)
{
    int before = FREE;
    if (!atomic_compare_exchange_strong(&state, &before, FILLING))
        return;
    wanted = *launch;
    atomic_store_explicit(&state, WANTED, memory_order_release);
    gsh_service_note_work();
}

bool gsh_first_run_is_wanted(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == WANTED;
}

/* Whether the device and the launch's library are as ready as they will be. */
static bool is_possible(const struct gsh_launch *launch)
{
    const struct gsh_backend *backend = gsh_backend_get();
    return gsh_device_get_state() > GSH_DEVICE_STARTING &&
           (backend->opening == NULL || backend->opening(launch) == 0);
}

void gsh_first_run_serve(void)
{
    if (!gsh_first_run_is_wanted() || !is_possible(&wanted))
        return;
    struct gsh_launch launch = wanted;
    make_small(&launch);
    gsh_node_lock();
    if (!atomic_load(&is_settled) && gsh_device_get_state() == GSH_DEVICE_READY)
        run_locked(&launch);
    gsh_node_unlock();
    gsh_first_run_note(&wanted);
    atomic_store_explicit(&state, FREE, memory_order_release);
}

void gsh_first_run_settle(void)
{
    atomic_store(&is_settled, true);
    gsh_node_lock();
    gsh_node_unlock();
}
