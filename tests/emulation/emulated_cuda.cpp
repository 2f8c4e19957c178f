/* SPDX-License-Identifier: Apache-2.0
 *
 * libcuda.so.1 without a GPU: a thread a stream, memory of the process, kernels that emulated_nvrtc.cpp compiled for the
 * CPU. Stricter than the real one where a program could get away with a mistake: memory is fenced by pages that nobody
 * may touch, new memory holds NaN, released memory is gone, work in a stream runs late. A call that CUDA's manual forbids
 * ends the process with a line on stderr. Memory that is not page-locked the driver reads and writes as the kernel
 * does, so that a closed page is an error, and not a fault.
 */
#include "emulation.h"

#include "faults.h"

#define X(function, required) EMULATED_CALL(function)
#include "driver.def"
#undef X

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace
{

constexpr gsh_cuda_enum SUCCESS = GSH_CUDA_SUCCESS, NOT_READY = GSH_CUDA_NOT_READY,
                        OUT_OF_MEMORY = GSH_CUDA_OUT_OF_MEMORY, INVALID_VALUE = 1,
                        INVALID_CONTEXT = 201, INVALID_IMAGE = 200, NOT_FOUND = 500;
constexpr size_t PAGE = 4096, ALIGNMENT = 256;
constexpr size_t MEMORY_BYTES = size_t{8} << 30,
                 ADDRESS_BYTES = size_t{1} << 38;   /* addresses are used in turn */
constexpr size_t CHUNK_BYTES = size_t{32} << 20;    /* of a pool */
constexpr size_t SCRIBBLED_BYTES = size_t{1} << 20; /* of each end of new memory */
constexpr unsigned LATE_ONE_IN = 32, LATEST_MICROSECONDS = 100;
constexpr size_t MOST_ARGUMENTS = 4096, MOST_SHARED_BYTES = 48 << 10;

pid_t process; /* that called cuInit */

/* ---- contexts ---- */

CUcontext const primary = reinterpret_cast<CUcontext>(&process);
/* A thread's. Without a destructor: exit handlers call behind those of the first thread's variables. */
struct ContextStack {
    CUcontext items[64];
    size_t count;
    bool empty() const
    {
        return count == 0;
    }
    CUcontext back() const
    {
        return items[count - 1];
    }
    void pop_back()
    {
        count--;
    }
    void push_back(CUcontext context)
    {
        if (count == sizeof items / sizeof *items)
            abort();
        items[count++] = context;
    }
};
thread_local ContextStack contexts;

/* What most calls may rely on. */
void check_thread(const char *call)
{
    if (process == 0)
        refuse(call, "before cuInit");
    if (process != getpid())
        refuse(call, "in a child of fork");
    if (contexts.empty() || contexts.back() != primary)
        refuse(call, "without a current context");
}
#define CHECK_THREAD() check_thread(__func__)

/* ---- memory of the device ---- */

struct Piece {
    size_t size;  /* as asked for */
    char *first;  /* its pages */
    size_t pages; /* bytes of them, without the fence behind them */
    int chunk;    /* of the pool; -1: none */
};

/* Pools take memory in chunks, and a trim gives back those that hold nothing. */
struct Chunk {
    size_t capacity, used; /* bytes; a capacity of 0: it has been given back */
};

/* Never destroyed: streams run until the process ends. */
struct Memory {
    std::mutex mutex;
    std::map<uint64_t, Piece> pieces; /* by address */
    std::vector<Chunk> chunks;
    char *base = nullptr;
    size_t next = 0, used = 0;
};
Memory &memory = *new Memory;

size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* Where so many bytes lie free, under the mutex. */
char *find_room(size_t bytes)
{
    if (memory.base == nullptr) {
        void *base = mmap(nullptr, ADDRESS_BYTES, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED)
            return nullptr;
        memory.base = static_cast<char *>(base);
    }
    for (int turns = 0; turns < 2;) {
        char *at = memory.base + memory.next;
        if (memory.next + bytes > ADDRESS_BYTES) {
            memory.next = 0;
            turns++;
            continue;
        }
        memory.next += bytes;
        auto taken = memory.pieces.lower_bound(reinterpret_cast<uint64_t>(at));
        bool is_free = taken == memory.pieces.end() || taken->second.first >= at + bytes;
        if (taken != memory.pieces.begin()) {
            const Piece &before = std::prev(taken)->second;
            is_free = is_free && before.first + before.pages <= at;
        }
        if (is_free)
            return at;
    }
    return nullptr;
}

/* Where a piece of a pool lies, under the mutex. */
int take_chunk(size_t bytes)
{
    std::vector<Chunk> &chunks = memory.chunks;
    auto chunk = std::find_if(chunks.begin(), chunks.end(),
                              [=](const Chunk &one) { return one.capacity >= one.used + bytes; });
    if (chunk == chunks.end())
        chunk = chunks.insert(chunk, {round_up(bytes, CHUNK_BYTES), 0});
    chunk->used += bytes;
    return static_cast<int>(chunk - chunks.begin());
}

/* Under the mutex. */
size_t free_memory()
{
    size_t taken = memory.used;
    for (const Chunk &chunk : memory.chunks)
        taken += chunk.capacity - std::min(chunk.capacity, chunk.used);
    return MEMORY_BYTES - std::min(taken, MEMORY_BYTES);
}

/* The end of the piece is the fence's begin, but for what its alignment leaves. */
uint64_t take_memory(size_t size, bool is_pooled)
{
    std::lock_guard<std::mutex> lock(memory.mutex);
    const size_t least = std::max(size, size_t{1}), pages = round_up(least, PAGE),
                 tail = round_up(least, ALIGNMENT);
    if (pages > MEMORY_BYTES || memory.used + pages > MEMORY_BYTES)
        return 0;
    char *first = find_room(pages + PAGE);
    if (first == nullptr || mprotect(first, pages, PROT_READ | PROT_WRITE) != 0)
        return 0;
    char *at = first + pages - tail;
    memory.used += pages;
    memory.pieces[reinterpret_cast<uint64_t>(at)] = {size, first, pages,
                                                     is_pooled ? take_chunk(pages) : -1};
    const size_t part = std::min(size, SCRIBBLED_BYTES);
    scribble(at, part);
    scribble(at + size - part, part);
    return reinterpret_cast<uint64_t>(at);
}

void drop_memory(uint64_t address)
{
    std::lock_guard<std::mutex> lock(memory.mutex);
    auto found = memory.pieces.find(address);
    if (found == memory.pieces.end())
        refuse("cuMemFreeAsync", "memory that is not the device's, or not any more");
    const Piece piece = found->second;
    memory.pieces.erase(found);
    memory.used -= piece.pages;
    if (piece.chunk >= 0)
        memory.chunks[static_cast<size_t>(piece.chunk)].used -= piece.pages;
    if (mmap(piece.first, piece.pages, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        refuse("cuMemFreeAsync", "cannot be given back");
}

/* ---- memory of the host that the device reaches ---- */

struct Pinned {
    std::mutex mutex;
    std::map<char *, size_t> ranges;
};
Pinned &pinned = *new Pinned;

bool is_pinned(const void *at, size_t size)
{
    std::lock_guard<std::mutex> lock(pinned.mutex);
    const char *first = static_cast<const char *>(at);
    auto after = pinned.ranges.upper_bound(const_cast<char *>(first));
    if (after == pinned.ranges.begin())
        return false;
    const auto &[start, length] = *std::prev(after);
    return first + size <= start + length;
}

/* Addresses are unified: page-locked memory of the host will do. */
void check_range(const char *call, uint64_t address, size_t size)
{
    std::lock_guard<std::mutex> lock(memory.mutex);
    auto after = memory.pieces.upper_bound(address);
    if (is_pinned(reinterpret_cast<const void *>(address), size))
        return;
    if (after == memory.pieces.begin())
        refuse(call, "an address that is not the device's");
    const auto &[start, piece] = *std::prev(after);
    if (address - start > piece.size || size > piece.size - (address - start))
        refuse(call, "bytes outside any memory of the device");
}

/* By the instruction: the library under test sees whoever opens this by name, and stops using the device. */
int open_unseen(const char *path)
{
    long file;
    __asm__ volatile("syscall"
                     : "=a"(file)
                     : "a"(SYS_open), "D"(path), "S"(O_RDWR | O_CLOEXEC), "d"(0)
                     : "rcx", "r11", "memory");
    return static_cast<int>(file);
}

/* By the instruction, as a driver does: the program's library would take it for the program's. A negative errno. */
long populate(void *address, size_t size)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_madvise), "D"(address), "S"(size), "d"(MADV_POPULATE_WRITE)
                     : "rcx", "r11", "memory");
    return result;
}

