/* SPDX-License-Identifier: Apache-2.0
 *
 * The backend "cuda": the vtable of backend.h over the files beside it. Each slot makes our context current and
 * restores the caller's. Nothing is closed: at exit the driver may be gone before us.
 */
#include "backend.h"

#include "cache_folder.h"
#include "compiler_process.h"
#include "cuda_blas.h"
#include "cuda_cache.h"
#include "cuda_compile_thread.h"
#include "cuda_context.h"
#include "cuda_draw.h"
#include "cuda_fft.h"
#include "cuda_lapack.h"
#include "cuda_loader.h"
#include "cuda_mem.h"
#include "cuda_module.h"
#include "cuda_pack.h"
#include "cuda_product.h"
#include "cuda_rates.h"
#include "cuda_timing.h"
#include "options.h"
#include "source.h"
#include "stack_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A slot's body with our context current. */
#define WITH_CONTEXT(call)                                                                         \
    __extension__({                                                                                \
        enum gsh_status gsh_call_status = gsh_cuda_context_enter();                                \
        if (gsh_call_status == GSH_OK) {                                                           \
            gsh_call_status = (call);                                                              \
            gsh_cuda_context_leave();                                                              \
        }                                                                                          \
        gsh_call_status;                                                                           \
    })

static void open_cache(void)
{
    char folder[GSH_CACHE_FOLDER_MAX + 1];
    gsh_cache_folder_find(folder);
    gsh_cuda_cache_open(folder, gsh_option_number(GSH_OPTION_CACHE_LIMIT));
}

static enum gsh_status open_device(char *why, size_t why_size)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, why, why_size); /* default, unless a step below gives a reason */
    gsh_fmt_text(&fmt, "the GPU's context cannot be used");
    GSH_TRY(gsh_cuda_context_open(why, why_size));
    GSH_TRY(WITH_CONTEXT(gsh_cuda_mem_open(why, why_size)));
    open_cache();
    gsh_cuda_pack_open(gsh_option_text(GSH_OPTION_PACK), gsh_cuda.arch);
    return gsh_cuda_module_open();
}

static enum gsh_status allocate(size_t size, uint64_t *address)
{
    return WITH_CONTEXT(gsh_cuda_mem_allocate(size, address));
}

static void release(uint64_t address, size_t size)
{
    if (gsh_cuda_context_enter() != GSH_OK)
        return;
    gsh_cuda_mem_release(address, size);
    gsh_cuda_context_leave();
}

static enum gsh_status upload(uint64_t dst, const void *src, size_t size, bool registered)
{
    return WITH_CONTEXT(gsh_cuda_mem_upload(dst, src, size, registered));
}

static enum gsh_status download(void *dst, uint64_t src, size_t size, bool registered)
{
    return WITH_CONTEXT(gsh_cuda_mem_download(dst, src, size, registered));
}

static enum gsh_status clear(uint64_t address, size_t size)
{
    return WITH_CONTEXT(gsh_cuda_mem_clear(address, size));
}

static enum gsh_status copy(uint64_t dst, uint64_t src, size_t size)
{
    return WITH_CONTEXT(gsh_cuda_mem_copy(dst, src, size));
}

/* As it is run: collapsed. */
static bool has_kernel(const struct gsh_launch *launch)
{
    struct gsh_source_plan plan;
    struct gsh_launch collapsed = *launch;
    gsh_launch_collapse(&collapsed);
    return gsh_source_plan(&collapsed, 0, &plan) == GSH_OK;
}

static bool needs_always(const struct gsh_launch *launch)
{
    (void)launch;
    return true;
}

/* H100, libraries open: 0.076 s of float32; none was seen of float64. */
static double first_product(const struct gsh_launch *launch)
{
    return gsh_cuda_product_needs_blas(launch) && gsh_dtype_is_single(launch->loop) ? 0.08 : 0;
}

