/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of io_calls.def as exported functions. A call that does not touch the arena costs two
 * comparisons per range and a tail call. Other calls pin their ranges, make exactly one real call,
 * and unpin. errno is the real call's. All functions are declared with the six argument registers
 * of the calling convention and the kernel, so one row serves both a libc function and the system
 * call of that name. They are exported through assembler labels to avoid conflicts with libc's
 * declarations (variadic, fortified, redirected). Nothing here allocates, locks or logs, and all of
 * it works before main() and between vfork and exec. Checked by
 * tests/unit/interpose/libc/test_libc_io.c and tests/preload/test_io_matrix.py.
 */
#include "libc_io.h"

#include "arena.h"
#include "coherence.h"
#include "libc_calls.h"
#include "libc_io_ranges.h"
#include "libc_real.h"
#include "readers.h"
#include "unseen.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef __x86_64__
#error                                                                                             \
    "the arguments of functions are taken to be those of the kernel, all in registers, as on x86-64"
#endif

#define PARAMETERS                                                                                 \
    UNUSED const void *p1, UNUSED const void *p2, UNUSED const void *p3, UNUSED const void *p4,    \
        UNUSED const void *p5, UNUSED const void *p6
#define ARGUMENTS p1, p2, p3, p4, p5, p6
#define UNUSED __attribute__((unused))

/* Helpers for the parameters in a row. */
#define INT(p) ((size_t)(int)(uintptr_t)(p))
#define UINT(p) ((size_t)(unsigned)(uintptr_t)(p))
#define ITEMS(n, size) gsh_libc_io_ranges_product((size_t)(n), (size_t)(size))
#define BITS(p) ((UINT(p) / 64 + 1) * 8) /* size of a descriptor set with descriptors below p */
#define OF_SELF(pid, n) ((pid_t)UINT(pid) == getpid() ? (n) : NULL)

typedef long function(PARAMETERS);
typedef long numbered_function(long number, PARAMETERS);

/* For syscall_entry.S: the function that performs the system call. */
numbered_function *gsh_libc_io_choose(long number, PARAMETERS);

/* ---- the real functions ---- */

#define KERNEL(name, ranges)
#define BOTH LIBC

GSH_LIBC_CALLS_IO(GSH_LIBC_REAL_DECLARE)
#define LIBC(name, ranges) GSH_LIBC_REAL_DECLARE(long, name, (PARAMETERS))
#include "io_calls.def"
#undef LIBC

static struct {
#define LIBC(name, ranges) GSH_LIBC_REAL_MEMBER(long, name, (PARAMETERS))
#include "io_calls.def"
#undef LIBC
    GSH_LIBC_CALLS_IO(GSH_LIBC_REAL_MEMBER)
} real = {
#define LIBC(name, ranges) GSH_LIBC_REAL_INITIAL(long, name, )
#include "io_calls.def"
#undef LIBC
    GSH_LIBC_CALLS_IO(GSH_LIBC_REAL_INITIAL)};

GSH_LIBC_CALLS_IO(GSH_LIBC_REAL_DEFINE)
#define LIBC(name, ranges) GSH_LIBC_REAL_DEFINE(long, name, (PARAMETERS), (ARGUMENTS))
#include "io_calls.def"
#undef LIBC
#undef KERNEL
#undef BOTH

/* ---- the ranges of each row ---- */

#define MOST_RANGES 6 /* in one row */
#define READS false
#define WRITES true

/* RANGE(shape, pointer, count, access): a shape of libc_io_ranges.h. FROM: like RANGE, but the
 * count must be computed. */
#define IN(p, n) RANGE(bytes, p, n, READS)
#define OUT(p, n) RANGE(bytes, p, n, WRITES)
#define STREAM_IN(p, n) RANGE(stream, p, n, READS)
#define STREAM_OUT(p, n) RANGE(stream, p, n, WRITES)
#define OPEN_IN(p) FROM(bytes, p, gsh_libc_io_usable(p, GSH_LIBC_IO_OPEN_BYTES), READS)
#define OPEN_OUT(p) FROM(bytes, p, gsh_libc_io_usable(p, GSH_LIBC_IO_OPEN_BYTES), WRITES)
#define PATH(p) FROM(bytes, p, gsh_libc_io_usable(p, PATH_MAX), READS)
#define TEXT(p) FROM(stream, p, gsh_libc_io_text(p), READS)
#define SIZED(p, length) OPEN_OUT(p) OUT(length, sizeof(socklen_t))
#define VECTOR_IN(p, n) RANGE(vector, p, n, READS)
#define VECTOR_OUT(p, n) RANGE(vector, p, n, WRITES)
#define MESSAGE_IN(p) RANGE(message, p, 1, READS)
#define MESSAGE_OUT(p) RANGE(message, p, 1, WRITES)
#define MESSAGES_IN(p, n) RANGE(messages, p, n, READS)
#define MESSAGES_OUT(p, n) RANGE(messages, p, n, WRITES)
#define CONTROL(p, request) RANGE(control, p, request, WRITES)
#define ARGUMENT(p) FROM(fetched, p, gsh_libc_io_usable(p, GSH_LIBC_IO_TEXT_BYTES), READS)
#define STRINGS(p) RANGE(strings, p, 1, READS)
#define KEPT(p, n) RANGE(kept, p, n, WRITES)
#define STACK(p) RANGE(stack, p, 1, WRITES)
#define REQUEST(p) RANGE(request, p, 1, WRITES)
#define REQUESTS(p, n) RANGE(requests, p, n, WRITES)