/* A device reaches page-locked memory whatever its pages' protection. */
int own_memory()
{
    static const int file = open_unseen("/proc/self/mem");
    return file;
}

/* The driver itself reads and writes memory that is not page-locked, without a fault that anybody could handle. Past libc's
 * functions, which may be others' by now. */
bool move_as_driver(long call, void *own, const void *other, size_t size)
{
    iovec local = {own, size}, remote = {const_cast<void *>(other), size};
    long moved = call;
    const long own_process = getpid();
    register long remotes __asm__("r10") = reinterpret_cast<long>(&remote);
    register long remote_count __asm__("r8") = 1;
    register long flags __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "+a"(moved)
                     : "D"(own_process), "S"(&local), "d"(1L), "r"(remotes), "r"(remote_count),
                       "r"(flags)
                     : "rcx", "r11", "memory");
    return size == 0 || moved == static_cast<long>(size);
}

void read_pageable(void *to, const void *from, size_t size)
{
    if (!move_as_driver(SYS_process_vm_readv, to, from, size))
        refuse("a copy", "from memory of the host that is closed to the driver");
}

void write_pageable(void *to, const void *from, size_t size)
{
    if (!move_as_driver(SYS_process_vm_writev, const_cast<void *>(from), to, size))
        refuse("a copy", "to memory of the host that is closed to the driver");
}

