/* SPDX-License-Identifier: Apache-2.0
 *
 * Two methods to fill a closed page. "swap": the pages move to a window (mremap DONTUNMAP, so the place stays mapped
 * and closed), are opened and filled there, and move back. "procmem": bytes go through a buffer and a write to
 * /proc/self/mem, which ignores protection; then the pages are opened. Both keep huge pages, fork and merging intact.
 */
#include "pages.h"

#include "lock.h"
#include "log.h"
#include "options.h"
#include "raw_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define WINDOW_BYTES ((size_t)64 << 20)
#define STAGING_BYTES ((size_t)1 << 20)
#define ASKED_FOR_BYTES ((size_t)1 << 30) /* first touch takes 10,000 times as long as asking */

enum fill_method { FILL_SWAP, FILL_PROCMEM };

static enum fill_method fill_method;
static uintptr_t window;
static unsigned char *staging;
static bool has_procmem;
static _Atomic uint32_t fill_lock;

bool gsh_pages_protect_sigsafe(uintptr_t base, size_t size, int protection)
{
    return gsh_raw_syscall3(SYS_mprotect, (long)base, (long)size, protection) == 0;
}

int64_t gsh_pages_max_mappings(void)
{
    char text[32] = "";
    int file = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : syscall(SYS_read, file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    long long value = 0;
    if (length > 0 && sscanf(text, "%lld", &value) == 1 && value > 0)
        return value;
    return 65530;
}

static bool move_pages(uintptr_t from, uintptr_t to, size_t size)
{
    long moved = gsh_raw_syscall5(SYS_mremap, (long)from, (long)size, (long)size,
                                  MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, (long)to);
    return moved == (long)to;
}

typedef enum gsh_status fetch_function(void *context, void *to, size_t offset, size_t bytes);

/* The window has the block's offset within a 2 MiB page, so that huge pages move whole. */
static enum gsh_status fill_by_swap(uintptr_t base, size_t size, int protection, size_t done,
                                    fetch_function *fetch, void *context)
{
    uintptr_t place = window + (base & (GSH_GRANULE_LARGE - 1));
    if (!move_pages(base, place, size))
        return GSH_FAILED;
    enum gsh_status status = GSH_FAILED;
    if (gsh_pages_protect_sigsafe(place, size, PROT_READ | PROT_WRITE))
        status = fetch(context, (void *)place, done, size);
    int final = status == GSH_OK ? protection : PROT_NONE;
    if (!gsh_pages_protect_sigsafe(place, size, final) || !move_pages(place, base, size))
        status = GSH_FAILED;
    gsh_pages_protect_sigsafe(place, size, PROT_NONE);
    return status;
}

static int open_procmem(void)
{
    static const char path[] = "/proc/self/mem";
    return (int)gsh_raw_syscall3(SYS_open, (long)path, O_RDWR | O_CLOEXEC, 0);
}

static enum gsh_status write_through(int procmem, uintptr_t base, size_t size, size_t done,
                                     fetch_function *fetch, void *context)
{
    for (size_t offset = 0; offset < size; offset += STAGING_BYTES) {
        size_t bytes = GSH_MIN(STAGING_BYTES, size - offset);
        GSH_TRY(fetch(context, staging, done + offset, bytes));
        if (syscall(SYS_pwrite64, procmem, staging, bytes, base + offset) != (long)bytes)
            return GSH_FAILED;
    }
    return GSH_OK;
}

/* Opens /proc/self/mem each time: the program could close a kept descriptor and use its number for another file. */
static enum gsh_status fill_by_procmem(uintptr_t base, size_t size, int protection, size_t done,
                                       fetch_function *fetch, void *context)
{
    int procmem = open_procmem();
    if (procmem < 0)
        return GSH_FAILED;
    enum gsh_status status = write_through(procmem, base, size, done, fetch, context);
    close(procmem);
    GSH_TRY(status);
    return gsh_pages_protect_sigsafe(base, size, protection) ? GSH_OK : GSH_FAILED;
}

/* A range that consists of several mappings cannot be moved; its bytes are then written through /proc/self/mem. */
static enum gsh_status fill_piece(uintptr_t base, size_t size, int protection, size_t done,
                                  fetch_function *fetch, void *context)
{
    enum gsh_status status = GSH_FAILED;
    if (fill_method == FILL_SWAP)
        status = fill_by_swap(base, size, protection, done, fetch, context);
    if (status != GSH_OK && has_procmem)
        status = fill_by_procmem(base, size, protection, done, fetch, context);
    return status;
}

enum gsh_status gsh_pages_fill(uintptr_t base, size_t size, int protection, fetch_function *fetch,
                               void *context)
{
    int keep = errno;
    enum gsh_status status = GSH_OK;
    gsh_lock_word_acquire_sigsafe(&fill_lock, GSH_RANK_FILL);
    for (size_t done = 0; done < size && status == GSH_OK;) {
        size_t piece = GSH_MIN(size - done, WINDOW_BYTES - GSH_GRANULE_LARGE);
        status = fill_piece(base + done, piece, protection, done, fetch, context);
        done += piece;
    }
    if (status != GSH_OK)
        gsh_pages_protect_sigsafe(base, size, PROT_NONE);
    gsh_lock_word_release_sigsafe(&fill_lock, GSH_RANK_FILL);
    errno = keep;
    return status;
}

/* ---- self-test ---- */

static enum gsh_status fetch_pattern(void *context, void *to, size_t offset, size_t bytes)
{
    (void)offset;
    memset(to, *(int *)context, bytes);
    return GSH_OK;
}

/* Fills closed pages twice and reads them back. */
static bool works(enum fill_method method, uintptr_t scratch)
{
    fill_method = method;
    size_t size = GSH_GRANULE_LARGE;
    bool right = true;
    for (int pattern = 1; pattern <= 2 && right; pattern++) {
        right = gsh_pages_protect_sigsafe(scratch, size, PROT_NONE) &&
                gsh_pages_fill(scratch, size, PROT_READ, fetch_pattern, &pattern) == GSH_OK;
        const volatile unsigned char *bytes = (const unsigned char *)scratch;
        right = right && bytes[0] == pattern && bytes[size / 2] == pattern &&
                bytes[size - 1] == pattern;
    }
    gsh_pages_protect_sigsafe(scratch, size, PROT_READ | PROT_WRITE);
    return right;
}

static void *map_private(size_t size, int protection)
{
    void *range = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return range == MAP_FAILED ? NULL : range;
}

static bool has_huge_pages(void)
{
    char text[64] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    bool is_read = file != NULL && fgets(text, sizeof text, file) != NULL;
    if (file != NULL)
        (void)fclose(file);
    return is_read && strstr(text, "[never]") == NULL;
}

/* Before Linux 5.18 a page under MADV_FREE could be lost while a device or direct I/O was writing to it
 * (https://git.kernel.org/torvalds/c/6c8e2a256915). */
bool gsh_pages_can_offer(void)
{
    struct utsname system;
    int major = 0, minor = 0;
    return has_huge_pages() && uname(&system) == 0 &&
           sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 18));
}