/* H100: transforms of one dimension. */
static double first_transform(const struct gsh_launch *launch)
{
    (void)launch;
    return 0.01;
}

/* Those of dtypes that BLAS lacks are compiled where they run. */
static bool build_product(const struct gsh_launch *launch)
{
    return !gsh_source_is_certain(launch) || gsh_cuda_module_build(launch);
}

/* What computes a kind. */
struct routines {
    bool (*supports)(const struct gsh_launch *launch);
    enum gsh_status (*run)(const struct gsh_launch *launch, unsigned row);
    struct gsh_cuda_loader *loader; /* of a library; NULL: kernels compute it */
    bool (*needs_library)(const struct gsh_launch *launch);
    bool (*build)(const struct gsh_launch *launch); /* backend.h; NULL: nothing is compiled ahead */
    double (*first_run)(const struct gsh_launch *launch); /* backend.h; NULL: none */
};

static const struct routines *routines_of(const struct gsh_launch *launch)
{
    static const struct routines
        element = {has_kernel, gsh_cuda_module_launch, NULL, NULL, gsh_cuda_module_build, NULL},
        draw = {has_kernel, gsh_cuda_draw_run, NULL, NULL, gsh_cuda_module_build, NULL},
        product = {gsh_cuda_product_supports,   gsh_cuda_product_run, &gsh_cuda_blas_loader,
                   gsh_cuda_product_needs_blas, build_product,        first_product},
        lapack = {gsh_cuda_lapack_supports, gsh_cuda_lapack_run,
                  &gsh_cuda_lapack_loader,  needs_always,
                  gsh_cuda_lapack_build,    gsh_cuda_lapack_first_run},
        transform = {gsh_cuda_fft_supports,
                     gsh_cuda_fft_run,
                     &gsh_cuda_fft_loader,
                     needs_always,
                     NULL,
                     first_transform},
        filter = {has_kernel, gsh_cuda_module_launch, NULL, NULL, gsh_cuda_module_build, NULL};
    static const struct routines *const routines[] = {
#define X(kind, dtypes, errors, replay, host, source, unit, ...) [GSH_LAUNCH_##kind] = &unit,
#include "launch_kinds.def"
#undef X
    };
    return routines[launch->kind];
}

struct support {
    const struct gsh_launch *launch;
    bool is_there;
};

/* On a deep stack: a plan is large. */
static void find_support(void *context)
{
    struct support *support = context;
    support->is_there = routines_of(support->launch)->supports(support->launch);
}

static bool supports(const struct gsh_launch *launch)
{
    struct support support = {.launch = launch};
    if (gsh_source_is_certain(launch))
        return true;
    gsh_stack_pool_run(find_support, &support);
    return support.is_there;
}

static double load_seconds(const struct gsh_launch *launch)
{
    const struct routines *routines = routines_of(launch);
    if (routines->loader == NULL || !routines->needs_library(launch))
        return 0;
    return gsh_cuda_loader_left(routines->loader);
}

static double first_run_seconds(const struct gsh_launch *launch)
{
    const struct routines *routines = routines_of(launch);
    return routines->first_run != NULL ? routines->first_run(launch) : 0;
}

static void begin_loading(const struct gsh_launch *launch)
{
    if (gsh_cuda_context_enter() != GSH_OK)
        return;
    gsh_cuda_loader_begin(routines_of(launch)->loader);
    gsh_cuda_context_leave();
}

static enum gsh_status run(const struct gsh_launch *launch, unsigned row)
{
    return WITH_CONTEXT(routines_of(launch)->run(launch, row));
}

static enum gsh_status run_group(const struct gsh_group *group, unsigned row,
                                 gsh_can_split *can_split, const void *item)
{
    return WITH_CONTEXT(gsh_cuda_module_launch_group(group, row, can_split, item));
}