/* Whether any range touches the arena. */
#define RANGE(shape, p, n, access) || gsh_libc_io_ranges_##shape##_touches(p, (size_t)(n))
#define FROM(shape, p, n, access) || gsh_arena_contains(p)
#define LIBC(name, ranges)                                                                         \
    static inline bool touches_##name(PARAMETERS)                                                  \
    {                                                                                              \
        return false ranges;                                                                       \
    }
#define BOTH LIBC
#define KERNEL LIBC
#include "io_calls.def"
#undef RANGE
#undef FROM
#undef LIBC

/* Lists all ranges; returns their number. */
typedef size_t list_function(struct gsh_libc_io_range *to, PARAMETERS);

#define RANGE(shape, p, n, access) {gsh_libc_io_ranges_##shape##_walk, p, (size_t)(n), access},
#define FROM RANGE
#define LIBC(name, ranges)                                                                         \
    static __attribute__((cold)) size_t list_##name(struct gsh_libc_io_range *to, PARAMETERS)      \
    {                                                                                              \
        const struct gsh_libc_io_range own[] = {ranges};                                           \
        _Static_assert(GSH_COUNT(own) <= MOST_RANGES, #name);                                      \
        memcpy(to, own, sizeof own);                                                               \
        return GSH_COUNT(own);                                                                     \
    }
#include "io_calls.def"
#undef RANGE
#undef FROM
#undef LIBC
#undef BOTH
#undef KERNEL

/* ---- a call with pinned memory ---- */

struct call {
    const char *name;
    function *real; /* NULL: the system call `number` */
    long number;
    const void *arguments[6];
    size_t count;
    struct gsh_libc_io_range held[MOST_RANGES];
};

static long perform(const struct call *call)
{
    const void *const *p = call->arguments;
    if (call->real != NULL)
        return call->real(p[0], p[1], p[2], p[3], p[4], p[5]);
    return REAL(syscall)(call->number, p[0], p[1], p[2], p[3], p[4], p[5]);
}

static void hold(const struct call *call)
{
    GSH_READER(call->name);
    for (size_t i = 0; i < call->count; i++)
        call->held[i].walk(call->held[i].pointer, call->held[i].count, call->held[i].write,
                           gsh_coherence_pin);
}

/* Unpins the ranges. Also runs if the thread is cancelled inside the real call. */
static void let_go(void *argument)
{
    const struct call *call = argument;
    int keep = errno;
    for (size_t i = 0; i < call->count; i++)
        call->held[i].walk(call->held[i].pointer, call->held[i].count, call->held[i].write,
                           gsh_coherence_unpin);
    errno = keep;
}

/* Only the real call can be cancelled, never a walk that has pinned some of the ranges. */
static long perform_held(struct call *call)
{
    long outcome;
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_cleanup_push(let_go, call);
    hold(call);
    pthread_setcancelstate(cancel, NULL);
    outcome = perform(call);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cleanup_pop(1);
    pthread_setcancelstate(cancel, NULL);
    return outcome;
}

/* ---- the functions ---- */

static __attribute__((noinline)) long call_held(const char *name, list_function *ranges,
                                                function *real_one, PARAMETERS)
{
    struct call call = {.name = name, .real = real_one, .arguments = {ARGUMENTS}};
    call.count = ranges(call.held, ARGUMENTS);
    return perform_held(&call);
}

#define LIBC(name, ranges)                                                                         \
    GSH_EXPORT long entry_##name(PARAMETERS) __asm__(#name);                                       \
    long entry_##name(PARAMETERS)                                                                  \
    {                                                                                              \
        if (GSH_LIKELY(!touches_##name(ARGUMENTS)))                                                \
            return REAL(name)(ARGUMENTS);                                                          \
        return call_held(#name, list_##name, REAL(name), ARGUMENTS);                               \
    }
#define BOTH LIBC
#define KERNEL(name, ranges)
#include "io_calls.def"
#undef LIBC
#undef BOTH
#undef KERNEL

/* ---- system calls by number ---- */

enum {
    NOT_KNOWN,
#define LIBC(name, ranges)
#define BOTH(name, ranges) CALL_##name,
#define KERNEL BOTH
#include "io_calls.def"
#undef LIBC
#undef BOTH
#undef KERNEL
};

/* By number. Apart from the table, because few numbers are in use, and the loader writes a table's addresses. */
static const uint8_t calls_of_numbers[] = {
#define LIBC(name, ranges)
#define BOTH(name, ranges) [SYS_##name] = CALL_##name,
#define KERNEL BOTH
#include "io_calls.def"
#undef LIBC
#undef BOTH
#undef KERNEL
};

static const struct {
    const char *name;
    bool (*touches)(PARAMETERS);
    list_function *ranges;
} kernel_calls[] = {
#define LIBC(name, ranges)
#define BOTH(name, ranges) [CALL_##name] = {#name, touches_##name, list_##name},
#define KERNEL BOTH
#include "io_calls.def"
#undef LIBC
#undef BOTH
#undef KERNEL
};
_Static_assert(GSH_COUNT(kernel_calls) <= UINT8_MAX + 1, "calls_of_numbers holds their places");

static inline unsigned call_of(long number)
{
    return (size_t)number < GSH_COUNT(calls_of_numbers) ? calls_of_numbers[number] : NOT_KNOWN;
}

static inline bool number_touches(long number, PARAMETERS)
{
    return gsh_arena_end != 0 && call_of(number) != NOT_KNOWN &&
           kernel_calls[call_of(number)].touches(ARGUMENTS);
}

static long number_held(long number, PARAMETERS)
{
    unsigned place = call_of(number);
    struct call call = {
        .name = kernel_calls[place].name, .number = number, .arguments = {ARGUMENTS}};
    call.count = kernel_calls[place].ranges(call.held, ARGUMENTS);
    return perform_held(&call);
}

/* A system call that opens a file: reports the descriptor to unseen.h. */
static long number_opening(long number, PARAMETERS)
{
    long file = number_touches(number, ARGUMENTS) ? number_held(number, ARGUMENTS)
                                                  : REAL(syscall)(number, ARGUMENTS);
    gsh_unseen_note_file((int)file, NULL);
    return file;
}

numbered_function *gsh_libc_io_choose(long number, PARAMETERS)
{
    gsh_unseen_note_syscall(number);
    if (GSH_UNLIKELY(gsh_unseen_opens_file(number)))
        return number_opening;
    if (GSH_UNLIKELY(number_touches(number, ARGUMENTS)))
        return number_held;
    return REAL(syscall);
}

/* ---- functions without a row ---- */

/* The seventh argument is on the stack. */
GSH_EXPORT long entry___recvfrom_chk(PARAMETERS, const void *p7) __asm__("__recvfrom_chk");
long entry___recvfrom_chk(PARAMETERS, const void *p7)
{
    if ((size_t)p3 > (size_t)p4)
        return REAL(__recvfrom_chk)(ARGUMENTS, p7);
    return entry_recvfrom(p1, p2, p3, p5, p6, p7);
}

/* A stream uses its buffer until it is closed. A buffer in an array is replaced by NULL, so that
 * libc allocates one. */
static char *open_buffer(char *buffer, size_t size)
{
    return gsh_arena_overlaps(buffer, size) ? NULL : buffer;
}

GSH_EXPORT int entry_setvbuf(FILE *stream, char *buffer, int mode, size_t size) __asm__("setvbuf");
int entry_setvbuf(FILE *stream, char *buffer, int mode, size_t size)
{
    return REAL(setvbuf)(stream, open_buffer(buffer, size), mode, size);
}

GSH_EXPORT void entry_setbuffer(FILE *stream, char *buffer, size_t size) __asm__("setbuffer");
void entry_setbuffer(FILE *stream, char *buffer, size_t size)
{
    if (GSH_LIKELY(open_buffer(buffer, size) == buffer))
        REAL(setbuffer)(stream, buffer, size);
    else
        REAL(setvbuf)(stream, NULL, _IOFBF, size);
}

GSH_EXPORT void entry_setbuf(FILE *stream, char *buffer) __asm__("setbuf");
void entry_setbuf(FILE *stream, char *buffer)
{
    if (GSH_LIKELY(open_buffer(buffer, BUFSIZ) == buffer))
        REAL(setbuf)(stream, buffer);
    else
        REAL(setvbuf)(stream, NULL, _IOFBF, BUFSIZ);
}

void gsh_libc_io_resolve(void)
{
#define X(result, name, ...) FIND(name);
    GSH_LIBC_CALLS_IO(X)
#undef X
#define LIBC(name, ranges) FIND(name);
#define BOTH LIBC
#define KERNEL(name, ranges)
#include "io_calls.def"
#undef LIBC
#undef BOTH
#undef KERNEL
}
