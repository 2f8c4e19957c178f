/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans are kept; the least recently used one is evicted first. Their work areas are one scratch block of ours, so a
 * plan itself holds little memory. Where a plan finds no memory, all other plans and the pool's unused memory are
 * given back first.
 */
#include "cuda_fft.h"

#include "cuda_context.h"
#include "cuda_loader.h"
#include "cuda_mem.h"
#include "cuda_module.h"
#include "cuda_timing.h"
#include "log.h"
#include "stats.h"

#include <string.h>

#define MOST_PLANS 32
#define LEAST_AREA ((size_t)256) /* a plan requires an area even where it uses none */

/* What identifies a plan; direction and addresses do not. */
struct key {
    int64_t type, is_single, rank, length[GSH_CORE_DIMS], count, stride[2][GSH_CORE_DIMS],
        distance[2];
};

struct plan {
    bool is_made;
    struct key key;
    cufftHandle handle;
    size_t work_bytes;
    uint64_t area; /* the work area set in the handle; 0: none */
    uint64_t last_use;
};

static struct plan plans[MOST_PLANS];
static uint64_t uses;

static enum gsh_status check(gsh_cuda_enum result, const char *text, bool *said)
{
    return gsh_cuda_context_check_library("cuFFT", result, text, said);
}
#define GSH_CUFFT(call) GSH_CUDA_CHECKED(check, call, #call)

/* ---- the library ---- */

struct gsh_cuda_loader gsh_cuda_fft_loader = {
    .work = "Fourier transforms stay",
    .libraries = {GSH_CUDA_LIBRARY_CUFFT},
    .library_count = 1,
    .get_property = &gsh_cufft.cufftGetProperty,
    .kept = GSH_CUDA_LOAD_TIME_CUFFT,
    .seconds = 0.3,
    .seconds_at_hand = 0.07,
};

bool gsh_cuda_fft_supports(const struct gsh_launch *launch)
{
    return gsh_cuda_loader_state(&gsh_cuda_fft_loader) != GSH_CUDA_ABSENT &&
           gsh_fft_run_supports(launch);
}

/* ---- plans ---- */

static void drop_plan(struct plan *plan)
{
    if (plan->is_made)
        (void)GSH_CUFFT(gsh_cufft.cufftDestroy(plan->handle));
    plan->is_made = false;
}

static gsh_cuda_enum type_of(const struct gsh_fft_lines *lines, bool is_real)
{
    if (is_real)
        return lines->is_single ? GSH_CUDA_R_32F : GSH_CUDA_R_64F;
    return lines->is_single ? GSH_CUDA_C_32F : GSH_CUDA_C_64F;
}

/* Whether side k is packed in C order. cuFFT has kernels for this layout, which it may not recognise when given
 * strides. */
static bool is_packed(const struct gsh_fft_lines *lines, unsigned k)
{
    int64_t step = 1;
    for (int d = lines->rank; d-- > 0; step *= lines->numbers[k][d])
        if (lines->stride[k][d] != step)
            return false;
    return lines->count == 1 || lines->distance[k] == step;
}

/* The extents that give the strides of side k: those of an array of which the transform takes a part. */
static void embed(const struct gsh_fft_lines *lines, unsigned k, long long *extent)
{
    extent[0] = lines->numbers[k][0];
    for (int d = 1; d < lines->rank; d++)
        extent[d] = lines->stride[k][d - 1] / lines->stride[k][d];
}

static enum gsh_status set_layout(struct plan *plan, const struct gsh_fft_lines *lines)
{
    long long length[GSH_CORE_DIMS], in_embed[GSH_CORE_DIMS], out_embed[GSH_CORE_DIMS];
    bool is_basic = is_packed(lines, 0) && is_packed(lines, 1);
    int last = lines->rank - 1;
    for (int d = 0; d < lines->rank; d++)
        length[d] = lines->length[d];
    embed(lines, 0, in_embed);
    embed(lines, 1, out_embed);
    return gsh_cufft.cufftXtMakePlanMany(
               plan->handle, lines->rank, length, is_basic ? NULL : in_embed,
               lines->stride[0][last], lines->distance[0],
               type_of(lines, lines->type == GSH_FFT_R2C), is_basic ? NULL : out_embed,
               lines->stride[1][last], lines->distance[1],
               type_of(lines, lines->type == GSH_FFT_C2R), lines->count, &plan->work_bytes,
               type_of(lines, false)) == GSH_CUFFT_SUCCESS
               ? GSH_OK
               : GSH_FAILED;
}

