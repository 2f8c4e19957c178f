/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and transfers. Uploads, copies and kernels share one stream. An upload must follow all earlier work, which
 * may still use the memory that its destination was carved from, and later work must follow the upload; a stream of
 * its own would only add two event waits. Downloads have a stream of their own, because later work need not wait for
 * them. After open only the driver allocates host memory here, since a download may run for the fault handler.
 *
 * Locks: the upload rings and the scratch block belong to the DISPATCH lock's holder; the download ring and the spare
 * events have locks of rank BACKEND, never held together.
 */
#include "cuda_mem.h"

#include "cuda_context.h"
#include "fmt.h"
#include "lock.h"
#include "log.h"
#include "options.h"
#include "stats.h"
#include "trace.h"

#include <string.h>
#include <sys/mman.h>

#define SMALL_BYTES                                                                                \
    ((size_t)64 << 10) /* staged without waiting; downloaded on the compute stream */
#define SMALL_SLOTS 64U
#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE_BYTES ((size_t)4 << 20)
#define LARGE_SLOTS 4U
#define MAX_SLOTS SMALL_SLOTS
#define SPARE_EVENTS 16U
#define CACHED_PIECES 16U
#define CACHED_BYTES ((size_t)32 << 20) /* the driver's microsecond is little for larger ones */
#define EXCESS_BYTES ((size_t)32 << 20) /* unused bytes that the pool may keep */
#define SCRATCH_UNIT ((size_t)1 << 20)
#define EVENT_FLAGS (GSH_CUDA_EVENT_DISABLE_TIMING | GSH_CUDA_EVENT_BLOCKING_SYNC)

/* Page-locked slots used in turn; a slot is free once its event has completed. */
struct ring {
    char *memory;
    size_t slot_bytes;
    unsigned slot_count, next;
    CUevent done[MAX_SLOTS];
};

/* For one download: all earlier work, and the download itself. */
struct event_pair {
    CUevent order, done;
};

static CUmemoryPool pool;
static size_t limit_bytes;
static size_t held_bytes;  /* atomic, relaxed; counts towards the limit */
static size_t apart_bytes; /* atomic, relaxed; the libraries', not counted */

static struct ring small_uploads = {.slot_bytes = SMALL_BYTES, .slot_count = SMALL_SLOTS};
static struct ring large_uploads = {.slot_bytes = LARGE_BYTES, .slot_count = LARGE_SLOTS};
static CUevent upload_done;
static uint64_t scratch_address;
static size_t scratch_bytes;

static struct gsh_lock download_lock = GSH_LOCK_INITIALIZER(GSH_RANK_BACKEND);
static struct ring downloads = {.slot_bytes = LARGE_BYTES, .slot_count = LARGE_SLOTS};
static CUevent staged_order;

static struct gsh_lock spare_lock = GSH_LOCK_INITIALIZER(GSH_RANK_BACKEND);
/* Released memory kept for the next request of the same size: all its users follow each other on the compute stream.
 * Counted as held. DISPATCH lock. */
struct piece {
    CUdeviceptr address;
    size_t size; /* 0: none */
};
static struct piece cached[CACHED_PIECES];
static unsigned cache_turn;
static size_t cached_bytes;
/* The state of gsh_cuda_mem_age; DISPATCH lock. Peaks are of the bytes held and cached. */
static struct {
    bool is_used;                   /* memory was allocated or released since the last call */
    bool has_more;                  /* memory to give back may be left */
    unsigned idle_calls, all_calls; /* since it was used; in all */
    size_t peak, earlier_peak;      /* of this interval of calls, and of the one before */
    size_t kept;                    /* most bytes that the pool keeps */
    CUevent last_release;           /* of memory */
} ages;
static struct event_pair spares[SPARE_EVENTS];
static unsigned spare_count;

static enum gsh_status open_pair(struct event_pair *pair)
{
    GSH_TRY(GSH_CUDA(gsh_cu.cuEventCreate(&pair->order, EVENT_FLAGS)));
    return GSH_CUDA(gsh_cu.cuEventCreate(&pair->done, EVENT_FLAGS));
}

