/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of io_calls.def as exported functions: two compares and a tail call of the real function
 * unless the memory touches the arena; then: pin, exactly one real call, unpin. errno is the real
 * call's. Our names come through assembler labels, so that no libc header's declaration (variadic,
 * fortified, redirected) is in the way. Nothing here allocates, locks or logs, and all of it works
 * before main() and between vfork and exec. Checked by tests/unit/test_libc_io.c.
 */
#include "libc_io.h"

#include "arena.h"
#include "coherence.h"
#include "libc_real.h"

#include <errno.h>
#include <limits.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#define READS false
#define WRITES true
#define OPEN_BYTES                                                                                 \
    ((size_t)65536) /* more than any ioctl or socket option that is passed an array writes */

#define KERNEL_LIMIT                                                                               \
    ((size_t)0x7ffff000) /* MAX_RW_COUNT: Linux cuts every transfer to this, stdio's loop over it */

/* What a call has pinned: handed to the same walk for unpinning. */
struct held {
    void (*walk)(const void *pointer, size_t count, bool write, bool pin);
    const void *pointer;
    size_t count;
    bool write;
};

static inline size_t product(size_t size, size_t items)
{
    size_t bytes;
    return gsh_mul(size, items, &bytes) && bytes <= SSIZE_MAX ? bytes : SSIZE_MAX;
}

/* ---- shapes: does the memory touch the arena; pin or unpin all of it ---- */

static inline bool stream_touches(const void *data, size_t size)
{
    return gsh_arena_overlaps(data, size);
}

static void stream_walk(const void *data, size_t size, bool write, bool pin)
{
    if (!gsh_arena_overlaps(data, size))
        return;
    if (pin)
        gsh_coherence_pin(data, size, write);
    else
        gsh_coherence_unpin(data, size, write);
}

static inline bool bytes_touches(const void *data, size_t size)
{
    return stream_touches(data, GSH_MIN(size, KERNEL_LIMIT));
}

static void bytes_walk(const void *data, size_t size, bool write, bool pin)
{
    stream_walk(data, GSH_MIN(size, KERNEL_LIMIT), write, pin);
}

static inline bool open_touches(const void *data, size_t unused)
{
    (void)unused;
    return gsh_arena_overlaps(data, 1);
}

static void open_walk(const void *data, size_t unused, bool write, bool pin)
{
    (void)unused;
    if (open_touches(data, 0))
        bytes_walk(data, GSH_MIN(gsh_arena_usable((void *)(uintptr_t)data), OPEN_BYTES), write,
                   pin);
}

/* False where the arena does not exist yet, and where the kernel refuses an array of `count`
 * elements unread, as it does with null and kernel addresses: then it must not be read here either.
 */
static inline bool is_readable(const void *array, size_t count)
{
    return gsh_arena_end != 0 && count - 1 < IOV_MAX && (intptr_t)array >= 4096;
}

static bool vector_touches(const struct iovec *vector, size_t count)
{
    if (!is_readable(vector, count))
        return false;
    bool touches = gsh_arena_overlaps(vector, count * sizeof *vector);
    for (size_t i = 0; i < count && !touches; i++)
        touches = bytes_touches(vector[i].iov_base, vector[i].iov_len);
    return touches;
}

static void vector_walk(const void *pointer, size_t count, bool write, bool pin)
{
    if (!is_readable(pointer, count))
        return;
    const struct iovec *vector = pointer;
    bytes_walk(vector, count * sizeof *vector, READS, pin);
    for (size_t i = 0; i < count; i++)
        bytes_walk(vector[i].iov_base, vector[i].iov_len, write, pin);
}

static bool message_touches(const struct msghdr *message, size_t count)
{
    return is_readable(message, count) &&
           (gsh_arena_overlaps(message, sizeof *message) || open_touches(message->msg_name, 0) ||
            open_touches(message->msg_control, 0) ||
            vector_touches(message->msg_iov, message->msg_iovlen));
}

/* Name and control data count as open: recvmsg changes their lengths between pin and unpin. */
static void message_walk(const void *pointer, size_t count, bool write, bool pin)
{
    (void)count;
    const struct msghdr *message = pointer;
    bytes_walk(message, sizeof *message, write, pin);
    open_walk(message->msg_name, 0, write, pin);
    open_walk(message->msg_control, 0, write, pin);
    vector_walk(message->msg_iov, message->msg_iovlen, write, pin);
}

/* Linux cuts longer arrays of messages to IOV_MAX, where it refuses longer vectors. */
static bool messages_touches(const struct mmsghdr *messages, size_t count)
{
    count = GSH_MIN(count, IOV_MAX);
    if (!is_readable(messages, count))
        return false;
    bool touches = gsh_arena_overlaps(messages, count * sizeof *messages);
    for (size_t i = 0; i < count && !touches; i++)
        touches = message_touches(&messages[i].msg_hdr, 1);
    return touches;
}

static void messages_walk(const void *pointer, size_t count, bool write, bool pin)
{
    const struct mmsghdr *messages = pointer;
    count = GSH_MIN(count, IOV_MAX);
    bytes_walk(messages, count * sizeof *messages, WRITES, pin);
    for (size_t i = 0; i < count; i++)
        message_walk(&messages[i].msg_hdr, 1, write, pin);
}

/* ---- the calls ---- */

static void hold(const struct held *held)
{
    held->walk(held->pointer, held->count, held->write, true);
}

/* Also runs when the thread is cancelled inside the real call. */
static void let_go(void *argument)
{
    const struct held *held = argument;
    int keep = errno;
    held->walk(held->pointer, held->count, held->write, false);
    errno = keep;
}

/* GSH_LIBC_REAL_TABLE of the rows. */
#define X GSH_LIBC_REAL_DECLARE
#include "io_calls.def"
#undef X

static struct {
#define X GSH_LIBC_REAL_MEMBER
#include "io_calls.def"
#undef X
} real = {
#define X GSH_LIBC_REAL_INITIAL
#include "io_calls.def"
#undef X
};

#define X GSH_LIBC_REAL_DEFINE
#include "io_calls.def"
#undef X

/* The pinned call is a function of its own: one that calls pthread_cleanup_push makes no tail
 * calls. Cancelled can only be the real call: never a walk that has pinned a part. */
#define X(result, name, parameters, arguments, shape, pointer, count, access)                      \
    static __attribute__((noinline)) result pinned_##name parameters                               \
    {                                                                                              \
        struct held held = {shape##_walk, pointer, (size_t)(count), access};                       \
        result outcome;                                                                            \
        int cancel;                                                                                \
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);                                   \
        pthread_cleanup_push(let_go, &held);                                                       \
        hold(&held);                                                                               \
        pthread_setcancelstate(cancel, NULL);                                                      \
        outcome = REAL(name) arguments;                                                            \
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);                                      \
        pthread_cleanup_pop(1);                                                                    \
        pthread_setcancelstate(cancel, NULL);                                                      \
        return outcome;                                                                            \
    }                                                                                              \
    GSH_EXPORT result entry_##name parameters __asm__(#name);                                      \
    result entry_##name parameters                                                                 \
    {                                                                                              \
        if (GSH_LIKELY(!shape##_touches(pointer, (size_t)(count))))                                \
            return REAL(name) arguments;                                                           \
        return pinned_##name arguments;                                                            \
    }
#include "io_calls.def"
#undef X

void gsh_libc_io_resolve(void)
{
#define X(result, name, ...) FIND(name);
#include "io_calls.def"
#undef X
}
