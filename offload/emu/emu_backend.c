/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulated device ("host"). Its memory is a second range of host memory that nothing else uses; its kernels are
 * the host compilation of the op table. A call returns when its work is done, so work runs in order. The reference
 * for every other backend.
 */
#include "backend.h"
#include "clock.h"
#include "emu_blas.h"
#include "emu_draw.h"
#include "emu_fft.h"
#include "emu_lapack.h"
#include "emu_mem.h"
#include "host_draw.h"
#include "host_group.h"
#include "host_ops.h"
#include "host_vector.h"
#include "options.h"
#include "stats.h"
#include "trace.h"
#include "wall_time.h"

#include <fenv.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static size_t limit_bytes;
static _Atomic size_t held_bytes; /* changed under the DISPATCH lock; read by any thread */

static enum gsh_status open_device(char *why, size_t why_size)
{
    (void)why;
    (void)why_size;
    gsh_host_vector_init();
    limit_bytes = (size_t)gsh_option_number(GSH_OPTION_MEM_LIMIT);
    if (limit_bytes == 0)
        limit_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 10 * 9;
    return GSH_OK;
}

static enum gsh_status allocate(size_t size, uint64_t *address)
{
    if (size > limit_bytes - held_bytes)
        return GSH_FAILED;
    void *memory = gsh_emu_mem_take(size);
    if (memory == NULL)
        return GSH_FAILED;
    size_t held = atomic_fetch_add_explicit(&held_bytes, size, memory_order_relaxed) + size;
    gsh_stats_raise(GSH_COUNTER_DEVICE_PEAK_BYTES, held);
    gsh_trace_memory(held);
    *address = (uint64_t)memory;
    return GSH_OK;
}

static void release(uint64_t address, size_t size)
{
    gsh_trace_memory(atomic_fetch_sub_explicit(&held_bytes, size, memory_order_relaxed) - size);
    gsh_emu_mem_give((void *)address, size);
}

static enum gsh_status upload(uint64_t dst, const void *src, size_t size, bool registered)
{
    (void)registered;
    memcpy((void *)dst, src, size);
    gsh_stats_add(GSH_COUNTER_UPLOADS, 1);
    gsh_stats_add(GSH_COUNTER_UPLOAD_BYTES, size);
    return GSH_OK;
}

static enum gsh_status download(void *dst, uint64_t src, size_t size, bool registered)
{
    (void)registered;
    memcpy(dst, (const void *)src, size);
    gsh_stats_add(GSH_COUNTER_DOWNLOADS, 1);
    gsh_stats_add(GSH_COUNTER_DOWNLOAD_BYTES, size);
    return GSH_OK;
}

static enum gsh_status clear(uint64_t address, size_t size)
{
    memset((void *)address, 0, size);
    return GSH_OK;
}

static enum gsh_status copy(uint64_t dst, uint64_t src, size_t size)
{
    memcpy((void *)dst, (const void *)src, size);
    gsh_stats_add(GSH_COUNTER_DEVICE_COPY_BYTES, size);
    return GSH_OK;
}

/* Charges the work done since `begin` (0: it is not timed). */
static void note_run(unsigned row, uint64_t begin)
{
    if (begin != 0)
        gsh_stats_device_time(row, gsh_clock_ns() - begin);
    if (GSH_UNLIKELY(gsh_trace_is_on))
        GSH_TRACE_END(begin, DEVICE, .row = row, .text = gsh_trace_group);
    gsh_stats_add(GSH_COUNTER_LAUNCHES, 1);
}

static enum gsh_status copy_lines(const struct gsh_launch *launch, unsigned row)
{
    (void)row;
    return gsh_host_group_run_launch(launch);
}

static const struct gsh_fft_device fft_device = {
    .allocate = allocate,
    .release = release,
    .clear = clear,
    .launch = copy_lines,
    .transform = gsh_emu_fft_transform,
};

static enum gsh_status run_transform(const struct gsh_launch *launch)
{
    return gsh_fft_run(&fft_device, launch, 0);
}

/* What computes a kind. */
struct routines {
    bool (*supports)(const struct gsh_launch *launch);
    enum gsh_status (*run)(const struct gsh_launch *launch);
    bool raises; /* its floating-point flags stay */
};

