/* SPDX-License-Identifier: Apache-2.0
 *
 * NVRTC with fixed options: no contraction, no fast math, so that results equal those of the same C expression on the
 * CPU. Compiles to machine code; to PTX only for a GPU newer than NVRTC.
 */
#include "cuda_compile.h"

#include "clock.h"
#include "cuda_cache.h"
#include "cuda_libs.h"
#include "cuda_pack.h"
#include "fmt.h"
#include "library_call.h"
#include "log.h"
#include "stats.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#define COMMON_OPTIONS                                                                             \
    "--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"
/* Omits the declarations of textures and of the runtime, a sixth of an empty kernel's compilation time. */
#define MINIMAL_OPTION "--minimal"
#define MINIMAL_SINCE 1208 /* NVRTC 12.8 */

static enum gsh_status check(gsh_cuda_enum result, const char *what)
{
    if (result == GSH_NVRTC_SUCCESS)
        return GSH_OK;
    gsh_log(GSH_LOG_WARN, "NVRTC: %s: %s", what, gsh_nvrtc.nvrtcGetErrorString(result));
    return GSH_FAILED;
}

static void log_complaints(nvrtcProgram program)
{
    size_t size = 0;
    if (gsh_nvrtc.nvrtcGetProgramLogSize(program, &size) != GSH_NVRTC_SUCCESS || size < 2)
        return;
    char *text = malloc(size + 1);
    if (text && gsh_nvrtc.nvrtcGetProgramLog(program, text) == GSH_NVRTC_SUCCESS) {
        text[size] = '\0';
        gsh_log(GSH_LOG_WARN, "NVRTC: %s", text);
    }
    free(text);
}

static enum gsh_status take_image(nvrtcProgram program, bool is_ptx, void **image, size_t *size)
{
    size_t bytes = 0;
    GSH_TRY(check(is_ptx ? gsh_nvrtc.nvrtcGetPTXSize(program, &bytes)
                         : gsh_nvrtc.nvrtcGetCUBINSize(program, &bytes),
                  "size of the result"));
    char *taken = calloc(bytes + 1, 1);
    if (!taken)
        return GSH_FAILED;
    if (check(is_ptx ? gsh_nvrtc.nvrtcGetPTX(program, taken)
                     : gsh_nvrtc.nvrtcGetCUBIN(program, taken),
              "result") != GSH_OK) {
        free(taken);
        return GSH_FAILED;
    }
    *image = taken;
    *size = bytes;
    return GSH_OK;
}

static enum gsh_status run_nvrtc(const char *source, const char *const *options, int option_count,
                                 bool is_ptx, void **image, size_t *size)
{
    nvrtcProgram program;
    GSH_TRY(check(gsh_nvrtc.nvrtcCreateProgram(&program, source, "gpushim.cu", 0, NULL, NULL),
                  "create"));
    gsh_library_call_begin();
    gsh_cuda_enum result = gsh_nvrtc.nvrtcCompileProgram(program, option_count, options);
    gsh_library_call_end();
    enum gsh_status status = check(result, "compile");
    if (status == GSH_OK)
        status = take_image(program, is_ptx, image, size);
    else
        log_complaints(program);
    gsh_nvrtc.nvrtcDestroyProgram(&program);
    return status;
}

/* The options passed to NVRTC. */
struct options {
    char architecture[48];
    const char *list[7];
    int count; /* one less where NVRTC does not support the last one */
};

static void make_options(struct options *options, const struct gsh_cuda_target *target)
{
    const char *const list[] = {COMMON_OPTIONS, options->architecture, MINIMAL_OPTION};
    _Static_assert(sizeof list == sizeof options->list, "one place an option");
    struct gsh_fmt fmt;
    int major = 0, minor = 0;
    gsh_nvrtc.nvrtcVersion(&major, &minor);
    options->count = (int)GSH_COUNT(list) - (major * 100 + minor < MINIMAL_SINCE);
    gsh_fmt_init(&fmt, options->architecture, sizeof options->architecture);
    gsh_fmt_printf(&fmt, "--gpu-architecture=%s_%d", target->is_ptx ? "compute" : "sm",
                   target->arch);
    memcpy(options->list, list, sizeof list);
}

void gsh_cuda_compile_key(const char *source, struct gsh_cuda_cache_key *key)
{
    static const char *const options[] = {COMMON_OPTIONS};
    gsh_cuda_cache_key_init(key);
    for (size_t i = 0; i < GSH_COUNT(options); i++)
        gsh_cuda_cache_key_add(key, options[i]);
    gsh_cuda_cache_key_add(key, source);
}

/* What names a kernel in both places. */
struct keys {
    struct gsh_cuda_cache_key packed; /* gsh_cuda_compile_key */
    struct gsh_cuda_cache_key stored; /* on disk: for NVRTC's version and all options, too */
};

/* Reads the source once: it is long. */
static void make_keys(struct keys *keys, const char *source, const struct options *options)
{
    int major = 0, minor = 0;
    char version[32];
    struct gsh_fmt fmt;
    gsh_nvrtc.nvrtcVersion(&major, &minor);
    gsh_fmt_init(&fmt, version, sizeof version);
    gsh_fmt_printf(&fmt, "nvrtc %d.%d", major, minor);
    gsh_cuda_compile_key(source, &keys->packed);
    keys->stored = keys->packed;
    gsh_cuda_cache_key_add(&keys->stored, version);
    for (int i = 0; i < options->count; i++)
        gsh_cuda_cache_key_add(&keys->stored, options->list[i]);
}

static bool find(const struct keys *keys, const struct gsh_cuda_target *target, void **image,
                 size_t *size)
{
    bool is_packed =
        gsh_cuda_pack_find(&keys->packed, target->is_ptx ? target->arch : 0, image, size);
    if (!is_packed && !gsh_cuda_cache_find(&keys->stored, image, size))
        return false;
    gsh_stats_add(is_packed ? GSH_COUNTER_PACK_HITS : GSH_COUNTER_CACHE_HITS, 1);
    return true;
}

bool gsh_cuda_compile_find(const char *source, const struct gsh_cuda_target *target, void **image,
                           size_t *size)
{
    struct options options;
    struct keys keys;
    make_options(&options, target);
    make_keys(&keys, source, &options);
    return find(&keys, target, image, size);
}

enum gsh_status gsh_cuda_compile(const char *name, const char *source,
                                 const struct gsh_cuda_target *target, void **image, size_t *size)
{
    struct options options;
    struct keys keys;
    make_options(&options, target);
    make_keys(&keys, source, &options);
    if (find(&keys, target, image, size))
        return GSH_OK;
    uint64_t start = gsh_clock_ns(), begin = gsh_trace_begin();
    GSH_TRY(run_nvrtc(source, options.list, options.count, target->is_ptx, image, size));
    gsh_stats_add(GSH_COUNTER_COMPILES, 1);
    GSH_TRACE_END(begin, COMPILES, .name = "compile a kernel", .text = name);
    gsh_log(GSH_LOG_DEBUG, "compiled the kernel %s in %.1f ms", name,
            (double)(gsh_clock_ns() - start) * 1e-6);
    gsh_cuda_cache_store(&keys.stored, *image, *size);
    return GSH_OK;
}
