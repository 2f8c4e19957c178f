/* SPDX-License-Identifier: Apache-2.0
 *
 * offload/cuda/driver/cuda_context.c on a driver of this file: what is current in a thread before, while and after it is
 * entered, and that a capture of others' streams is not disturbed. What the driver calls potentially unsafe fails here
 * while streams are captured in mode GLOBAL, as the real one's does, and ends the capture.
 */
#include "cuda_context.h"

#include "check.h"
#include "clock.h"

enum { MODE_GLOBAL, MODE_THREAD_LOCAL, MODE_RELAXED };
#define CAPTURE_UNSUPPORTED 900U
#define PRIMARY ((CUcontext)16)
#define OTHER ((CUcontext)32)

static CUcontext contexts[4]; /* the thread's stack, its bottom NULL */
static unsigned top;
static gsh_cuda_enum mode; /* the thread's */
static bool captures;      /* another thread, in mode GLOBAL; false again where that failed */

struct gsh_cuda_driver gsh_cu;

enum gsh_status gsh_cuda_libs_load(enum gsh_cuda_library library, int max_major, int arch,
                                   char *why, size_t why_size)
{
    (void)library, (void)max_major, (void)arch, (void)why, (void)why_size;
    return GSH_OK;
}

static gsh_cuda_enum unsafe(void)
{
    if (!captures || mode == MODE_RELAXED)
        return GSH_CUDA_SUCCESS;
    captures = false;
    return CAPTURE_UNSUPPORTED;
}

static gsh_cuda_enum init(unsigned flags)
{
    (void)flags;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum driver_version(int *version)
{
    *version = 13000;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum error_string(gsh_cuda_enum error, const char **text)
{
    *text = error == GSH_CUDA_SUCCESS ? "none" : "some";
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum device_count(int *count)
{
    *count = 1;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum get_device(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum get_name(char *name, int length, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)length, "GPU");
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum total_memory(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = 1 << 30;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum get_attribute(int *value, gsh_cuda_enum attribute, CUdevice device)
{
    (void)attribute, (void)device;
    *value = 9;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum retain_primary(CUcontext *context, CUdevice device)
{
    (void)device;
    *context = PRIMARY;
    return unsafe();
}

static gsh_cuda_enum get_current(CUcontext *context)
{
    *context = contexts[top];
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum push_current(CUcontext context)
{
    if (!CHECK(top + 1 < GSH_COUNT(contexts)))
        return GSH_CUDA_UNKNOWN;
    contexts[++top] = context;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum pop_current(CUcontext *context)
{
    if (!CHECK(top > 0))
        return GSH_CUDA_UNKNOWN;
    *context = contexts[top--];
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum exchange_mode(gsh_cuda_enum *other)
{
    gsh_cuda_enum before = mode;
    mode = *other;
    *other = before;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum create_stream(CUstream *stream, unsigned flags)
{
    CHECK_INT(flags, GSH_CUDA_STREAM_NON_BLOCKING);
    *stream = (CUstream)64;
    return unsafe();
}

static uint64_t ready_ns; /* when events have happened */
static unsigned sleepers; /* waits that ended in the driver */

static gsh_cuda_enum query_event(CUevent event)
{
    (void)event;
    return gsh_clock_ns() < ready_ns ? GSH_CUDA_NOT_READY : unsafe();
}

static gsh_cuda_enum synchronize_event(CUevent event)
{
    (void)event;
    sleepers++;
    return GSH_CUDA_SUCCESS;
}

static void set_driver(void)
{
    gsh_cu = (struct gsh_cuda_driver){.cuInit = init,
                                      .cuDriverGetVersion = driver_version,
                                      .cuGetErrorString = error_string,
                                      .cuDeviceGetCount = device_count,
                                      .cuDeviceGet = get_device,
                                      .cuDeviceGetName = get_name,
                                      .cuDeviceTotalMem_v2 = total_memory,
                                      .cuDeviceGetAttribute = get_attribute,
                                      .cuDevicePrimaryCtxRetain = retain_primary,
                                      .cuCtxGetCurrent = get_current,
                                      .cuCtxPushCurrent_v2 = push_current,
                                      .cuCtxPopCurrent_v2 = pop_current,
                                      .cuThreadExchangeStreamCaptureMode = exchange_mode,
                                      .cuStreamCreate = create_stream,
                                      .cuEventQuery = query_event,
                                      .cuEventSynchronize = synchronize_event};
}

/* `before` is current, `after` behind it, and a capture goes on in spite of what is done between. */
static void check_entered(CUcontext before, CUcontext after, gsh_cuda_enum own_mode)
{
    top = before != NULL;
    contexts[top] = before;
    mode = own_mode;
    captures = true;
    if (!CHECK_INT(gsh_cuda_context_enter(), GSH_OK))
        return;
    CHECK(contexts[top] == PRIMARY);
    CHECK_INT(gsh_cuda_context_wait(NULL), GSH_OK);
    gsh_cuda_context_leave();
    CHECK(contexts[top] == after && captures && mode == own_mode);
}

/* Who waits for a few milliseconds is there when they are over; longer ones are slept through. */
static void test_wait(void)
{
    static const struct {
        uint64_t ms;
        unsigned sleepers;
    } cases[] = {{0, 0}, {4, 0}, {2000, 1}};
    for (size_t i = 0; i < GSH_COUNT(cases); i++) {
        sleepers = 0;
        ready_ns = gsh_clock_ns() + cases[i].ms * 1000000;
        CHECK_INT(gsh_cuda_context_wait(NULL), GSH_OK);
        CHECK_INT(sleepers, cases[i].sleepers);
        CHECK((gsh_clock_ns() >= ready_ns) == (cases[i].sleepers == 0));
    }
}

int main(void)
{
    char why[256] = "";
    set_driver();
    CHECK_INT(gsh_cuda_context_enter(), GSH_FAILED);
    captures = true;
    CHECK_INT(gsh_cuda_context_open(why, sizeof why), GSH_OK);
    CHECK_STR(why, "");
    CHECK(top == 0 && captures && mode == MODE_GLOBAL);
    check_entered(NULL, PRIMARY, MODE_GLOBAL);
    check_entered(PRIMARY, PRIMARY, MODE_THREAD_LOCAL);
    check_entered(OTHER, OTHER, MODE_GLOBAL);
    check_entered(OTHER, OTHER, MODE_RELAXED);
    test_wait();
    return check_result();
}
