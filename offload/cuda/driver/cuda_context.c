/* SPDX-License-Identifier: Apache-2.0
 *
 * The primary context, the streams and error mapping. Every entry point restores the caller's current context, since
 * others in the process may use a context that is not the primary one. Nothing that is in use is destroyed: at exit the driver
 * may be gone before us.
 */
#include "cuda_context.h"

#include "clock.h"
#include "cuda_interposed_malloc.h"
#include "cuda_ordinal.h"
#include "cuda_sharing.h"
#include "environment.h"
#include "fmt.h"
#include "log.h"
#include "program_end.h"
#include "thread.h"
#include "trace.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

/* A sleeping thread wakes up 0.1 ms late or more: little beside a wait that is longer than the spinning. */
#define SPIN_NS UINT64_C(1000000)
#define YIELD_NS UINT64_C(10000000) /* spins, but yields to other threads */
#define LONGEST_PAUSE_NS 20000000L  /* between attempts to wait for a stream: eight of them */
#define OLDEST_DRIVER 11020         /* memory pools (CUDA 11.2) */

struct gsh_cuda_context gsh_cuda;

static bool is_open;
static bool is_lost;      /* atomic, relaxed; never reset */
static bool is_first_gpu; /* the one of other libraries that choose none */
static _Thread_local bool
    has_previous; /* another context is below ours on the stack, or none may stay behind */
static _Thread_local bool is_entered;
static _Thread_local gsh_cuda_enum capture_mode; /* the mode that relax has replaced */

static const char *error_text(gsh_cuda_enum result)
{
    const char *text = NULL;
    if (gsh_cu.cuGetErrorString(result, &text) != GSH_CUDA_SUCCESS || !text)
        return "unknown error";
    return text;
}

static bool is_sticky(gsh_cuda_enum result)
{
    switch (result) {
    case GSH_CUDA_ECC_UNCORRECTABLE:
    case GSH_CUDA_LAUNCH_TIMEOUT:
    case GSH_CUDA_CONTEXT_IS_DESTROYED:
    case GSH_CUDA_ASSERT:
    case GSH_CUDA_UNKNOWN:
        return true;
    default: /* 714 to 718: faults of an instruction; the context is lost as after 700 and 719 */
        return result == GSH_CUDA_ILLEGAL_ADDRESS ||
               (result >= GSH_CUDA_HARDWARE_STACK_ERROR && result <= GSH_CUDA_LAUNCH_FAILED);
    }
}

/* Writes the function's name from the text of a call, "table.function(arguments)". */
static void write_name(struct gsh_fmt *fmt, const char *call)
{
    const char *end = call + strcspn(call, "( "), *name = call;
    for (const char *c = call; c < end; c++)
        if (*c == '.')
            name = c + 1;
    gsh_fmt_printf(fmt, "%.*s", (int)(end - name), name);
}