/* Logs nothing where it fails: it may succeed once there is more memory. */
static bool fill_plan(struct plan *plan, const struct gsh_fft_lines *lines)
{
    if (gsh_cufft.cufftCreate(&plan->handle) != GSH_CUFFT_SUCCESS)
        return false;
    plan->is_made = true;
    plan->area = 0;
    return gsh_cufft.cufftSetAutoAllocation(plan->handle, 0) == GSH_CUFFT_SUCCESS &&
           set_layout(plan, lines) == GSH_OK &&
           gsh_cufft.cufftSetStream(plan->handle, gsh_cuda.compute) == GSH_CUFFT_SUCCESS;
}

static bool make_plan(struct plan *plan, const struct gsh_fft_lines *lines)
{
    drop_plan(plan);
    if (fill_plan(plan, lines))
        return true;
    for (size_t i = 0; i < MOST_PLANS; i++)
        drop_plan(&plans[i]);
    (void)gsh_cuda_mem_finish(); /* so that released memory is unused */
    gsh_cuda_mem_trim();
    if (fill_plan(plan, lines))
        return true;
    drop_plan(plan);
    return false;
}

static struct key key_of(const struct gsh_fft_lines *lines)
{
    struct key key = {.type = (int64_t)lines->type,
                      .is_single = lines->is_single,
                      .rank = lines->rank,
                      .count = lines->count,
                      .distance = {lines->distance[0], lines->distance[1]}};
    for (int d = 0; d < lines->rank; d++) {
        key.length[d] = lines->length[d];
        for (unsigned k = 0; k < 2; k++)
            key.stride[k][d] = lines->stride[k][d];
    }
    return key;
}

/* NULL: cuFFT makes no such plan. */
static struct plan *find_plan(const struct gsh_fft_lines *lines)
{
    struct key key = key_of(lines);
    struct plan *oldest = &plans[0];
    for (struct plan *plan = plans; plan < plans + MOST_PLANS; plan++) {
        if (plan->is_made && memcmp(&plan->key, &key, sizeof key) == 0) {
            plan->last_use = ++uses;
            return plan;
        }
        if (!plan->is_made || (oldest->is_made && plan->last_use < oldest->last_use))
            oldest = plan;
    }
    if (!make_plan(oldest, lines))
        return NULL;
    oldest->key = key;
    oldest->last_use = ++uses;
    return oldest;
}

static enum gsh_status execute(const struct plan *plan, const struct gsh_fft_lines *lines)
{
    return GSH_CUFFT(
        gsh_cufft.cufftXtExec(plan->handle, (void *)lines->address[0], (void *)lines->address[1],
                              lines->is_inverse ? GSH_CUFFT_INVERSE : GSH_CUFFT_FORWARD));
}

/* Sets the plan's work area; the scratch block moves when it grows. */
static enum gsh_status set_area(struct plan *plan)
{
    uint64_t area = 0;
    GSH_TRY(gsh_cuda_mem_scratch(GSH_MAX(plan->work_bytes, LEAST_AREA), &area));
    if (area == plan->area)
        return GSH_OK;
    GSH_TRY(GSH_CUFFT(gsh_cufft.cufftSetWorkArea(plan->handle, (void *)area)));
    plan->area = area;
    return GSH_OK;
}

static enum gsh_status transform(const struct gsh_fft_lines *lines, unsigned row)
{
    struct plan *plan = find_plan(lines);
    if (plan == NULL || set_area(plan) != GSH_OK)
        return GSH_DECLINED;
    bool is_timed = gsh_cuda_timing_begin(row);
    enum gsh_status status = execute(plan, lines);
    if (is_timed)
        gsh_cuda_timing_end();
    gsh_stats_add(GSH_COUNTER_LAUNCHES, 1);
    return status;
}

static const struct gsh_fft_device device = {
    .allocate = gsh_cuda_mem_allocate,
    .release = gsh_cuda_mem_release,
    .clear = gsh_cuda_mem_clear,
    .launch = gsh_cuda_module_launch,
    .transform = transform,
};

enum gsh_status gsh_cuda_fft_run(const struct gsh_launch *launch, unsigned row)
{
    if (!gsh_cuda_fft_supports(launch) || !gsh_cuda_loader_is_ready(&gsh_cuda_fft_loader))
        return GSH_FAILED;
    return gsh_fft_run(&device, launch, row);
}