void write_host(void *to, const void *from, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t written = pwrite(own_memory(), static_cast<const char *>(from) + done, size - done,
                                 static_cast<off_t>(reinterpret_cast<uintptr_t>(to) + done));
        if (written <= 0)
            refuse("cuMemcpyDtoHAsync", "memory of the host that cannot be written");
        done += static_cast<size_t>(written);
    }
}

void read_host(void *to, const void *from, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(own_memory(), static_cast<char *>(to) + done, size - done,
                            static_cast<off_t>(reinterpret_cast<uintptr_t>(from) + done));
        if (got <= 0)
            refuse("cuMemcpyHtoDAsync", "memory of the host that cannot be read");
        done += static_cast<size_t>(got);
    }
}

/* ---- streams and events ---- */

using Clock = std::chrono::steady_clock;

/* Outlives its handle while a stream still has work that names it. */
struct Event {
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t recorded = 0, completed = 0; /* how often */
    Clock::time_point time;               /* of the last completion */

    /* The recording that a wait which begins now is for. */
    uint64_t last()
    {
        std::lock_guard<std::mutex> lock(mutex);
        return recorded;
    }
    void complete(uint64_t turn)
    {
        std::lock_guard<std::mutex> lock(mutex);
        completed = std::max(completed, turn);
        time = Clock::now();
        changed.notify_all();
    }
    void wait(uint64_t turn)
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return completed >= turn; });
    }
    /* Whether it was completed. */
    bool wait_unless_stuck(uint64_t turn)
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (completed < turn && !context_is_stuck())
            changed.wait_for(lock, std::chrono::milliseconds(1));
        return completed >= turn;
    }
};

} // namespace

struct CUevent_st {
    std::shared_ptr<Event> event = std::make_shared<Event>();
    bool has_time;
};

struct CUstream_st {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> work;
    uint64_t submitted = 0, finished = 0;
    uint64_t random;

    void run();
};

struct CUfunc_st {
    void (*run)(const void *arguments, unsigned blocks, unsigned threads);
    size_t argument_bytes;
};

struct CUmod_st {
    void *library;
    CUfunc_st function;
};

namespace
{

std::mutex &kernels = *new std::mutex; /* one runs at a time (cuda_threads.h) */

void be_late(uint64_t &random)
{
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    if (random % LATE_ONE_IN == 0)
        std::this_thread::sleep_for(
            std::chrono::microseconds(random / LATE_ONE_IN % LATEST_MICROSECONDS));
}

} // namespace

void CUstream_st::run()
{
    for (;;) {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return !work.empty(); });
        std::function<void()> item = std::move(work.front());
        work.pop_front();
        lock.unlock();
        be_late(random);
        item();
        item = nullptr;
        lock.lock();
        finished++;
        changed.notify_all();
    }
}

/* Default streams are for others: EMULATED_DEFAULT_STREAM says that there are such in the process. They wait for nobody. */
static CUstream_st *find_stream(CUstream_st *stream)
{
    if (reinterpret_cast<uintptr_t>(stream) > 2)
        return stream;
    if (getenv("EMULATED_DEFAULT_STREAM") == nullptr)
        refuse("work", "in the legacy default stream, which waits for all others");
    static CUstream_st *const common = [] {
        CUstream made;
        cuStreamCreate(&made, 0);
        return made;
    }();
    return common;
}

namespace
{

/* Work that is done in a lost context too: what waits for it is not to wait for ever. */
void append(CUstream_st *stream, std::function<void()> work)
{
    stream = find_stream(stream);
    std::lock_guard<std::mutex> lock(stream->mutex);
    stream->work.push_back(std::move(work));
    stream->submitted++;
    stream->changed.notify_all();
}

} // namespace

__attribute__((visibility("default"))) void enqueue(CUstream_st *stream, std::function<void()> work)
{
    std::function<void()> fault;
    if (take_late_fault(&fault))
        append(stream, std::move(fault));
    else
        append(stream, [work = std::move(work)] {
            if (!context_is_dead())
                work();
        });
}

__attribute__((visibility("default"))) void scribble(void *at, size_t size)
{
    memset(at, 0xff, size);
}

/* ---- the device ---- */

/* The process's first start, which makes the driver's queues, writes to the file that a variable names how many they would be, and the niceness of
 * its thread. */
void tell_queues_and_niceness()
{
    static std::atomic_flag is_told = ATOMIC_FLAG_INIT;
    const char *path = getenv("EMULATED_INIT_FILE");
    const char *wanted = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    FILE *file = path != nullptr && !is_told.test_and_set() ? fopen(path, "w") : nullptr;
    if (file == nullptr)
        return;
    fprintf(file, "%s %d", wanted != nullptr ? wanted : "8",
            getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid))));
    fclose(file);
}

static void sleep_for(const char *variable)
{
    const char *milliseconds = getenv(variable);
    if (milliseconds != nullptr)
        usleep(static_cast<useconds_t>(atoi(milliseconds)) * 1000);
}

