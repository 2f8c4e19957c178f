/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that a call passes to the kernel, as the rows of io_calls.def describe it: whether it
 * touches the arena, and which ranges must be fetched to the host and pinned for the call. Nothing
 * here allocates or locks, and all of it works before main() and between vfork and exec. Structures
 * with pointers are read here before the kernel reads them, unless their address is null or a
 * kernel address.
 */
#pragma once

#include "arena.h"
#include "base.h"
#include "coherence.h"

#include <stddef.h>
#include <string.h>

/* gsh_coherence_pin, or gsh_coherence_unpin. */
typedef void gsh_libc_io_pass(const void *address, size_t size, bool write);

/* One piece of a call's memory. `walk` calls `pass` for all memory that belongs to it. Pin and
 * unpin visit the same memory unless its contents changed in between. */
struct gsh_libc_io_range {
    void (*walk)(const void *pointer, size_t count, bool write, gsh_libc_io_pass *pass);
    const void *pointer;
    size_t count; /* bytes, or structures */
    bool write;   /* the kernel may write there */
};

#define GSH_LIBC_IO_KERNEL_LIMIT                                                                   \
    ((size_t)0x7ffff000) /* MAX_RW_COUNT: Linux limits every transfer to this; stdio loops */
#define GSH_LIBC_IO_OPEN_BYTES                                                                     \
    ((size_t)65536) /* more than any ioctl or socket option writes to an array */
#define GSH_LIBC_IO_TEXT_BYTES ((size_t)131072) /* MAX_ARG_STRLEN: the longest string of exec */

/* size * items. On overflow: a value larger than any memory. */
size_t gsh_libc_io_ranges_product(size_t size, size_t items);
/* The number of bytes from `data` on that are in the same block, at most `most`. 0 outside the
 * arena. */
static inline size_t gsh_libc_io_usable(const void *data, size_t most)
{
    return gsh_arena_contains(data) ? GSH_MIN(gsh_arena_usable((void *)(uintptr_t)data), most) : 0;
}
/* The length of a string in the arena, including the NUL, of any length. The string is read. 0
 * outside the arena. */
static inline size_t gsh_libc_io_text(const void *text)
{
    return gsh_arena_contains(text) ? strlen((const char *)text) + 1 : 0;
}

/* For each shape: a function that tells whether memory of `count` bytes or structures touches the arena
 * (two comparisons for bytes), and the walk.
 * bytes     at most what one call of the kernel moves
 * stream    any number of bytes
 * kept      bytes that stay pinned until their block is freed
 * fetched   bytes that are fetched but not pinned: after a successful exec in a vfork child nobody could
 *           unpin the parent's memory
 * strings   a null-terminated array of pointers to strings, treated as fetched; count is unused
 * vector    structures iovec and the memory they point to
 * message   structures msghdr, likewise; messages: mmsghdr
 * control   memory that an ioctl's structure points to; `count` is the request
 * stack     a structure stack_t, whose memory is kept
 * request   a structure aiocb, whose memory is kept; requests: pointers to aiocb, some of them null */
#define GSH_LIBC_IO_SHAPES(X)                                                                      \
    X(bytes)                                                                                       \
    X(stream)                                                                                      \
    X(kept)                                                                                        \
    X(fetched)                                                                                     \
    X(strings) X(vector) X(message) X(messages) X(control) X(stack) X(request) X(requests)
#define GSH_LIBC_IO_DECLARE(shape)                                                                 \
    void gsh_libc_io_ranges_##shape##_walk(const void *pointer, size_t count, bool write,          \
                                           gsh_libc_io_pass *pass);
GSH_LIBC_IO_SHAPES(GSH_LIBC_IO_DECLARE)
#undef GSH_LIBC_IO_DECLARE

static inline bool gsh_libc_io_ranges_stream_touches(const void *data, size_t size)
{
    return gsh_arena_overlaps(data, size);
}
static inline bool gsh_libc_io_ranges_bytes_touches(const void *data, size_t size)
{
    return gsh_arena_overlaps(data, GSH_MIN(size, GSH_LIBC_IO_KERNEL_LIMIT));
}
static inline bool gsh_libc_io_ranges_kept_touches(const void *data, size_t size)
{
    return gsh_libc_io_ranges_bytes_touches(data, size);
}
bool gsh_libc_io_ranges_strings_touches(const void *strings, size_t unused);
bool gsh_libc_io_ranges_vector_touches(const void *vector, size_t count);
bool gsh_libc_io_ranges_message_touches(const void *message, size_t count);
bool gsh_libc_io_ranges_messages_touches(const void *messages, size_t count);
bool gsh_libc_io_ranges_control_touches(const void *structure, size_t request);
bool gsh_libc_io_ranges_stack_touches(const void *stack, size_t unused);
bool gsh_libc_io_ranges_request_touches(const void *request, size_t unused);
bool gsh_libc_io_ranges_requests_touches(const void *requests, size_t count);

/* Fetches the part of the memory in the arena, for a system call that follows at once and does not
 * block. Keeps errno. */
static inline void gsh_libc_io_reach(const void *memory, size_t size, bool write)
{
    if (GSH_UNLIKELY(gsh_arena_overlaps(memory, size))) {
        gsh_coherence_pin(memory, size, write);
        gsh_coherence_unpin(memory, size, write);
    }
}