/* Page-locked memory in huge pages; NULL: there is none. Small ones take the driver 0.6 ms a MiB. */
static char *lock_huge_pages(size_t size)
{
    const int access = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
    char *range = mmap(NULL, size + HUGE_PAGE, access, flags, -1, 0);
    if (range == MAP_FAILED)
        return NULL;
    char *memory = range + (-(uintptr_t)range & (HUGE_PAGE - 1));
    (void)madvise(memory, size, MADV_HUGEPAGE);
    if (gsh_cuda_mem_register(memory, size) == GSH_OK)
        return memory;
    (void)munmap(range, size + HUGE_PAGE);
    return NULL;
}

static size_t ring_bytes(const struct ring *ring)
{
    return ring->slot_bytes * ring->slot_count;
}

static enum gsh_status open_ring(struct ring *ring, char **memory)
{
    ring->memory = *memory;
    *memory += ring_bytes(ring);
    for (unsigned i = 0; i < ring->slot_count; i++)
        GSH_TRY(GSH_CUDA(gsh_cu.cuEventCreate(&ring->done[i], EVENT_FLAGS)));
    return GSH_OK;
}

static enum gsh_status open_rings(void)
{
    struct ring *rings[] = {&small_uploads, &large_uploads, &downloads};
    size_t size = 0;
    for (unsigned i = 0; i < GSH_COUNT(rings); i++)
        size += ring_bytes(rings[i]);
    char *memory = lock_huge_pages(size);
    if (memory == NULL)
        GSH_TRY(GSH_CUDA(
            gsh_cu.cuMemHostAlloc((void **)(void *)&memory, size, GSH_CUDA_HOST_PORTABLE)));
    for (unsigned i = 0; i < GSH_COUNT(rings); i++)
        GSH_TRY(open_ring(rings[i], &memory));
    return GSH_OK;
}

/* A pool of our own, apart from the device's default pool, which CuPy or PyTorch may use. It keeps freed memory (no
 * driver calls in the steady state) until gsh_cuda_mem_trim. */
static enum gsh_status open_pool(void)
{
    struct gsh_cuda_pool_props props = {.allocation_type = GSH_CUDA_ALLOCATION_PINNED,
                                        .location_type = GSH_CUDA_LOCATION_DEVICE,
                                        .location_id = gsh_cuda.device};
    uint64_t keep_all = UINT64_MAX;
    size_t free_bytes, total_bytes;
    GSH_TRY(GSH_CUDA(
        gsh_cu.cuMemPoolCreate(&pool, (const struct CUmemPoolProps_st *)(const void *)&props)));
    GSH_TRY(
        GSH_CUDA(gsh_cu.cuMemPoolSetAttribute(pool, GSH_CUDA_POOL_RELEASE_THRESHOLD, &keep_all)));
    GSH_TRY(GSH_CUDA(gsh_cu.cuMemGetInfo_v2(&free_bytes, &total_bytes)));
    limit_bytes = (size_t)gsh_option_number(GSH_OPTION_MEM_LIMIT);
    if (limit_bytes == 0)
        limit_bytes = free_bytes / 10 * 9;
    return GSH_OK;
}

static enum gsh_status open_all(void)
{
    GSH_TRY(open_pool());
    GSH_TRY(open_rings());
    GSH_TRY(GSH_CUDA(gsh_cu.cuEventCreate(&upload_done, EVENT_FLAGS)));
    GSH_TRY(GSH_CUDA(gsh_cu.cuEventCreate(&staged_order, EVENT_FLAGS)));
    GSH_TRY(GSH_CUDA(gsh_cu.cuEventCreate(&ages.last_release, EVENT_FLAGS)));
    for (; spare_count < SPARE_EVENTS; spare_count++)
        GSH_TRY(open_pair(&spares[spare_count]));
    return GSH_OK;
}

enum gsh_status gsh_cuda_mem_open(char *why, size_t why_size)
{
    enum gsh_status status = open_all();
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, why, why_size);
    if (status != GSH_OK)
        gsh_fmt_text(&fmt, "cannot make the memory pool and the transfer buffers");
    return status;
}

static void free_cached(CUdeviceptr address, size_t size)
{
    (void)GSH_CUDA(gsh_cu.cuMemFreeAsync(address, gsh_cuda.compute));
    cached_bytes -= size;
}

static void empty_cache(void)
{
    for (unsigned i = 0; i < CACHED_PIECES; i++)
        if (cached[i].size != 0) {
            free_cached(cached[i].address, cached[i].size);
            cached[i].size = 0;
        }
}