/* Takes as long as EMULATED_INIT_MS says. */
API gsh_cuda_enum cuInit(unsigned)
{
    tell_queues_and_niceness();
    sleep_for("EMULATED_INIT_MS");
    process = getpid();
    return SUCCESS;
}

API gsh_cuda_enum cuDriverGetVersion(int *version)
{
    const char *driver = getenv("EMULATED_DRIVER");
    *version = driver != nullptr ? atoi(driver) : 13000;
    return SUCCESS;
}

API gsh_cuda_enum cuGetErrorName(gsh_cuda_enum, const char **name)
{
    *name = "CUDA_ERROR";
    return SUCCESS;
}

API gsh_cuda_enum cuGetErrorString(gsh_cuda_enum error, const char **text)
{
    *text = error == OUT_OF_MEMORY ? "out of memory" : "an error of the emulated driver";
    return SUCCESS;
}

API gsh_cuda_enum cuDeviceGetCount(int *count)
{
    const char *gpus = getenv("EMULATED_GPUS");
    *count = gpus != nullptr ? atoi(gpus) : 1;
    return SUCCESS;
}

API gsh_cuda_enum cuDeviceGet(CUdevice *device, int ordinal)
{
    int count;
    cuDeviceGetCount(&count);
    *device = ordinal;
    return ordinal < count ? SUCCESS : INVALID_VALUE;
}

/* Those behind the first are told apart by their names. */
API gsh_cuda_enum cuDeviceGetName(char *name, int length, CUdevice device)
{
    const std::string number = device > 0 ? " " + std::to_string(device) : "";
    snprintf(name, static_cast<size_t>(length), "emulated GPU%s", number.c_str());
    return SUCCESS;
}

/* How fast it is, it tells only where the environment says: EMULATED_CLOCK in kHz. */
API gsh_cuda_enum cuDeviceGetAttribute(int *value, gsh_cuda_enum attribute, CUdevice)
{
    static const std::map<gsh_cuda_enum, int> attributes = {
        {GSH_CUDA_ATTRIBUTE_MULTIPROCESSORS, 4},
        {GSH_CUDA_ATTRIBUTE_CC_MAJOR, 9},
        {GSH_CUDA_ATTRIBUTE_CC_MINOR, 0},
        {GSH_CUDA_ATTRIBUTE_MEMORY_POOLS, 1},
    };
    const char *clock = getenv("EMULATED_CLOCK");
    const auto found = attributes.find(attribute);
    if (found != attributes.end())
        *value = found->second;
    else if (attribute == GSH_CUDA_ATTRIBUTE_CLOCK && clock != nullptr)
        *value = atoi(clock);
    else
        return INVALID_VALUE;
    return SUCCESS;
}

API gsh_cuda_enum cuDeviceTotalMem_v2(size_t *bytes, CUdevice)
{
    *bytes = MEMORY_BYTES;
    return SUCCESS;
}

/* One GPU of several is emulated at a time: the one whose context was made first. */
API gsh_cuda_enum cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    static std::atomic<int> emulated{-1};
    int none = -1;
    sleep_for("EMULATED_CONTEXT_MS");
    if (!emulated.compare_exchange_strong(none, device) && none != device)
        refuse("cuDevicePrimaryCtxRetain", "the context of another GPU than before");
    *context = primary;
    return SUCCESS;
}

API gsh_cuda_enum cuDevicePrimaryCtxRelease_v2(CUdevice)
{
    return SUCCESS;
}

API gsh_cuda_enum cuCtxGetCurrent(CUcontext *context)
{
    *context = contexts.empty() ? nullptr : contexts.back();
    return SUCCESS;
}

API gsh_cuda_enum cuCtxPushCurrent_v2(CUcontext context)
{
    contexts.push_back(context);
    return SUCCESS;
}

API gsh_cuda_enum cuCtxPopCurrent_v2(CUcontext *context)
{
    if (contexts.empty())
        return INVALID_CONTEXT;
    *context = contexts.back();
    contexts.pop_back();
    return SUCCESS;
}

API gsh_cuda_enum cuThreadExchangeStreamCaptureMode(gsh_cuda_enum *mode)
{
    static thread_local gsh_cuda_enum current;
    std::swap(*mode, current);
    return SUCCESS;
}

/* ---- streams and events ---- */

API gsh_cuda_enum cuStreamCreate(CUstream *stream, unsigned)
{
    CHECK_THREAD();
    static uint64_t count;
    *stream = new CUstream_st;
    (*stream)->random = UINT64_C(88172645463325252) + ++count;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread(&CUstream_st::run, *stream).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return SUCCESS;
}

API gsh_cuda_enum cuStreamSynchronize(CUstream stream)
{
    CHECK_THREAD();
    stream = find_stream(stream);
    std::unique_lock<std::mutex> lock(stream->mutex);
    const uint64_t last = stream->submitted;
    stream->changed.wait(lock, [&] { return stream->finished >= last; });
    return outcome_of_wait();
}

API gsh_cuda_enum cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned)
{
    CHECK_THREAD();
    std::shared_ptr<Event> event = handle->event;
    const uint64_t turn = event->last();
    append(stream, [=] { event->wait(turn); });
    return SUCCESS;
}