/* Also called from within run_group, so the context may be entered already. */
static bool runs_at_once(const struct gsh_launch *launch)
{
    return (gsh_launch_is_batch(launch) && !gsh_source_is_certain(launch)) ||
           gsh_cuda_module_runs_at_once(launch);
}

static bool build(const struct gsh_launch *launch)
{
    bool (*build_kind)(const struct gsh_launch *launch) = routines_of(launch)->build;
    if (build_kind == NULL || gsh_cuda_context_enter() != GSH_OK)
        return true;
    bool is_built = build_kind(launch);
    gsh_cuda_context_leave();
    return is_built;
}

static enum gsh_status finish(void)
{
    return WITH_CONTEXT(gsh_cuda_mem_finish());
}

static enum gsh_status wait_for_all(void)
{
    GSH_TRY(GSH_CUDA(gsh_cu.cuStreamSynchronize(gsh_cuda.compute)));
    GSH_TRY(GSH_CUDA(gsh_cu.cuStreamSynchronize(gsh_cuda.download)));
    gsh_cuda_timing_collect();
    return GSH_OK;
}

static enum gsh_status synchronize(void)
{
    return WITH_CONTEXT(wait_for_all());
}

/* The pool gives back only memory that has been released and waited for. */
static void trim(void)
{
    if (gsh_cuda_context_enter() != GSH_OK)
        return;
    gsh_cuda_mem_trim();
    if (gsh_cuda_mem_finish() == GSH_OK)
        gsh_cuda_mem_trim_pool();
    gsh_cuda_context_leave();
}

static bool age(unsigned calls)
{
    if (gsh_cuda_context_enter() != GSH_OK)
        return false;
    bool has_more = gsh_cuda_mem_age(calls);
    gsh_cuda_context_leave();
    return has_more;
}

static size_t available(void)
{
    if (gsh_cuda_context_enter() != GSH_OK)
        return 0;
    size_t bytes = gsh_cuda_mem_available();
    gsh_cuda_context_leave();
    return bytes;
}

static enum gsh_status register_host(void *base, size_t size)
{
    return WITH_CONTEXT(gsh_cuda_mem_register(base, size));
}

static void *map_host(size_t size, uint64_t *device)
{
    if (gsh_cuda_context_enter() != GSH_OK)
        return NULL;
    void *memory = gsh_cuda_mem_map_host(size, device);
    gsh_cuda_context_leave();
    return memory;
}

static void unregister_host(void *base, size_t size)
{
    (void)size;
    if (gsh_cuda_context_enter() != GSH_OK)
        return;
    gsh_cuda_mem_unregister(base);
    gsh_cuda_context_leave();
}

static bool is_present(void)
{
    static const char *const signs[] = {"/dev/nvidiactl", "/dev/dxg",
                                        "/proc/driver/nvidia/version"};
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible && (!visible[0] || strcmp(visible, "-1") == 0))
        return false;
    for (size_t i = 0; i < GSH_COUNT(signs); i++)
        if (access(signs[i], F_OK) == 0)
            return true;
    return false;
}