/* All its users follow each other on the compute stream, and the last one has been submitted. */
static void free_scratch(void)
{
    if (scratch_bytes != 0)
        (void)GSH_CUDA(gsh_cu.cuMemFreeAsync(scratch_address, gsh_cuda.compute));
    scratch_address = scratch_bytes = 0;
}

void gsh_cuda_mem_trim_pool(void)
{
    (void)GSH_CUDA(gsh_cu.cuMemPoolTrimTo(pool, 0));
}

void gsh_cuda_mem_trim(void)
{
    empty_cache();
    free_scratch();
    gsh_cuda_mem_trim_pool();
}

/* While memory is in use, gives back what the pool keeps beyond the recent peak. */
static void trim_excess(unsigned calls)
{
    size_t most = GSH_MAX(ages.peak, ages.earlier_peak);
    if (ages.all_calls++ % calls != 0)
        return;
    ages.earlier_peak = ages.peak;
    ages.peak = __atomic_load_n(&held_bytes, __ATOMIC_RELAXED) + cached_bytes;
    if (ages.kept - GSH_MIN(ages.kept, most) < EXCESS_BYTES)
        return;
    size_t beside = scratch_bytes + __atomic_load_n(&apart_bytes, __ATOMIC_RELAXED);
    (void)GSH_CUDA(gsh_cu.cuMemPoolTrimTo(pool, most + beside));
    ages.kept = most;
}

bool gsh_cuda_mem_age(unsigned calls)
{
    if (ages.is_used) {
        ages.is_used = false;
        ages.idle_calls = 0;
        trim_excess(calls);
        return true;
    }
    if (!ages.has_more)
        return false;
    if (++ages.idle_calls == calls) { /* the pool has the memory only once the stream gets here */
        empty_cache();
        free_scratch();
        (void)GSH_CUDA(gsh_cu.cuEventRecord(ages.last_release, gsh_cuda.compute));
    }
    if (ages.idle_calls <= calls || gsh_cu.cuEventQuery(ages.last_release) != GSH_CUDA_SUCCESS)
        return true;
    (void)GSH_CUDA(
        gsh_cu.cuEventSynchronize(ages.last_release)); /* has completed: see finish_by_event */
    gsh_cuda_mem_trim_pool();
    ages.has_more = false;
    ages.kept = __atomic_load_n(&held_bytes, __ATOMIC_RELAXED);
    return false;
}

size_t gsh_cuda_mem_available(void)
{
    size_t free_bytes = 0, total_bytes = 0;
    return GSH_CUDA(gsh_cu.cuMemGetInfo_v2(&free_bytes, &total_bytes)) == GSH_OK ? free_bytes : 0;
}

void gsh_cuda_mem_budget(size_t *free_bytes, size_t *total_bytes)
{
    size_t held = __atomic_load_n(&held_bytes, __ATOMIC_RELAXED);
    *free_bytes = held < limit_bytes ? limit_bytes - held : 0;
    *total_bytes = limit_bytes;
}

static gsh_cuda_enum take_once(size_t size, CUdeviceptr *address)
{
    return gsh_cu.cuMemAllocFromPoolAsync(address, size, pool, gsh_cuda.compute);
}

/* Memory shortage is an expected answer, so it is not a warning. Unused memory in unsuitable pieces is mapped anew:
 * first memory known to be unused, then also memory released after work that still runs. */
static enum gsh_status take(size_t size, CUdeviceptr *address)
{
    gsh_cuda_enum result = take_once(size, address);
    for (int waits = 0; result == GSH_CUDA_OUT_OF_MEMORY && waits < 2; waits++) {
        if (waits > 0)
            GSH_TRY(gsh_cuda_mem_finish());
        gsh_cuda_mem_trim();
        result = take_once(size, address);
    }
    if (result == GSH_CUDA_OUT_OF_MEMORY) {
        gsh_log(GSH_LOG_DEBUG, "CUDA: no memory for %zu bytes, %zu held", size,
                __atomic_load_n(&held_bytes, __ATOMIC_RELAXED));
        return GSH_FAILED;
    }
    return GSH_CUDA_RESULT(result, "cuMemAllocFromPoolAsync");
}

static void note_used(void)
{
    size_t bytes = __atomic_load_n(&held_bytes, __ATOMIC_RELAXED) + cached_bytes;
    ages.is_used = ages.has_more = true;
    ages.peak = GSH_MAX(ages.peak, bytes);
    ages.kept = GSH_MAX(ages.kept, bytes);
}