/* The arena's range was reserved without asking whether the system would grant it. */
bool gsh_pages_are_granted(size_t size)
{
    if (size < ASKED_FOR_BYTES)
        return true;
    void *range = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return range != MAP_FAILED && munmap(range, size) == 0;
}

enum gsh_status gsh_pages_init(uintptr_t scratch)
{
    void *range = map_private(WINDOW_BYTES + GSH_GRANULE_LARGE, PROT_NONE);
    staging = map_private(STAGING_BYTES, PROT_READ | PROT_WRITE);
    int procmem = open_procmem();
    has_procmem = procmem >= 0;
    if (has_procmem)
        close(procmem);
    if (range == NULL || staging == NULL)
        return GSH_DECLINED;
    window = gsh_round_up((uintptr_t)range, GSH_GRANULE_LARGE);
    int64_t wanted = gsh_option_number(GSH_OPTION_FILL);
    if (wanted != 2 && works(FILL_SWAP, scratch))
        return GSH_OK;
    if (has_procmem && works(FILL_PROCMEM, scratch))
        return GSH_OK;
    gsh_log(GSH_LOG_INFO, "this system has no safe way to fill protected pages");
    return GSH_DECLINED;
}

void gsh_pages_reset_after_fork(void)
{
    atomic_store(&fill_lock, 0);
    gsh_lock_words_forget_after_fork(GSH_RANK_FILL);
}
