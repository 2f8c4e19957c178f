/* SPDX-License-Identifier: Apache-2.0
 *
 * A call on pages outside the arena costs two comparisons and a tail call. Functions are exported
 * through assembler labels, as in libc_io.c. Checked by
 * tests/unit/interpose/libc/test_libc_memory.c.
 */
#include "libc_memory.h"

#include "libc_calls.h"
#include "libc_real.h"
#include "page_changes.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/types.h>
#include <sys/uio.h>

GSH_LIBC_REAL_TABLE(GSH_LIBC_CALLS_MEMORY)

static inline void change(const void *address, size_t size, enum gsh_page_change what)
{
    if (GSH_UNLIKELY(gsh_arena_overlaps(address, size)))
        gsh_page_changes_prepare(address, size, what);
}

/* Whether the advice leaves contents, protection and inheritance by children unchanged. */
static bool is_harmless(int advice)
{
    switch (advice) {
    case MADV_NORMAL:
    case MADV_RANDOM:
    case MADV_SEQUENTIAL:
    case MADV_WILLNEED:
    case MADV_MERGEABLE:
    case MADV_UNMERGEABLE:
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
    case MADV_DONTDUMP:
    case MADV_DODUMP:
    case MADV_COLD:
    case MADV_PAGEOUT:
        return true;
    default:
        return false;
    }
}

/* MADV_POPULATE_READ and _WRITE fail on protected pages. Unknown advice counts as replacing the
 * pages. */
static enum gsh_page_change change_by_advice(int advice)
{
    enum { POPULATE_READ = 22, POPULATE_WRITE, DONTNEED_LOCKED, COLLAPSE };
    switch (advice) {
    case MADV_DONTFORK:
    case MADV_DOFORK:
    case MADV_WIPEONFORK:
    case MADV_KEEPONFORK:
    case POPULATE_READ:
    case POPULATE_WRITE:
        return GSH_PAGES_ALTERED;
    case MADV_DONTNEED:
    case MADV_FREE:
    case DONTNEED_LOCKED:
    case COLLAPSE:
        return GSH_PAGES_DISCARDED;
    default:
        return GSH_PAGES_REPLACED;
    }
}

static void advise(const void *address, size_t size, int advice)
{
    if (!is_harmless(advice))
        change(address, size, change_by_advice(advice));
}

/* Treats the ranges as this process's. The kernel accepts only harmless advice for other processes.
 */
static void advise_all(const struct iovec *ranges, size_t count, int advice)
{
    if (is_harmless(advice) || count > IOV_MAX || (intptr_t)ranges < 4096)
        return;
    for (size_t k = 0; k < count; k++)
        advise(ranges[k].iov_base, ranges[k].iov_len, advice);
}

static void move(const void *from, size_t old_size, size_t size, int flags, const void *to)
{
    change(from, old_size, GSH_PAGES_REPLACED);
    if (flags & MREMAP_FIXED)
        change(to, size, GSH_PAGES_REPLACED);
}

static inline void map(const void *address, size_t size, int flags)
{
    if (flags & MAP_FIXED)
        change(address, size, GSH_PAGES_REPLACED);
}

static void attach(int segment, const void *address, int flags)
{
    int keep = errno;
    struct shmid_ds about;
    if ((flags & SHM_REMAP) && shmctl(segment, IPC_STAT, &about) == 0)
        change(address, about.shm_segsz, GSH_PAGES_REPLACED);
    errno = keep;
}

GSH_LIBC_CALLS_MEMORY(GSH_LIBC_REAL_ENTRY)

void gsh_libc_memory_resolve(void)
{
#define X(result, name, ...) FIND(name);
    GSH_LIBC_CALLS_MEMORY(X)
#undef X
}