static void hold(size_t size)
{
    size_t held = __atomic_add_fetch(&held_bytes, size, __ATOMIC_RELAXED);
    gsh_stats_raise(GSH_COUNTER_DEVICE_PEAK_BYTES,
                    held + __atomic_load_n(&apart_bytes, __ATOMIC_RELAXED));
    gsh_trace_memory(held);
}

enum gsh_status gsh_cuda_mem_allocate(size_t size, uint64_t *address)
{
    CUdeviceptr taken;
    size_t free_bytes, total_bytes;
    for (unsigned i = 0; i < CACHED_PIECES; i++)
        if (cached[i].size == size) {
            cached[i].size = 0;
            cached_bytes -= size;
            hold(size);
            note_used();
            *address = cached[i].address;
            return GSH_OK;
        }
    gsh_cuda_mem_budget(&free_bytes, &total_bytes);
    if (size > free_bytes)
        return GSH_FAILED;
    if (size > free_bytes - GSH_MIN(cached_bytes, free_bytes))
        empty_cache();
    GSH_TRY(take(size, &taken));
    hold(size);
    note_used();
    *address = taken;
    return GSH_OK;
}

enum gsh_status gsh_cuda_mem_allocate_apart(size_t size, uint64_t *address)
{
    CUdeviceptr taken;
    gsh_cuda_enum result = take_once(size, &taken);
    if (result == GSH_CUDA_OUT_OF_MEMORY) {
        GSH_TRY(gsh_cuda_mem_finish());
        gsh_cuda_mem_trim_pool();
        result = take_once(size, &taken);
    }
    GSH_TRY(GSH_CUDA_RESULT(result, "cuMemAllocFromPoolAsync"));
    __atomic_fetch_add(&apart_bytes, size, __ATOMIC_RELAXED);
    hold(0);
    *address = taken;
    return GSH_OK;
}

void gsh_cuda_mem_release(uint64_t address, size_t size)
{
    gsh_trace_memory(__atomic_sub_fetch(&held_bytes, size, __ATOMIC_RELAXED));
    cached_bytes += size;
    note_used();
    if (size > CACHED_BYTES) {
        free_cached(address, size);
        return;
    }
    struct piece *slot = &cached[cache_turn++ % CACHED_PIECES];
    if (slot->size != 0)
        free_cached(slot->address, slot->size);
    *slot = (struct piece){.address = address, .size = size};
}

const void *gsh_cuda_mem_page_locked(void)
{
    return small_uploads.memory;
}

void *gsh_cuda_mem_map_host(size_t size, uint64_t *device)
{
    void *memory = NULL;
    CUdeviceptr address = 0;
    if (GSH_CUDA(gsh_cu.cuMemHostAlloc(
            &memory, size, GSH_CUDA_HOST_PORTABLE | GSH_CUDA_HOST_DEVICEMAP)) != GSH_OK ||
        GSH_CUDA(gsh_cu.cuMemHostGetDevicePointer_v2(&address, memory, 0)) != GSH_OK)
        return NULL;
    memset(memory, 0, size);
    *device = address;
    return memory;
}

enum gsh_status gsh_cuda_mem_scratch(size_t size, uint64_t *address)
{
    if (size > scratch_bytes) {
        CUdeviceptr taken;
        size_t rounded = gsh_round_up(size, SCRATCH_UNIT);
        free_scratch(); /* the new block may lie where the old one was */
        GSH_TRY(take(rounded, &taken));
        scratch_address = taken;
        scratch_bytes = rounded;
    }
    *address = size ? scratch_address : 0;
    return GSH_OK;
}

/* The next slot, once earlier transfers have left it. */
static enum gsh_status take_slot(struct ring *ring, char **memory, CUevent *done)
{
    unsigned slot = ring->next;
    GSH_TRY(gsh_cuda_context_wait(ring->done[slot]));
    ring->next = (slot + 1) % ring->slot_count;
    *memory = ring->memory + slot * ring->slot_bytes;
    *done = ring->done[slot];
    return GSH_OK;
}

/* Returns `status`. After a failure a transfer may be in progress that no event ends: waits for its end, or gives the
 * context up. */
static enum gsh_status drain_after_failure(enum gsh_status status, CUstream stream)
{
    if (GSH_UNLIKELY(status != GSH_OK))
        (void)gsh_cuda_context_drain(stream);
    return status;
}