void gsh_cuda_context_tell(const char *library, const char *call, const char *what, bool *said)
{
    static bool has_warned;
    char name[80];
    struct gsh_fmt fmt;
    if (__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
        return;
    bool is_first = !__atomic_exchange_n(&has_warned, true, __ATOMIC_RELAXED);
    gsh_fmt_init(&fmt, name, sizeof name);
    write_name(&fmt, call);
    gsh_log(is_first ? GSH_LOG_WARN : GSH_LOG_INFO, "%s: %s: %s", library, name, what);
}

enum gsh_status gsh_cuda_context_check(gsh_cuda_enum result, const char *call, bool *said)
{
    char text[200];
    struct gsh_fmt fmt;
    if (GSH_LIKELY(result == GSH_CUDA_SUCCESS))
        return GSH_OK;
    if (is_sticky(result))
        gsh_cuda_context_give_up();
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_fmt_printf(&fmt, "%s (%u)", error_text(result), result);
    gsh_cuda_context_tell("CUDA", call, text, said);
    return GSH_FAILED;
}

enum gsh_status gsh_cuda_context_check_library(const char *library, gsh_cuda_enum result,
                                               const char *call, bool *said)
{
    char text[40];
    struct gsh_fmt fmt;
    if (GSH_LIKELY(result == 0))
        return GSH_OK;
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_fmt_printf(&fmt, "status %u", result);
    gsh_cuda_context_tell(library, call, text, said);
    return GSH_FAILED;
}

enum gsh_status gsh_cuda_context_check_blas(gsh_cuda_enum result, const char *call, bool *said)
{
    return gsh_cuda_context_check_library("cuBLAS", result, call, said);
}

void gsh_cuda_context_give_up(void)
{
    __atomic_store_n(&is_lost, true, __ATOMIC_RELAXED);
}

bool gsh_cuda_context_is_lost(void)
{
    return __atomic_load_n(&is_lost, __ATOMIC_RELAXED);
}

/* While any thread captures a stream in mode GLOBAL, or this one in a mode other than RELAXED, calls that the driver
 * considers potentially unsafe fail, and make the capture fail. */
static void relax(void)
{
    capture_mode = GSH_CUDA_CAPTURE_RELAXED;
    (void)GSH_CUDA(gsh_cu.cuThreadExchangeStreamCaptureMode(&capture_mode));
}

static void unrelax(void)
{
    (void)GSH_CUDA(gsh_cu.cuThreadExchangeStreamCaptureMode(&capture_mode));
}

enum gsh_status gsh_cuda_context_enter(void)
{
    if (GSH_UNLIKELY(!is_open || gsh_cuda_context_is_lost()))
        return GSH_FAILED;
    CUcontext current = NULL;
    GSH_TRY(GSH_CUDA(gsh_cu.cuCtxGetCurrent(&current)));
    has_previous = (current != NULL || !is_first_gpu) && current != gsh_cuda.primary;
    if (current != gsh_cuda.primary)
        GSH_TRY(GSH_CUDA(gsh_cu.cuCtxPushCurrent_v2(gsh_cuda.primary)));
    relax();
    is_entered = true;
    return GSH_OK;
}

bool gsh_cuda_context_is_entered(void)
{
    return is_entered;
}

void gsh_cuda_context_leave(void)
{
    CUcontext popped;
    is_entered = false;
    unrelax();
    if (has_previous)
        (void)GSH_CUDA(gsh_cu.cuCtxPopCurrent_v2(&popped));
}

static enum gsh_status wait_for(CUevent event)
{
    uint64_t start = gsh_clock_ns();
    for (;;) {
        gsh_cuda_enum result = gsh_cu.cuEventQuery(event);
        if (result != GSH_CUDA_NOT_READY)
            return GSH_CUDA_RESULT(result, "cuEventQuery");
        __builtin_ia32_pause();
        uint64_t waited = gsh_clock_ns() - start;
        if (waited > SPIN_NS + YIELD_NS)
            return GSH_CUDA(gsh_cu.cuEventSynchronize(event));
        if (waited > SPIN_NS)
            sched_yield();
    }
}

enum gsh_status gsh_cuda_context_wait(CUevent event)
{
    uint64_t begin = gsh_trace_begin();
    enum gsh_status status = wait_for(event);
    GSH_TRACE_END(begin, WAITS, .name = "wait for the device");
    return status;
}

enum gsh_status gsh_cuda_context_drain(CUstream stream)
{
    for (long pause = 1000; !gsh_cuda_context_is_lost(); pause *= 4) {
        if (GSH_CUDA(gsh_cu.cuStreamSynchronize(stream)) == GSH_OK)
            return GSH_OK;
        if (pause > LONGEST_PAUSE_NS)
            gsh_cuda_context_give_up();
        else
            nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
    return GSH_FAILED;
}

static enum gsh_status fail(char *why, size_t why_size, const char *what, gsh_cuda_enum result)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, why, why_size);
    gsh_fmt_printf(&fmt, "%s: %s (%u)", what, error_text(result), result);
    return GSH_FAILED;
}

/* 0 where the driver does not report it. */
static int read_attribute(gsh_cuda_enum attribute)
{
    int value = 0;
    gsh_cuda_enum result = gsh_cu.cuDeviceGetAttribute(&value, attribute, gsh_cuda.device);
    return result == GSH_CUDA_SUCCESS ? value : 0;
}

