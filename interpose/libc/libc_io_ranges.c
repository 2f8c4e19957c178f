/* SPDX-License-Identifier: Apache-2.0
 *
 * The shapes of io_calls.def. Checked by tests/unit/interpose/libc/test_libc_io.c.
 */
#include "libc_io_ranges.h"

#include <aio.h>
#include <limits.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <scsi/sg.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define READS false
#define WRITES true

size_t gsh_libc_io_ranges_product(size_t size, size_t items)
{
    size_t bytes;
    return gsh_mul(size, items, &bytes) && bytes <= SSIZE_MAX ? bytes : SSIZE_MAX;
}

/* ---- bytes ---- */

void gsh_libc_io_ranges_stream_walk(const void *data, size_t size, bool write,
                                    gsh_libc_io_pass *pass)
{
    if (gsh_libc_io_ranges_stream_touches(data, size))
        pass(data, size, write);
}

void gsh_libc_io_ranges_bytes_walk(const void *data, size_t size, bool write,
                                   gsh_libc_io_pass *pass)
{
    gsh_libc_io_ranges_stream_walk(data, GSH_MIN(size, GSH_LIBC_IO_KERNEL_LIMIT), write, pass);
}

void gsh_libc_io_ranges_kept_walk(const void *data, size_t size, bool write, gsh_libc_io_pass *pass)
{
    if (pass == gsh_coherence_pin)
        gsh_libc_io_ranges_bytes_walk(data, size, write, pass);
}

static void open_walk(const void *data, bool write, gsh_libc_io_pass *pass)
{
    gsh_libc_io_ranges_stream_walk(data, gsh_libc_io_usable(data, GSH_LIBC_IO_OPEN_BYTES), write,
                                   pass);
}

/* ---- structures with pointers ---- */

/* Whether an array of `count` elements may be read here. False if the arena does not exist yet, or
 * if the kernel refuses the array without reading it (null and kernel addresses). */
static inline bool is_readable(const void *array, size_t count)
{
    return gsh_arena_end != 0 && count - 1 < IOV_MAX && (intptr_t)array >= 4096;
}

bool gsh_libc_io_ranges_vector_touches(const void *pointer, size_t count)
{
    if (!is_readable(pointer, count))
        return false;
    const struct iovec *vector = pointer;
    bool touches = gsh_arena_overlaps(vector, count * sizeof *vector);
    for (size_t i = 0; i < count && !touches; i++)
        touches = gsh_libc_io_ranges_bytes_touches(vector[i].iov_base, vector[i].iov_len);
    return touches;
}

void gsh_libc_io_ranges_vector_walk(const void *pointer, size_t count, bool write,
                                    gsh_libc_io_pass *pass)
{
    if (!is_readable(pointer, count))
        return;
    const struct iovec *vector = pointer;
    gsh_libc_io_ranges_bytes_walk(vector, count * sizeof *vector, READS, pass);
    for (size_t i = 0; i < count; i++)
        gsh_libc_io_ranges_bytes_walk(vector[i].iov_base, vector[i].iov_len, write, pass);
}

bool gsh_libc_io_ranges_message_touches(const void *pointer, size_t count)
{
    const struct msghdr *message = pointer;
    return is_readable(message, count) &&
           (gsh_arena_overlaps(message, sizeof *message) || gsh_arena_contains(message->msg_name) ||
            gsh_arena_contains(message->msg_control) ||
            gsh_libc_io_ranges_vector_touches(message->msg_iov, message->msg_iovlen));
}

/* Name and control data are treated as memory of unknown size, since recvmsg changes their lengths
 * between pin and unpin. */
void gsh_libc_io_ranges_message_walk(const void *pointer, size_t count, bool write,
                                     gsh_libc_io_pass *pass)
{
    if (!is_readable(pointer, count))
        return;
    const struct msghdr *message = pointer;
    gsh_libc_io_ranges_bytes_walk(message, sizeof *message, write, pass);
    open_walk(message->msg_name, write, pass);
    open_walk(message->msg_control, write, pass);
    gsh_libc_io_ranges_vector_walk(message->msg_iov, message->msg_iovlen, write, pass);
}

/* Linux truncates longer arrays of messages to IOV_MAX, but refuses longer vectors. */
bool gsh_libc_io_ranges_messages_touches(const void *pointer, size_t count)
{
    const struct mmsghdr *messages = pointer;
    count = GSH_MIN(count, IOV_MAX);
    if (!is_readable(messages, count))
        return false;
    bool touches = gsh_arena_overlaps(messages, count * sizeof *messages);
    for (size_t i = 0; i < count && !touches; i++)
        touches = gsh_libc_io_ranges_message_touches(&messages[i].msg_hdr, 1);
    return touches;
}

void gsh_libc_io_ranges_messages_walk(const void *pointer, size_t count, bool write,
                                      gsh_libc_io_pass *pass)
{
    const struct mmsghdr *messages = pointer;
    count = GSH_MIN(count, IOV_MAX);
    if (!is_readable(messages, count))
        return;
    gsh_libc_io_ranges_bytes_walk(messages, count * sizeof *messages, WRITES, pass);
    for (size_t i = 0; i < count; i++)
        gsh_libc_io_ranges_message_walk(&messages[i].msg_hdr, 1, write, pass);
}

/* ---- structures of ioctl ---- */