/* Returns while the last DMAs still run: the source has been copied. */
static enum gsh_status upload_staged(uint64_t dst, const char *src, size_t size)
{
    struct ring *ring = size <= SMALL_BYTES ? &small_uploads : &large_uploads;
    for (size_t offset = 0; offset < size; offset += ring->slot_bytes) {
        char *slot;
        CUevent done;
        size_t part = GSH_MIN(size - offset, ring->slot_bytes);
        GSH_TRY(take_slot(ring, &slot, &done));
        memcpy(slot, src + offset, part);
        GSH_TRY(GSH_CUDA(gsh_cu.cuMemcpyHtoDAsync_v2(dst + offset, slot, part, gsh_cuda.compute)));
        GSH_TRY(GSH_CUDA(gsh_cu.cuEventRecord(done, gsh_cuda.compute)));
    }
    return GSH_OK;
}

static enum gsh_status upload_direct(uint64_t dst, const void *src, size_t size)
{
    GSH_TRY(GSH_CUDA(gsh_cu.cuMemcpyHtoDAsync_v2(dst, src, size, gsh_cuda.compute)));
    GSH_TRY(GSH_CUDA(gsh_cu.cuEventRecord(upload_done, gsh_cuda.compute)));
    return gsh_cuda_context_wait(upload_done);
}

enum gsh_status gsh_cuda_mem_upload(uint64_t dst, const void *src, size_t size, bool registered)
{
    GSH_TRY(drain_after_failure(registered ? upload_direct(dst, src, size)
                                           : upload_staged(dst, src, size),
                                gsh_cuda.compute));
    gsh_stats_add(GSH_COUNTER_UPLOADS, 1);
    gsh_stats_add(GSH_COUNTER_UPLOAD_BYTES, size);
    return GSH_OK;
}

static enum gsh_status acquire_pair(struct event_pair *pair)
{
    {
        GSH_LOCKED(&spare_lock);
        if (spare_count) {
            *pair = spares[--spare_count];
            return GSH_OK;
        }
    }
    return open_pair(pair);
}

static void release_pair(const struct event_pair *pair)
{
    {
        GSH_LOCKED(&spare_lock);
        if (spare_count < SPARE_EVENTS) {
            spares[spare_count++] = *pair;
            return;
        }
    }
    (void)GSH_CUDA(gsh_cu.cuEventDestroy_v2(pair->order));
    (void)GSH_CUDA(gsh_cu.cuEventDestroy_v2(pair->done));
}

/* Makes the download stream wait for everything submitted so far. */
static enum gsh_status follow_compute(CUevent order)
{
    GSH_TRY(GSH_CUDA(gsh_cu.cuEventRecord(order, gsh_cuda.compute)));
    return GSH_CUDA(gsh_cu.cuStreamWaitEvent(gsh_cuda.download, order, 0));
}

/* Small downloads use the compute stream: two calls less, and later work hardly waits. */
static CUstream stream_of_download(size_t size)
{
    return size <= SMALL_BYTES ? gsh_cuda.compute : gsh_cuda.download;
}

static enum gsh_status download_direct(void *dst, uint64_t src, size_t size,
                                       const struct event_pair *pair)
{
    CUstream stream = stream_of_download(size);
    if (stream == gsh_cuda.download)
        GSH_TRY(follow_compute(pair->order));
    GSH_TRY(GSH_CUDA(gsh_cu.cuMemcpyDtoHAsync_v2(dst, src, size, stream)));
    GSH_TRY(GSH_CUDA(gsh_cu.cuEventRecord(pair->done, stream)));
    return gsh_cuda_context_wait(pair->done);
}

static enum gsh_status finish_by_event(void)
{
    struct event_pair pair;
    GSH_TRY(acquire_pair(&pair));
    enum gsh_status status = GSH_CUDA(gsh_cu.cuEventRecord(pair.done, gsh_cuda.compute));
    if (status == GSH_OK)
        status = gsh_cuda_context_wait(pair.done);
    /* The pool learns what has been freed from a call that waits, not from a query. */
    if (status == GSH_OK)
        status = GSH_CUDA(gsh_cu.cuEventSynchronize(pair.done));
    release_pair(&pair);
    return status;
}