static const struct routines *routines_of(const struct gsh_launch *launch)
{
    static const struct routines element = {gsh_host_ops_supports, gsh_host_group_run_launch,
                                            false},
                                 draw = {gsh_host_draw_supports, gsh_emu_draw_run, false},
                                 product = {gsh_emu_blas_supports, gsh_emu_blas_run, true},
                                 lapack = {gsh_emu_lapack_supports, gsh_emu_lapack_run, false},
                                 transform = {gsh_emu_fft_supports, run_transform, false},
                                 filter = {gsh_host_ops_supports, gsh_host_ops_run, false};
    static const struct routines *const routines[] = {
#define X(kind, dtypes, errors, replay, host, source, unit, ...) [GSH_LAUNCH_##kind] = &unit,
#include "launch_kinds.def"
#undef X
    };
    return routines[launch->kind];
}

static bool supports(const struct gsh_launch *launch)
{
    return routines_of(launch)->supports(launch);
}

/* Kernels leave no floating-point flags, as on a GPU, because the loop that NumPy runs next reads them. A product's
 * flags stay, as BLAS leaves them. */
static enum gsh_status run(const struct gsh_launch *launch, unsigned row)
{
    GSH_WALL_TIME(GSH_WALL_DEVICE);
    uint64_t begin = gsh_stats_report_is_wanted() ? gsh_clock_ns() : 0;
    fexcept_t flags;
    fegetexceptflag(&flags, FE_ALL_EXCEPT);
    enum gsh_status status = routines_of(launch)->run(launch);
    if (!routines_of(launch)->raises)
        fesetexceptflag(&flags, FE_ALL_EXCEPT);
    note_run(row, begin);
    return status;
}

static enum gsh_status run_group(const struct gsh_group *group, unsigned row,
                                 gsh_can_split *can_split, const void *item)
{
    (void)can_split;
    (void)item;
    GSH_WALL_TIME(GSH_WALL_DEVICE);
    uint64_t begin = gsh_stats_report_is_wanted() ? gsh_clock_ns() : 0;
    fexcept_t flags;
    fegetexceptflag(&flags, FE_ALL_EXCEPT);
    GSH_TRY(gsh_host_group_run(group));
    fesetexceptflag(&flags, FE_ALL_EXCEPT);
    note_run(row, begin);
    return GSH_OK;
}

static enum gsh_status synchronize(void)
{
    return GSH_OK;
}

static void memory(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = limit_bytes - held_bytes;
    *total_bytes = limit_bytes;
}

/* There are no other users. Memory kept for the next request does not count as theirs before it is given back. */
static size_t available(void)
{
    return limit_bytes - held_bytes - GSH_MIN(gsh_emu_mem_spare_bytes(), limit_bytes - held_bytes);
}

static void describe(struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt, "host: CPU cores, matrix products by %s, Fourier transforms by %s\n",
                   gsh_emu_blas_name(), gsh_emu_fft_name());
}

/* The device is the same CPU: it gains only where the library is faster than NumPy, so transfers decide. */
static const struct gsh_rates rates = {
    .host_call = 0.4e-6,
    .host_cached = 30e9,
    .host_memory = 15e9,
    .host_cache_bytes = 4e6,
    .host_flops = {0.1e12, 0.05e12},
    .device_call = 2e-6,
    .device_memory = 10e9,
    .device_cores = 1,
    .device_flops = {0.1e12, 0.05e12},
    .transfer_call = 5e-6,
    .transfer_pinned = 8e9,
    .transfer_pageable = 8e9,
    .transfer_unmanaged = 8e9,
    .pin = 1e12,
    .start = 0.0,
};

const struct gsh_backend gsh_emu_backend = {
    .name = "host",
    .rates = &rates,
    .open = open_device,
    .allocate = allocate,
    .release = release,
    .upload = upload,
    .download = download,
    .clear = clear,
    .copy = copy,
    .supports = supports,
    .run = run,
    .run_group = run_group,
    .finish = synchronize,
    .synchronize = synchronize,
    .memory = memory,
    .trim = gsh_emu_mem_trim,
    .age = gsh_emu_mem_age,
    .available = available,
    .describe = describe,
    .calls_python = true,
};