static gsh_cuda_enum read_device(void)
{
    int major = 0, minor = 0;
    gsh_cuda_enum result =
        gsh_cu.cuDeviceGetName(gsh_cuda.name, sizeof gsh_cuda.name, gsh_cuda.device);
    if (result == GSH_CUDA_SUCCESS)
        result = gsh_cu.cuDeviceTotalMem_v2(&gsh_cuda.total_bytes, gsh_cuda.device);
    if (result == GSH_CUDA_SUCCESS)
        result = gsh_cu.cuDeviceGetAttribute(&major, GSH_CUDA_ATTRIBUTE_CC_MAJOR, gsh_cuda.device);
    if (result == GSH_CUDA_SUCCESS)
        result = gsh_cu.cuDeviceGetAttribute(&minor, GSH_CUDA_ATTRIBUTE_CC_MINOR, gsh_cuda.device);
    if (result == GSH_CUDA_SUCCESS)
        result = gsh_cu.cuDeviceGetAttribute(&gsh_cuda.multiprocessors,
                                             GSH_CUDA_ATTRIBUTE_MULTIPROCESSORS, gsh_cuda.device);
    gsh_cuda.arch = major * 10 + minor;
    gsh_cuda.clock = read_attribute(GSH_CUDA_ATTRIBUTE_CLOCK);
    gsh_cuda.memory_clock = read_attribute(GSH_CUDA_ATTRIBUTE_MEMORY_CLOCK);
    gsh_cuda.memory_bus = read_attribute(GSH_CUDA_ATTRIBUTE_MEMORY_BUS);
    return result;
}

/* Takes one of the visible devices (CUDA_VISIBLE_DEVICES). Success with a line in `why`: the option names none of them. */
static gsh_cuda_enum take_device(int *count, char *why, size_t why_size)
{
    int ordinal = 0;
    gsh_cuda_enum result = gsh_cu.cuDeviceGetCount(count);
    if (result != GSH_CUDA_SUCCESS)
        return result;
    if (gsh_cuda_ordinal_choose(*count, &ordinal, why, why_size) != GSH_OK)
        return GSH_CUDA_SUCCESS;
    is_first_gpu = ordinal == 0;
    return gsh_cu.cuDeviceGet(&gsh_cuda.device, ordinal);
}

/* All that we need is one hardware queue for kernels, beside those for copies. Each queue takes 8 ms of the start and 5 ms at
 * the end of the process, and the driver makes eight (H200). The driver reads the variable in cuInit. */
static gsh_cuda_enum initialise(void)
{
    if (!gsh_cuda_sharing_is_likely())
        gsh_environment_add("CUDA_DEVICE_MAX_CONNECTIONS", "1");
    gsh_cuda_enum result = gsh_cu.cuInit(0);
    gsh_environment_add(NULL, NULL);
    return result;
}

/* Takes a device, and checks its features. */
static enum gsh_status choose_device(char *why, size_t why_size)
{
    int count = 0, has_pools = 0;
    why[0] = '\0';
    gsh_cuda_enum result = initialise();
    if (result != GSH_CUDA_SUCCESS)
        return fail(why, why_size, "cuInit", result);
    result = gsh_cu.cuDriverGetVersion(&gsh_cuda.driver);
    if (result == GSH_CUDA_SUCCESS)
        result = take_device(&count, why, why_size);
    if (why[0] != '\0')
        return GSH_FAILED;
    if (result == GSH_CUDA_SUCCESS)
        result = read_device();
    if (result == GSH_CUDA_SUCCESS && gsh_cuda.driver >= OLDEST_DRIVER)
        result = gsh_cu.cuDeviceGetAttribute(&has_pools, GSH_CUDA_ATTRIBUTE_MEMORY_POOLS,
                                             gsh_cuda.device);
    if (result != GSH_CUDA_SUCCESS)
        return fail(why, why_size, count ? "cannot read the GPU's properties" : "no GPU", result);
    if (has_pools)
        return GSH_OK;
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, why, why_size);
    gsh_fmt_printf(&fmt, "%s with a driver of CUDA %d.%d has no stream-ordered memory pools",
                   gsh_cuda.name, gsh_cuda.driver / 1000, gsh_cuda.driver % 1000 / 10);
    return GSH_FAILED;
}