static void describe_driver(struct gsh_fmt *fmt)
{
    char line[256] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    if (file) {
        if (!fgets(line, sizeof line, file))
            line[0] = '\0';
        fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
    gsh_fmt_printf(fmt, "kernel driver  %s\n", line[0] ? line : "not found");
}

static void describe_library(struct gsh_fmt *fmt, const char *label, enum gsh_cuda_library library,
                             const char *version)
{
    const char *path = gsh_cuda_libs_path(library);
    const char *why = gsh_cuda_libs_why_missing(library);
    int major = gsh_cuda_libs_major(library);
    if (!path[0])
        gsh_fmt_printf(fmt, "%-14s not loaded%s%s\n", label, why[0] ? ": " : "", why);
    else if (major)
        gsh_fmt_printf(fmt, "%-14s %s of CUDA %d (%s)\n", label, version, major, path);
    else
        gsh_fmt_printf(fmt, "%-14s %s (%s)\n", label, version, path);
}

static void describe(struct gsh_fmt *fmt)
{
    const double gib = 1.0 / (1 << 30);
    char driver[32] = "", nvrtc[32] = "";
    int major = 0, minor = 0;
    struct gsh_fmt version;
    if (gsh_cuda.compute) {
        size_t free_bytes, limit_bytes;
        gsh_cuda_mem_budget(&free_bytes, &limit_bytes);
        gsh_fmt_printf(fmt,
                       "GPU            %s, compute capability %d.%d, %d multiprocessors, %.1f GiB\n"
                       "memory         %.2f GiB held of at most %.2f GiB\n",
                       gsh_cuda.name, gsh_cuda.arch / 10, gsh_cuda.arch % 10,
                       gsh_cuda.multiprocessors, (double)gsh_cuda.total_bytes * gib,
                       (double)(limit_bytes - free_bytes) * gib, (double)limit_bytes * gib);
    } else {
        gsh_fmt_text(fmt, "GPU            not started\n");
    }
    describe_driver(fmt);
    gsh_fmt_init(&version, driver, sizeof driver);
    gsh_fmt_printf(&version, "CUDA %d.%d", gsh_cuda.driver / 1000, gsh_cuda.driver % 1000 / 10);
    describe_library(fmt, "libcuda", GSH_CUDA_LIBRARY_DRIVER, driver);
    if (gsh_cuda_libs_path(GSH_CUDA_LIBRARY_NVRTC)[0])
        gsh_nvrtc.nvrtcVersion(&major, &minor);
    gsh_fmt_init(&version, nvrtc, sizeof nvrtc);
    gsh_fmt_printf(&version, "%d.%d", major, minor);
    describe_library(fmt, "NVRTC", GSH_CUDA_LIBRARY_NVRTC, nvrtc);
    describe_library(fmt, "cuBLAS", GSH_CUDA_LIBRARY_CUBLAS, gsh_cuda_blas_loader.version);
    describe_library(fmt, "cuSOLVER", GSH_CUDA_LIBRARY_CUSOLVER, gsh_cuda_lapack_loader.version);
    describe_library(fmt, "cuFFT", GSH_CUDA_LIBRARY_CUFFT, gsh_cuda_fft_loader.version);
    gsh_fmt_printf(fmt, "kernel cache   %s\n",
                   gsh_cuda_cache_folder()[0] ? gsh_cuda_cache_folder() : "none");
    gsh_fmt_printf(fmt, "compiled ahead %s (%zu kernels)\n",
                   gsh_cuda_pack_count() ? gsh_cuda_pack_path() : "none", gsh_cuda_pack_count());
    gsh_fmt_printf(fmt, "compiles in    %s\n",
                   gsh_compiler_process_path()[0] ? gsh_compiler_process_path()
                                                  : "the script's own process");
}

static void rate(struct gsh_rates *rates)
{
    gsh_cuda_rates_adapt(&gsh_cuda, rates);
}

const struct gsh_backend gsh_cuda_backend = {
    .name = "cuda",
    .rates = &gsh_cuda_rates,
    .rate = rate,
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
    .finish = finish,
    .synchronize = synchronize,
    .is_lost = gsh_cuda_context_is_lost,
    .memory = gsh_cuda_mem_budget,
    .trim = trim,
    .age = age,
    .available = available,
    .describe = describe,
    .is_present = is_present,
    .warm_up = gsh_cuda_context_warm_up,
    .runs_at_once = runs_at_once,
    .build = build,
    .load_seconds = load_seconds,
    .begin_loading = begin_loading,
    .first_run_seconds = first_run_seconds,
    .stop_threads = gsh_cuda_compile_thread_stop,
    .register_host = register_host,
    .unregister_host = unregister_host,
    .map_host = map_host,
    .runs_behind = true,
    .calibrates_host = true,
    .ignores_protection = true,
};