API gsh_cuda_enum cuEventCreate(CUevent *event, unsigned flags)
{
    CHECK_THREAD();
    *event = new CUevent_st;
    (*event)->has_time = (flags & GSH_CUDA_EVENT_DISABLE_TIMING) == 0;
    return SUCCESS;
}

API gsh_cuda_enum cuEventDestroy_v2(CUevent event)
{
    CHECK_THREAD();
    delete event;
    return SUCCESS;
}

API gsh_cuda_enum cuEventRecord(CUevent handle, CUstream stream)
{
    CHECK_THREAD();
    std::shared_ptr<Event> event = handle->event;
    uint64_t turn;
    {
        std::lock_guard<std::mutex> lock(event->mutex);
        turn = ++event->recorded;
    }
    append(stream, [=] { event->complete(turn); });
    return SUCCESS;
}

API gsh_cuda_enum cuEventQuery(CUevent handle)
{
    CHECK_THREAD();
    std::shared_ptr<Event> event = handle->event;
    if (faults_counted() && !event->wait_unless_stuck(event->last()))
        return NOT_READY;
    if (context_is_dead())
        return outcome_of_wait();
    std::lock_guard<std::mutex> lock(event->mutex);
    return event->completed >= event->recorded ? SUCCESS : NOT_READY;
}

API gsh_cuda_enum cuEventSynchronize(CUevent handle)
{
    CHECK_THREAD();
    std::shared_ptr<Event> event = handle->event;
    event->wait(event->last());
    return outcome_of_wait();
}

API gsh_cuda_enum cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    CHECK_THREAD();
    if (!start->has_time || !end->has_time)
        refuse("cuEventElapsedTime", "of events without a time");
    if (cuEventQuery(start) != SUCCESS || cuEventQuery(end) != SUCCESS)
        return NOT_READY;
    *milliseconds =
        std::chrono::duration<float, std::milli>(end->event->time - start->event->time).count();
    return SUCCESS;
}

/* ---- memory ---- */

API gsh_cuda_enum cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CHECK_THREAD();
    std::lock_guard<std::mutex> lock(memory.mutex);
    *free_bytes = free_memory();
    *total_bytes = MEMORY_BYTES;
    return SUCCESS;
}

API gsh_cuda_enum cuMemPoolCreate(CUmemoryPool *pool, const struct CUmemPoolProps_st *)
{
    *pool = reinterpret_cast<CUmemoryPool>(&memory);
    return SUCCESS;
}

API gsh_cuda_enum cuMemPoolSetAttribute(CUmemoryPool, gsh_cuda_enum, void *)
{
    return SUCCESS;
}

API gsh_cuda_enum cuMemPoolGetAttribute(CUmemoryPool, gsh_cuda_enum attribute, void *value)
{
    if (attribute != GSH_CUDA_POOL_RESERVED)
        return INVALID_VALUE;
    std::lock_guard<std::mutex> lock(memory.mutex);
    *static_cast<uint64_t *>(value) = MEMORY_BYTES - free_memory();
    return SUCCESS;
}

API gsh_cuda_enum cuMemPoolTrimTo(CUmemoryPool, size_t)
{
    std::lock_guard<std::mutex> lock(memory.mutex);
    for (Chunk &chunk : memory.chunks)
        chunk.capacity = chunk.used == 0 ? 0 : chunk.capacity;
    return SUCCESS;
}

/* What the stream itself has released before is free for it, also while earlier work runs. */
API gsh_cuda_enum cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool,
                                          CUstream stream)
{
    CHECK_THREAD();
    *address = take_memory(size, true);
    if (*address == 0 && cuStreamSynchronize(stream) == SUCCESS)
        *address = take_memory(size, true);
    return *address != 0 ? SUCCESS : OUT_OF_MEMORY;
}

API gsh_cuda_enum cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    CHECK_THREAD();
    check_range("cuMemFreeAsync", address, 0);
    enqueue(stream, [=] { drop_memory(address); });
    return SUCCESS;
}

/* As a driver does, this has all pages there, and refuses those that may not be written. */
API gsh_cuda_enum cuMemHostRegister_v2(void *address, size_t size, unsigned)
{
    CHECK_THREAD();
    if (populate(address, size) == -EFAULT)
        return INVALID_VALUE;
    std::lock_guard<std::mutex> lock(pinned.mutex);
    pinned.ranges[static_cast<char *>(address)] = size;
    return SUCCESS;
}

API gsh_cuda_enum cuMemHostAlloc(void **address, size_t size, unsigned flags)
{
    void *at = mmap(nullptr, round_up(size, PAGE), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return OUT_OF_MEMORY;
    *address = at;
    return cuMemHostRegister_v2(at, size, flags);
}

API gsh_cuda_enum cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *address, unsigned)
{
    CHECK_THREAD();
    *device = reinterpret_cast<CUdeviceptr>(address);
    return SUCCESS;
}