/* Requests whose structures contain pointers to memory of any size: ioctl_list(2), netdevice(7). */
static const struct {
    size_t request, pointer; /* offset of the pointer in the structure */
} nested_pointers[] = {{SIOCGIFCONF, offsetof(struct ifconf, ifc_buf)},
                       {SIOCETHTOOL, offsetof(struct ifreq, ifr_data)},
                       {SG_IO, offsetof(struct sg_io_hdr, dxferp)},
                       {SG_IO, offsetof(struct sg_io_hdr, cmdp)},
                       {SG_IO, offsetof(struct sg_io_hdr, sbp)}};

static const void *find_nested(const void *structure, size_t request, size_t row)
{
    const void *nested = NULL;
    if (request == nested_pointers[row].request && is_readable(structure, 1))
        memcpy(&nested, (const char *)structure + nested_pointers[row].pointer, sizeof nested);
    return nested;
}

bool gsh_libc_io_ranges_control_touches(const void *structure, size_t request)
{
    bool touches = false;
    for (size_t row = 0; row < GSH_COUNT(nested_pointers) && !touches; row++)
        touches = gsh_arena_contains(find_nested(structure, request, row));
    return touches;
}

void gsh_libc_io_ranges_control_walk(const void *structure, size_t request, bool write,
                                     gsh_libc_io_pass *pass)
{
    for (size_t row = 0; row < GSH_COUNT(nested_pointers); row++) {
        const void *nested = find_nested(structure, request, row);
        gsh_libc_io_ranges_stream_walk(nested, gsh_libc_io_usable(nested, SIZE_MAX), write, pass);
    }
}

/* ---- arrays of pointers ---- */

/* Fetches the memory to the host; it is not pinned afterwards. */
void gsh_libc_io_ranges_fetched_walk(const void *data, size_t size, bool write,
                                     gsh_libc_io_pass *pass)
{
    if (pass != gsh_coherence_pin)
        return;
    gsh_libc_io_ranges_stream_walk(data, size, write, gsh_coherence_pin);
    gsh_libc_io_ranges_stream_walk(data, size, write, gsh_coherence_unpin);
}

static size_t count_strings(const char *const *strings)
{
    if (gsh_arena_end == 0 || (intptr_t)strings < 4096)
        return 0;
    size_t count = 0;
    while (strings[count] != NULL)
        count++;
    return count;
}

bool gsh_libc_io_ranges_strings_touches(const void *pointer, size_t unused)
{
    (void)unused;
    const char *const *strings = pointer;
    bool touches = gsh_arena_contains(strings);
    size_t count = touches ? 0 : count_strings(strings);
    for (size_t i = 0; i < count && !touches; i++)
        touches = gsh_arena_contains(strings[i]);
    return touches;
}

void gsh_libc_io_ranges_strings_walk(const void *pointer, size_t unused, bool write,
                                     gsh_libc_io_pass *pass)
{
    (void)unused;
    const char *const *strings = pointer;
    size_t count = count_strings(strings);
    gsh_libc_io_ranges_fetched_walk(strings, (count + 1) * sizeof *strings, write, pass);
    for (size_t i = 0; i < count; i++)
        gsh_libc_io_ranges_fetched_walk(
            strings[i], gsh_libc_io_usable(strings[i], GSH_LIBC_IO_TEXT_BYTES), write, pass);
}

/* ---- memory used after the call ---- */

bool gsh_libc_io_ranges_stack_touches(const void *pointer, size_t unused)
{
    (void)unused;
    const stack_t *stack = pointer;
    return gsh_arena_end != 0 && stack != NULL && (stack->ss_flags & SS_DISABLE) == 0 &&
           gsh_libc_io_ranges_bytes_touches(stack->ss_sp, stack->ss_size);
}

void gsh_libc_io_ranges_stack_walk(const void *pointer, size_t unused, bool write,
                                   gsh_libc_io_pass *pass)
{
    (void)unused;
    const stack_t *stack = pointer;
    if (gsh_libc_io_ranges_stack_touches(stack, 1))
        gsh_libc_io_ranges_kept_walk(stack->ss_sp, stack->ss_size, write, pass);
}

bool gsh_libc_io_ranges_request_touches(const void *pointer, size_t unused)
{
    (void)unused;
    const struct aiocb *request = pointer;
    return gsh_arena_end != 0 && request != NULL &&
           gsh_libc_io_ranges_bytes_touches((const void *)request->aio_buf, request->aio_nbytes);
}

void gsh_libc_io_ranges_request_walk(const void *pointer, size_t unused, bool write,
                                     gsh_libc_io_pass *pass)
{
    (void)unused;
    const struct aiocb *request = pointer;
    if (gsh_libc_io_ranges_request_touches(request, 1))
        gsh_libc_io_ranges_kept_walk((const void *)request->aio_buf, request->aio_nbytes, write,
                                     pass);
}

bool gsh_libc_io_ranges_requests_touches(const void *pointer, size_t count)
{
    const struct aiocb *const *requests = pointer;
    bool touches = false;
    if (is_readable(requests, count))
        for (size_t i = 0; i < count && !touches; i++)
            touches = gsh_libc_io_ranges_request_touches(requests[i], 1);
    return touches;
}

void gsh_libc_io_ranges_requests_walk(const void *pointer, size_t count, bool write,
                                      gsh_libc_io_pass *pass)
{
    const struct aiocb *const *requests = pointer;
    if (is_readable(requests, count))
        for (size_t i = 0; i < count; i++)
            gsh_libc_io_ranges_request_walk(requests[i], 1, write, pass);
}
