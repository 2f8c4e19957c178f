/* SPDX-License-Identifier: Apache-2.0
 *
 * Small blocks whose pages are locked: a slab is unlocked and loses its pages once none of its blocks is in use, and
 * no sooner. It is locked again for the next block, whose pages have the protection that its use requires.
 */
#include "slabs.h"

#include "arena_internal.h"
#include "backend.h"
#include "check.h"
#include "clock.h"
#include "idle.h"
#include "live.h"
#include "raw_syscall.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCKS 96U /* 13 to a slab */
#define BYTES ((size_t)300000)
#define PAGES (BYTES / 4096)

static _Atomic unsigned locked, refused;

/* Refuses closed pages, as a driver does. */
static enum gsh_status lock_pages(void *base, size_t size)
{
    if (gsh_raw_syscall3(SYS_madvise, (long)base, (long)size, MADV_POPULATE_WRITE) != 0) {
        refused++;
        return GSH_FAILED;
    }
    locked++;
    return GSH_OK;
}

static void unlock_pages(void *base, size_t size)
{
    (void)base, (void)size;
    locked--;
}

static size_t count_pages(char *const *blocks)
{
    unsigned char pages[PAGES];
    size_t count = 0;
    for (unsigned k = 0; k < BLOCKS; k++)
        if (CHECK(mincore(blocks[k], PAGES * 4096, pages) == 0))
            for (unsigned page = 0; page < PAGES; page++)
                count += pages[page] & 1;
    return count;
}

/* Whether the kernel may read it for us. */
static bool is_open(const char *block)
{
    static int pipes[2];
    char byte;
    if (pipes[1] == 0)
        CHECK(pipe(pipes) == 0);
    return gsh_raw_syscall3(SYS_write, pipes[1], (long)block, 1) == 1 &&
           read(pipes[0], &byte, 1) == 1;
}

static void allocate(char **blocks, enum gsh_arena_use use)
{
    for (unsigned k = 0; k < BLOCKS; k++) {
        blocks[k] = gsh_arena_allocate(BYTES, use);
        if (!CHECK(blocks[k] != NULL))
            continue;
        const struct gsh_block *block = gsh_arena_find_block(blocks[k]);
        CHECK(gsh_arena_is_registered(block, 0, BYTES));
        CHECK(is_open(blocks[k]) == (use != GSH_ARENA_DEVICE));
        CHECK(use != GSH_ARENA_ZERO || (blocks[k][0] == 0 && blocks[k][BYTES - 1] == 0));
        if (use != GSH_ARENA_DEVICE)
            memset(blocks[k], 1, BYTES);
    }
}

static void free_all_but(char *const *blocks, const char *kept)
{
    for (unsigned k = 0; k < BLOCKS; k++)
        CHECK(blocks[k] == kept || gsh_arena_free(blocks[k]));
}

/* Those that blocks are still cut from may keep their pages, and do not count. */
static void check_given_back(char *const *blocks)
{
    CHECK(locked <= 2);
    CHECK(count_pages(blocks) <= 2 * GSH_SLAB_BYTES / 4096);
}

static void check_use(enum gsh_arena_use use)
{
    char *blocks[BLOCKS];
    for (int round = 0; round < 3; round++) {
        allocate(blocks, use);
        char *kept = blocks[BLOCKS / 2];
        CHECK(count_pages(blocks) == BLOCKS * PAGES);
        free_all_but(blocks, kept);
        CHECK(gsh_slabs_trim(1000)); /* not yet */
        CHECK(count_pages(blocks) == BLOCKS * PAGES);
        (void)gsh_slabs_trim(0);
        const struct gsh_block *live = gsh_arena_find_block(kept);
        CHECK(gsh_arena_is_registered(live, 0, BYTES)); /* with its neighbours */
        CHECK(locked >= 1 && locked <= 3);
        CHECK(use == GSH_ARENA_DEVICE || kept[BYTES - 1] == 1);
        CHECK(gsh_arena_free(kept));
        (void)gsh_slabs_trim(0);
        check_given_back(blocks);
    }
}

/* By the thread that looks. */
static void check_idle(void)
{
    char *blocks[BLOCKS];
    allocate(blocks, GSH_ARENA_HOST);
    free_all_but(blocks, NULL);
    for (uint64_t end = gsh_clock_ns() + 20 * UINT64_C(1000000000);
         (locked > 2 || count_pages(blocks) > 2 * GSH_SLAB_BYTES / 4096) && gsh_clock_ns() < end;)
        usleep(20000);
    check_given_back(blocks);
}

/* No slab is locked while pages of one of its blocks are discarded, and no pages of one that is locked. */
static void check_discard(void)
{
    char *blocks[BLOCKS];
    allocate(blocks, GSH_ARENA_HOST);
    const struct gsh_block *block = gsh_arena_find_block(blocks[BLOCKS / 2]);
    CHECK(!gsh_slabs_begin_discard(block));
    free_all_but(blocks, NULL);
    (void)gsh_slabs_trim(0);
    CHECK(gsh_slabs_begin_discard(block));
    for (unsigned k = 0; k < BLOCKS; k++)
        blocks[k] = gsh_arena_allocate(BYTES, GSH_ARENA_HOST);
    CHECK(!gsh_arena_is_registered(block, 0, BYTES));
    gsh_slabs_end_discard(block);
    free_all_but(blocks, NULL);
    allocate(blocks, GSH_ARENA_HOST);
    free_all_but(blocks, NULL);
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    static struct gsh_backend backend;
    backend = *gsh_backend_get();
    backend.register_host = lock_pages;
    backend.unregister_host = unlock_pages;
    gsh_backend_replace(&backend);
    check_idle();
    gsh_idle_end(); /* from here on nobody else looks */
    check_use(GSH_ARENA_HOST);
    check_use(GSH_ARENA_ZERO);
    check_use(GSH_ARENA_DEVICE);
    check_use(GSH_ARENA_HOST); /* in blocks that were closed */
    check_discard();
    CHECK_INT(refused, 0);
    return live_end();
}