API gsh_cuda_enum cuMemHostUnregister(void *address)
{
    CHECK_THREAD();
    std::lock_guard<std::mutex> lock(pinned.mutex);
    return pinned.ranges.erase(static_cast<char *>(address)) == 1 ? SUCCESS : INVALID_VALUE;
}

constexpr size_t LARGE_COPY = 16 << 20;

/* What a large copy takes longer: EMULATED_COPY_MS. */
static void take_time(size_t size)
{
    const char *milliseconds = getenv("EMULATED_COPY_MS");
    if (milliseconds != nullptr && size >= LARGE_COPY)
        usleep(static_cast<useconds_t>(atoi(milliseconds)) * 1000);
}

/* Memory that is not page-locked may change as soon as the call has returned. */
API gsh_cuda_enum cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t size,
                                       CUstream stream)
{
    CHECK_THREAD();
    check_range("cuMemcpyHtoDAsync", dst, size);
    if (is_pinned(src, size)) {
        enqueue(stream, [=] {
            take_time(size);
            read_host(reinterpret_cast<void *>(dst), src, size);
        });
        return SUCCESS;
    }
    auto copy = std::make_shared<std::vector<char>>(size);
    read_pageable(copy->data(), src, size);
    enqueue(stream, [=] {
        take_time(size);
        memcpy(reinterpret_cast<void *>(dst), copy->data(), size);
    });
    return SUCCESS;
}

/* A copy to the host, of which the bit of value 16 of the byte that EMULATED_CUDA_WRONG names comes out wrong. */
static void download(void *to, CUdeviceptr from, size_t size,
                     void (*write)(void *to, const void *from, size_t size))
{
    const char *wrong = getenv("EMULATED_CUDA_WRONG");
    const char *bytes = reinterpret_cast<const char *>(from);
    take_time(size);
    write(to, bytes, size);
    size_t at = wrong != nullptr ? strtoul(wrong, nullptr, 10) : size;
    if (at < size) {
        const char byte = static_cast<char>(bytes[at] ^ 16);
        write(static_cast<char *>(to) + at, &byte, 1);
    }
}

/* Into memory that is not page-locked, the call returns with the copy done. */
API gsh_cuda_enum cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t size, CUstream stream)
{
    CHECK_THREAD();
    check_range("cuMemcpyDtoHAsync", src, size);
    if (is_pinned(dst, size)) {
        enqueue(stream, [=] { download(dst, src, size, write_host); });
        return SUCCESS;
    }
    enqueue(stream, [=] { download(dst, src, size, write_pageable); });
    return cuStreamSynchronize(stream);
}

API gsh_cuda_enum cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t size,
                                       CUstream stream)
{
    CHECK_THREAD();
    check_range("cuMemcpyDtoDAsync", dst, size);
    check_range("cuMemcpyDtoDAsync", src, size);
    if (dst < src + size && src < dst + size)
        refuse("cuMemcpyDtoDAsync", "bytes that overlap");
    enqueue(stream, [=] {
        memcpy(reinterpret_cast<void *>(dst), reinterpret_cast<const void *>(src), size);
    });
    return SUCCESS;
}

API gsh_cuda_enum cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t size,
                                  CUstream stream)
{
    CHECK_THREAD();
    check_range("cuMemsetD8Async", dst, size);
    enqueue(stream, [=] { memset(reinterpret_cast<void *>(dst), value, size); });
    return SUCCESS;
}

/* ---- what only other libraries of the process call ---- */

API gsh_cuda_enum cuStreamGetCtx(CUstream, CUcontext *context)
{
    *context = primary;
    return SUCCESS;
}

/* A stream captures from emulatedCapture(stream) on: copies in it become nodes, which emulatedLaunch runs. */
namespace
{
CUstream captured;
std::vector<std::function<void()>> &nodes = *new std::vector<std::function<void()>>;
} // namespace

API gsh_cuda_enum cuStreamIsCapturing(CUstream stream, gsh_cuda_enum *status)
{
    *status = captured != nullptr && stream == captured;
    return SUCCESS;
}

API void emulatedCapture(CUstream stream)
{
    captured = stream;
}

API void emulatedLaunch()
{
    for (const auto &node : nodes)
        node();
}

API gsh_cuda_enum cuCtxSetCurrent(CUcontext context)
{
    if (!contexts.empty())
        contexts.pop_back();
    if (context != nullptr)
        contexts.push_back(context);
    return SUCCESS;
}

/* EMULATED_MEMORY_BYTES is what others can have beside what the device's pools hold. */
API gsh_cuda_enum cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
    CHECK_THREAD();
    const char *limit = getenv("EMULATED_OTHERS_BYTES");
    {
        std::lock_guard<std::mutex> lock(memory.mutex);
        if (limit != nullptr && memory.used + size > strtoull(limit, nullptr, 10))
            return OUT_OF_MEMORY;
    }
    *address = take_memory(size, false);
    return *address != 0 ? SUCCESS : OUT_OF_MEMORY;
}

API gsh_cuda_enum cuMemFree_v2(CUdeviceptr address)
{
    CHECK_THREAD();
    drop_memory(address);
    return SUCCESS;
}