static enum gsh_status start_context(char *why, size_t why_size)
{
    CUcontext popped;
    gsh_cuda_enum result = gsh_cu.cuDevicePrimaryCtxRetain(&gsh_cuda.primary, gsh_cuda.device);
    if (result != GSH_CUDA_SUCCESS)
        return fail(why, why_size, "cuDevicePrimaryCtxRetain", result);
    result = gsh_cu.cuCtxPushCurrent_v2(gsh_cuda.primary);
    if (result != GSH_CUDA_SUCCESS)
        return fail(why, why_size, "cuCtxPushCurrent", result);
    result = gsh_cu.cuStreamCreate(&gsh_cuda.compute, GSH_CUDA_STREAM_NON_BLOCKING);
    if (result == GSH_CUDA_SUCCESS)
        result = gsh_cu.cuStreamCreate(&gsh_cuda.download, GSH_CUDA_STREAM_NON_BLOCKING);
    gsh_cu.cuCtxPopCurrent_v2(&popped);
    if (result != GSH_CUDA_SUCCESS)
        return fail(why, why_size, "cuStreamCreate", result);
    return GSH_OK;
}

/* Of a device that is not used after all. Streams end with their context, unless others have retained it. */
static void close_context(void)
{
    gsh_cuda.compute = gsh_cuda.download = NULL;
    (void)GSH_CUDA(gsh_cu.cuDevicePrimaryCtxRelease_v2(gsh_cuda.device));
}

/* NVRTC is opened while the context is made: from a cold disk it takes 0.15 s. */
struct nvrtc_opening {
    pthread_t thread;
    bool is_beside;
    enum gsh_status status;
    char why[GSH_CUDA_LIBS_WHY_SIZE];
};

static void *open_nvrtc(void *opening)
{
    struct nvrtc_opening *nvrtc = opening;
    nvrtc->status = gsh_cuda_libs_load(GSH_CUDA_LIBRARY_NVRTC, gsh_cuda.driver / 1000,
                                       gsh_cuda.arch, nvrtc->why, sizeof nvrtc->why);
    return NULL;
}

static void begin_nvrtc(struct nvrtc_opening *nvrtc)
{
    nvrtc->is_beside = gsh_thread_start_joinable(&nvrtc->thread, open_nvrtc, nvrtc);
    if (!nvrtc->is_beside)
        open_nvrtc(nvrtc);
}

static enum gsh_status end_nvrtc(struct nvrtc_opening *nvrtc, char *why, size_t why_size)
{
    struct gsh_fmt fmt;
    if (nvrtc->is_beside)
        pthread_join(nvrtc->thread, NULL);
    if (nvrtc->status == GSH_OK)
        return GSH_OK;
    gsh_fmt_init(&fmt, why, why_size);
    gsh_fmt_text(&fmt, nvrtc->why);
    return GSH_FAILED;
}

enum gsh_status gsh_cuda_context_open(char *why, size_t why_size)
{
    GSH_TRY(gsh_cuda_interposed_malloc_check(why, why_size));
    GSH_TRY(gsh_cuda_libs_load(GSH_CUDA_LIBRARY_DRIVER, 0, 0, why, why_size));
    GSH_TRY(choose_device(why, why_size));
    struct nvrtc_opening nvrtc;
    begin_nvrtc(&nvrtc);
    relax();
    enum gsh_status status = start_context(why, why_size);
    unrelax();
    bool has_nvrtc = end_nvrtc(&nvrtc, why, why_size) == GSH_OK;
    if (status == GSH_OK && !has_nvrtc)
        close_context();
    is_open = status == GSH_OK && has_nvrtc;
    return is_open ? GSH_OK : GSH_FAILED;
}

void gsh_cuda_context_warm_up(enum gsh_warm_up depth, void (*is_loaded)(void))
{
    char why[256];
    int count, ordinal;
    CUdevice device;
    CUcontext kept; /* retained as long as the process lives, as the one that open retains */
    if (gsh_cuda_interposed_malloc_check(why, sizeof why) != GSH_OK ||
        gsh_cuda_libs_load(GSH_CUDA_LIBRARY_DRIVER, 0, 0, why, sizeof why) != GSH_OK)
        return;
    is_loaded();
    if (initialise() == GSH_CUDA_SUCCESS && depth == GSH_WARM_UP_CONTEXT &&
        gsh_cu.cuDeviceGetCount(&count) == GSH_CUDA_SUCCESS &&
        gsh_cuda_ordinal_choose(count, &ordinal, why, sizeof why) == GSH_OK &&
        gsh_cu.cuDeviceGet(&device, ordinal) == GSH_CUDA_SUCCESS && !gsh_program_end_is_near())
        (void)gsh_cu.cuDevicePrimaryCtxRetain(&kept, device);
}