enum gsh_status gsh_cuda_mem_finish(void)
{
    return finish_by_event() == GSH_OK ? GSH_OK : gsh_cuda_context_drain(gsh_cuda.compute);
}

/* As download_direct, through the first slot. Under download_lock. */
static enum gsh_status download_small_locked(void *dst, uint64_t src, size_t size)
{
    GSH_TRY(GSH_CUDA(gsh_cu.cuMemcpyDtoHAsync_v2(downloads.memory, src, size, gsh_cuda.compute)));
    GSH_TRY(GSH_CUDA(gsh_cu.cuEventRecord(downloads.done[0], gsh_cuda.compute)));
    GSH_TRY(gsh_cuda_context_wait(downloads.done[0]));
    memcpy(dst, downloads.memory, size);
    return GSH_OK;
}

/* Fills slots ahead of the one that is copied out. Offsets use the slots in turn, from 0. Under download_lock. */
static enum gsh_status download_staged_locked(char *dst, uint64_t src, size_t size)
{
    const struct ring *ring = &downloads;
    const size_t slot_bytes = LARGE_BYTES, ahead = LARGE_BYTES * LARGE_SLOTS; /* of the ring */
    size_t submitted = 0, fetched = 0;
    GSH_TRY(follow_compute(staged_order));
    while (fetched < size) {
        for (; submitted < size && submitted - fetched < ahead; submitted += slot_bytes) {
            char *slot = ring->memory + submitted % ahead;
            size_t part = GSH_MIN(size - submitted, slot_bytes);
            GSH_TRY(GSH_CUDA(
                gsh_cu.cuMemcpyDtoHAsync_v2(slot, src + submitted, part, gsh_cuda.download)));
            GSH_TRY(GSH_CUDA(gsh_cu.cuEventRecord(ring->done[submitted % ahead / slot_bytes],
                                                  gsh_cuda.download)));
        }
        size_t part = GSH_MIN(size - fetched, slot_bytes);
        GSH_TRY(gsh_cuda_context_wait(ring->done[fetched % ahead / slot_bytes]));
        memcpy(dst + fetched, ring->memory + fetched % ahead, part);
        fetched += part;
    }
    return GSH_OK;
}

static enum gsh_status download_staged(void *dst, uint64_t src, size_t size)
{
    GSH_LOCKED(&download_lock);
    return drain_after_failure(size <= SMALL_BYTES ? download_small_locked(dst, src, size)
                                                   : download_staged_locked(dst, src, size),
                               stream_of_download(size));
}

enum gsh_status gsh_cuda_mem_download(void *dst, uint64_t src, size_t size, bool registered)
{
    if (!registered) {
        GSH_TRY(download_staged(dst, src, size));
    } else {
        struct event_pair pair;
        GSH_TRY(acquire_pair(&pair));
        enum gsh_status status =
            drain_after_failure(download_direct(dst, src, size, &pair), stream_of_download(size));
        release_pair(&pair);
        GSH_TRY(status);
    }
    gsh_stats_add(GSH_COUNTER_DOWNLOADS, 1);
    gsh_stats_add(GSH_COUNTER_DOWNLOAD_BYTES, size);
    return GSH_OK;
}

enum gsh_status gsh_cuda_mem_clear(uint64_t address, size_t size)
{
    return GSH_CUDA(gsh_cu.cuMemsetD8Async(address, 0, size, gsh_cuda.compute));
}

enum gsh_status gsh_cuda_mem_copy(uint64_t dst, uint64_t src, size_t size)
{
    GSH_TRY(GSH_CUDA(gsh_cu.cuMemcpyDtoDAsync_v2(dst, src, size, gsh_cuda.compute)));
    gsh_stats_add(GSH_COUNTER_DEVICE_COPY_BYTES, size);
    return GSH_OK;
}

enum gsh_status gsh_cuda_mem_register(void *base, size_t size)
{
    gsh_cuda_enum result = gsh_cu.cuMemHostRegister_v2(base, size, GSH_CUDA_REGISTER_PORTABLE);
    if (result == GSH_CUDA_SUCCESS)
        return GSH_OK;
    gsh_log(GSH_LOG_DEBUG, "CUDA: %zu bytes at %p cannot be page-locked (%u)", size, base, result);
    return GSH_FAILED;
}

void gsh_cuda_mem_unregister(void *base)
{
    (void)GSH_CUDA(gsh_cu.cuMemHostUnregister(base));
}