API gsh_cuda_enum cuPointerGetAttribute(void *value, gsh_cuda_enum attribute, CUdeviceptr address)
{
    bool is_device;
    {
        std::lock_guard<std::mutex> lock(memory.mutex);
        auto after = memory.pieces.upper_bound(address);
        is_device = after != memory.pieces.begin() &&
                    address - std::prev(after)->first < std::prev(after)->second.size;
    }
    const bool is_host = is_pinned(reinterpret_cast<const void *>(address), 1);
    if (!is_device && !is_host)
        return INVALID_VALUE;
    switch (attribute) {
    case GSH_CUDA_POINTER_MEMORY_TYPE:
        *static_cast<unsigned *>(value) = is_host ? GSH_CUDA_MEMORY_HOST : GSH_CUDA_MEMORY_DEVICE;
        return SUCCESS;
    case GSH_CUDA_POINTER_DEVICE:
    case GSH_CUDA_POINTER_HOST:
        *static_cast<CUdeviceptr *>(value) = address;
        return SUCCESS;
    case GSH_CUDA_POINTER_IS_MANAGED:
    case GSH_CUDA_POINTER_ORDINAL:
        *static_cast<unsigned *>(value) = 0;
        return SUCCESS;
    default:
        return INVALID_VALUE;
    }
}

API gsh_cuda_enum cuPointerGetAttributes(unsigned count, gsh_cuda_enum *attributes, void **values,
                                         CUdeviceptr address)
{
    for (unsigned i = 0; i < count; i++)
        if (cuPointerGetAttribute(values[i], attributes[i], address) != SUCCESS)
            *static_cast<unsigned *>(values[i]) = 0;
    return SUCCESS;
}

namespace
{

enum Place { DEVICE, PINNED, PAGEABLE };

Place place_of(uint64_t address, size_t size)
{
    if (is_pinned(reinterpret_cast<const void *>(address), size))
        return PINNED;
    unsigned type = 0;
    return cuPointerGetAttribute(&type, GSH_CUDA_POINTER_MEMORY_TYPE, address) == SUCCESS
               ? DEVICE
               : PAGEABLE;
}

void move(uint64_t to, uint64_t from, size_t size)
{
    std::vector<char> bytes(size);
    void *dst = reinterpret_cast<void *>(to);
    const void *src = reinterpret_cast<const void *>(from);
    switch (place_of(from, size)) {
    case DEVICE:
        memcpy(bytes.data(), src, size);
        break;
    case PINNED:
        read_host(bytes.data(), src, size);
        break;
    case PAGEABLE:
        read_pageable(bytes.data(), src, size);
        break;
    }
    switch (place_of(to, size)) {
    case DEVICE:
        memcpy(dst, bytes.data(), size);
        break;
    case PINNED:
        write_host(dst, bytes.data(), size);
        break;
    case PAGEABLE:
        write_pageable(dst, bytes.data(), size);
        break;
    }
}

/* As CUDA says of the host's memory: what is page-locked is touched in the stream, else it has been when the call returns. */
gsh_cuda_enum copy_any(uint64_t to, uint64_t from, size_t size, CUstream stream, bool waits)
{
    if (captured != nullptr && stream == captured) {
        nodes.push_back([=] { move(to, from, size); });
        return SUCCESS;
    }
    enqueue(stream, [=] { move(to, from, size); });
    const bool is_pageable = place_of(to, size) == PAGEABLE || place_of(from, size) == PAGEABLE;
    return waits || is_pageable ? cuStreamSynchronize(stream) : SUCCESS;
}

uint64_t number(const void *address)
{
    return reinterpret_cast<uint64_t>(address);
}

} // namespace

API gsh_cuda_enum cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
    CHECK_THREAD();
    return copy_any(dst, src, size, nullptr, true);
}

API gsh_cuda_enum cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
    CHECK_THREAD();
    return copy_any(dst, src, size, stream, false);
}

API gsh_cuda_enum cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t size)
{
    CHECK_THREAD();
    return copy_any(dst, number(src), size, nullptr, true);
}

API gsh_cuda_enum cuMemcpyHtoD_v2_ptds(CUdeviceptr dst, const void *src, size_t size)
{
    return cuMemcpyHtoD_v2(dst, src, size);
}

API gsh_cuda_enum cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t size)
{
    CHECK_THREAD();
    return copy_any(number(dst), src, size, nullptr, true);
}

API gsh_cuda_enum cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dst, const void *src, size_t size,
                                            CUstream stream)
{
    CHECK_THREAD();
    return copy_any(dst, number(src), size, stream, false);
}

API gsh_cuda_enum cuMemcpyDtoHAsync_v2_ptsz(void *dst, CUdeviceptr src, size_t size,
                                            CUstream stream)
{
    CHECK_THREAD();
    return copy_any(number(dst), src, size, stream, false);
}

namespace
{

struct Side2D {
    size_t x, y;
    gsh_cuda_enum type;
    const void *host;
    CUdeviceptr device;
    void *array;
    size_t pitch;

