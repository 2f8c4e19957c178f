/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies for other users of CUDA in the process (cuda_interop.h), of arrays whose newest contents are on our device.
 * A copy runs within the device, in the stream that the user named, after our work. Our work never waits for theirs
 * (offload/memory/snapshot.h).
 */
#include "cuda_interop.h"

#include "backend.h"
#include "cuda_context.h"
#include "cuda_mem.h"
#include "device.h"
#include "snapshot.h"
#include "stats.h"

static bool read_attribute(gsh_cuda_enum attribute, CUdeviceptr address, unsigned *value)
{
    *value = 0;
    return gsh_cu.cuPointerGetAttribute(value, attribute, address) == GSH_CUDA_SUCCESS;
}

static bool is_on_our_device(CUdeviceptr address)
{
    unsigned type, is_managed, ordinal;
    return read_attribute(GSH_CUDA_POINTER_MEMORY_TYPE, address, &type) &&
           type == GSH_CUDA_MEMORY_DEVICE &&
           read_attribute(GSH_CUDA_POINTER_IS_MANAGED, address, &is_managed) &&
           (is_managed & 1) == 0 && read_attribute(GSH_CUDA_POINTER_ORDINAL, address, &ordinal) &&
           ordinal == (unsigned)gsh_cuda.device;
}

/* Not a stream that is being captured: what it captures runs later and repeatedly. */
static bool is_suitable(CUstream stream)
{
    CUcontext context = NULL;
    gsh_cuda_enum captures = GSH_CUDA_CAPTURE_NONE;
    return gsh_cu.cuStreamGetCtx(stream, &context) == GSH_CUDA_SUCCESS &&
           context == gsh_cuda.primary &&
           gsh_cu.cuStreamIsCapturing(stream, &captures) == GSH_CUDA_SUCCESS &&
           captures == GSH_CUDA_CAPTURE_NONE;
}

static bool make_event(CUevent *event)
{
    return gsh_cu.cuEventCreate(event, GSH_CUDA_EVENT_DISABLE_TIMING) == GSH_CUDA_SUCCESS;
}

/* Makes the stream wait for everything that we have submitted. */
static bool follow_us(CUstream stream)
{
    CUevent order;
    if (!make_event(&order))
        return false;
    bool follows = gsh_cu.cuEventRecord(order, gsh_cuda.compute) == GSH_CUDA_SUCCESS &&
                   gsh_cu.cuStreamWaitEvent(stream, order, 0) == GSH_CUDA_SUCCESS;
    (void)gsh_cu.cuEventDestroy_v2(order);
    return follows;
}

/* A failed event counts as done: the context is lost. */
static bool is_done(void *event)
{
    if (gsh_cuda_context_enter() != GSH_OK)
        return false;
    gsh_cuda_enum result = gsh_cu.cuEventQuery(event);
    if (result != GSH_CUDA_NOT_READY)
        (void)gsh_cu.cuEventDestroy_v2(event);
    gsh_cuda_context_leave();
    return result != GSH_CUDA_NOT_READY;
}

/* Submits the copy with `done` after it; true: it has not been waited for. */
static bool submit(CUdeviceptr to, uint64_t from, size_t size, CUstream stream, CUevent done,
                   bool waits, gsh_cuda_enum *result)
{
    *result = gsh_cu.cuMemcpyDtoDAsync_v2(to, from, size, stream);
    bool is_recorded = gsh_cu.cuEventRecord(done, stream) == GSH_CUDA_SUCCESS;
    if (is_recorded && !waits)
        return true;
    gsh_cuda_enum waited =
        is_recorded ? gsh_cu.cuEventSynchronize(done) : gsh_cu.cuStreamSynchronize(stream);
    if (*result == GSH_CUDA_SUCCESS && waits)
        *result = waited;
    return false;
}

/* As `copy`, of a snapshot, with our context entered. *done: the event that ends the copy if it was not waited for,
 * else NULL. */
static enum gsh_status copy_snapshot(CUdeviceptr to, uint64_t from, size_t size, CUstream stream,
                                     bool waits, CUevent *done, gsh_cuda_enum *result)
{
    CUevent event;
    *done = NULL;
    if (!make_event(&event))
        return GSH_DECLINED;
    bool follows = follow_us(stream);
    if (follows && submit(to, from, size, stream, event, waits, result))
        *done = event;
    else
        (void)gsh_cu.cuEventDestroy_v2(event);
    return follows ? GSH_OK : GSH_DECLINED;
}

static void wait_for(CUevent event)
{
    if (gsh_cuda_context_enter() != GSH_OK)
        return;
    (void)gsh_cu.cuEventSynchronize(event);
    (void)gsh_cu.cuEventDestroy_v2(event);
    gsh_cuda_context_leave();
}

static enum gsh_status copy_within_device(CUdeviceptr to, const void *from, size_t size,
                                          CUstream stream, bool waits, gsh_cuda_enum *result)
{
    uint64_t address = 0;
    CUevent done;
    struct gsh_value *value = gsh_snapshot_acquire(from, size, &address);
    if (value == NULL || gsh_cuda_context_enter() != GSH_OK) {
        if (value != NULL)
            gsh_snapshot_release(value);
        return GSH_DECLINED;
    }
    enum gsh_status status = copy_snapshot(to, address, size, stream, waits, &done, result);
    gsh_cuda_context_leave();
    if (done != NULL && gsh_snapshot_release_when(value, is_done, done))
        return status;
    if (done != NULL)
        wait_for(done);
    gsh_snapshot_release(value);
    return status;
}

static enum gsh_status copy(CUdeviceptr to, const void *from, size_t size, CUstream stream,
                            bool waits, gsh_cuda_enum *result)
{
    CUcontext current = NULL;
    if (gsh_backend_get() != &gsh_cuda_backend || gsh_device_get_state() != GSH_DEVICE_READY ||
        gsh_cu.cuCtxGetCurrent(&current) != GSH_CUDA_SUCCESS || current != gsh_cuda.primary ||
        !is_suitable(stream) || !is_on_our_device(to))
        return GSH_DECLINED;
    GSH_TRY(copy_within_device(to, from, size, stream, waits, result));
    if (*result == GSH_CUDA_SUCCESS)
        gsh_stats_add(GSH_COUNTER_DEVICE_COPY_BYTES, size);
    return GSH_OK;
}

const struct gsh_cuda_interop gsh_cuda_snapshot_interop = {.is_entered =
                                                               gsh_cuda_context_is_entered,
                                                           .page_locked = gsh_cuda_mem_page_locked,
                                                           .copy = copy};