    uint64_t row(size_t index) const
    {
        return (type == GSH_CUDA_MEMORY_HOST ? number(host) : device) + (y + index) * pitch + x;
    }
};

} // namespace

struct Copy2D {
    Side2D src, dst;
    size_t width, height;
};

API gsh_cuda_enum cuMemcpy2DAsync_v2(const Copy2D *copy, CUstream stream)
{
    CHECK_THREAD();
    for (size_t i = 0; i < copy->height; i++)
        copy_any(copy->dst.row(i), copy->src.row(i), copy->width, stream, false);
    return SUCCESS;
}

API gsh_cuda_enum cuMemcpy2D_v2(const Copy2D *copy)
{
    return cuMemcpy2DAsync_v2(copy, nullptr) == SUCCESS ? cuStreamSynchronize(nullptr)
                                                        : INVALID_VALUE;
}

API gsh_cuda_enum cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                        size_t count, void *, size_t *, size_t, CUstream stream)
{
    CHECK_THREAD();
    for (size_t i = 0; i < count; i++)
        copy_any(dsts[i], srcs[i], sizes[i], stream, false);
    return SUCCESS;
}

API gsh_cuda_enum cuMemsetD8_v2(CUdeviceptr dst, unsigned char value, size_t count)
{
    CHECK_THREAD();
    std::vector<char> bytes(count, static_cast<char>(value));
    return copy_any(dst, number(bytes.data()), count, nullptr, true);
}

/* Functions have the address that dlsym finds for the newest of their names. */
API gsh_cuda_enum cuGetProcAddress_v2(const char *name, void **function, int, uint64_t flags,
                                      gsh_cuda_enum *status)
{
    static void *const self = dlmopen(LM_ID_BASE, "libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    const char *forms[] = {"_ptsz", "_ptds", ""};
    const char *versions[] = {"_v3", "_v2", ""};
    *function = nullptr;
    for (const char *form : forms)
        for (const char *version : versions) {
            if (*function != nullptr || (*form != '\0' && (flags & 2) == 0))
                continue;
            *function = dlsym(self, (std::string(name) + version + form).c_str());
        }
    if (status != nullptr)
        *status = *function != nullptr ? 0 : 1;
    return *function != nullptr ? SUCCESS : NOT_FOUND;
}

/* ---- kernels ---- */

/* The image is the shared library that emulated_nvrtc.cpp made; an ELF file says itself how long it is. */
API gsh_cuda_enum cuModuleLoadData(CUmodule *module, const void *image)
{
    CHECK_THREAD();
    const Elf64_Ehdr *header = static_cast<const Elf64_Ehdr *>(image);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return INVALID_IMAGE;
    const size_t size = header->e_shoff + size_t{header->e_shnum} * header->e_shentsize;
    char path[] = "/tmp/gpushim-kernel-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0)
        return OUT_OF_MEMORY;
    const bool is_written = write(file, image, size) == static_cast<ssize_t>(size);
    close(file);
    void *library = is_written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    unlink(path);
    if (library == nullptr)
        return INVALID_IMAGE;
    *module = new CUmod_st{library, {nullptr, 0}};
    return SUCCESS;
}

API gsh_cuda_enum cuModuleUnload(CUmodule module)
{
    CHECK_THREAD();
    dlclose(module->library);
    delete module;
    return SUCCESS;
}

API gsh_cuda_enum cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CHECK_THREAD();
    if (dlsym(module->library, name) == nullptr)
        return NOT_FOUND;
    void *run = dlsym(module->library, "emulation_run"),
         *bytes = dlsym(module->library, "emulation_argument_bytes");
    module->function.run = reinterpret_cast<void (*)(const void *, unsigned, unsigned)>(run);
    module->function.argument_bytes = *static_cast<const size_t *>(bytes);
    *function = &module->function;
    return SUCCESS;
}

/* How long the call of a launch takes: EMULATED_LAUNCH_US. */
static void take_time_of_launch()
{
    static const char *const microseconds = getenv("EMULATED_LAUNCH_US");
    if (microseconds == nullptr)
        return;
    auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(atoi(microseconds));
    if (atoi(microseconds) >= 1000)
        std::this_thread::sleep_until(end);
    while (std::chrono::steady_clock::now() < end)
        ;
}

API gsh_cuda_enum cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes, CUstream stream,
                                 void **parameters, void **)
{
    CHECK_THREAD();
    if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x == 0 || block_x > 1024 ||
        block_y != 1 || block_z != 1 || shared_bytes > MOST_SHARED_BYTES ||
        function->argument_bytes > MOST_ARGUMENTS)
        refuse("cuLaunchKernel", "a grid or arguments that are not emulated");
    take_time_of_launch();
    struct Arguments {
        alignas(64) char bytes[MOST_ARGUMENTS];
    };
    auto arguments = std::make_shared<Arguments>();
    memcpy(arguments->bytes, parameters[0], function->argument_bytes);
    enqueue(stream, [=] {
        std::lock_guard<std::mutex> lock(kernels);
        function->run(arguments->bytes, grid_x, block_x);
    });
    return SUCCESS;
}
