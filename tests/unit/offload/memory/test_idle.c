/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages of freed blocks are given back after about a second in which they were not used, and stay where they are
 * used. The thread that does this is gone while the process forks. Also: what of the arena a core dump contains.
 */
#include "idle.h"

#include "arena_internal.h"
#include "check.h"
#include "clock.h"
#include "live.h"
#include "memory_limit.h"
#include "pages.h"
#include "slabs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define SECOND UINT64_C(1000000000)

/* Pages of the range that are in memory. */
static size_t count_pages(const char *base, size_t size)
{
    static unsigned char pages[64 * MIB / 4096];
    size_t count = 0;
    if (!CHECK(size / 4096 <= sizeof pages && mincore((void *)base, size, pages) == 0))
        return 0;
    for (size_t k = 0; k < size / 4096; k++)
        count += pages[k] & 1;
    return count;
}

/* Of that name. */
static unsigned count_threads(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[sizeof entry->d_name + 32], name[32] = "";
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        count += fgets(name, sizeof name, file) != NULL && strcmp(name, "gpushim-idle\n") == 0;
        fclose(file);
    }
    if (folder != NULL)
        closedir(folder);
    return count;
}

/* A thread gives itself its name, and is seen for a moment after it has ended. */
static bool has_threads(unsigned expected)
{
    for (uint64_t end = gsh_clock_ns() + 20 * SECOND; gsh_clock_ns() < end; usleep(5000))
        if (count_threads() == expected)
            return true;
    return false;
}

/* Until no page is there; false after 20 s. */
static bool are_gone(const char *base, size_t size)
{
    for (uint64_t end = gsh_clock_ns() + 20 * SECOND; gsh_clock_ns() < end; usleep(20000))
        if (count_pages(base, size) == 0)
            return true;
    return false;
}

static char *make(size_t size)
{
    char *block = gsh_arena_allocate(size, GSH_ARENA_HOST);
    if (CHECK(block != NULL))
        memset(block, 1, size);
    return block;
}

/* Whether memory is short on this machine: then pages need not stay. So it is where it takes pages that a program offers
 * (MADV_FREE), as freed blocks of 2 MiB and more are, within half a second. */
static bool is_short(size_t size)
{
    bool is_near = gsh_memory_limit_is_near(), is_taken = false;
    if (size >= 2 * MIB && gsh_pages_can_offer()) {
        char *block = make(size);
        CHECK(madvise(block, size, MADV_FREE) == 0);
        for (int k = 0; k < 100 && !is_taken; k++, usleep(5000))
            is_taken = count_pages(block, size) != size / 4096;
        CHECK(gsh_arena_free(block));
    }
    if (is_near || is_taken)
        printf("how long %zu KiB stay is not checked: this machine %s\n", size >> 10,
               is_near ? "is short of memory" : "takes pages that are offered");
    return is_near || is_taken;
}

static void check_idle(size_t size)
{
    char *live = make(size), *block = make(size);
    uint64_t begin = gsh_clock_ns();
    CHECK(gsh_arena_free(block));
    if (size < MIB && gsh_slabs_is_registered((uintptr_t)block)) {
        printf("when small blocks' pages go is not checked here: their slab is page-locked\n");
        CHECK(gsh_arena_free(live));
        return;
    }
    CHECK(are_gone(block, size));
    CHECK(gsh_clock_ns() - begin > SECOND / 2 || is_short(size));
    CHECK_INT(count_pages(live, size), size / 4096);
    CHECK(gsh_arena_free(live));
}

/* A block that is freed and taken again keeps its pages: without, each round would find none. */
static void check_used(size_t size)
{
    size_t lost = 0;
    for (uint64_t end = gsh_clock_ns() + 2 * SECOND; gsh_clock_ns() < end; usleep(5000)) {
        char *block = make(size);
        CHECK(gsh_arena_free(block));
        lost += count_pages(block, size) != size / 4096;
    }
    /* Of some 300; where the machine stops the program for a second they may be lost. */
    CHECK(lost < 20 || is_short(size));
}

static uint32_t count_looks(void)
{
    gsh_arena_lock();
    uint32_t looks = gsh_idle_clock_locked();
    gsh_arena_unlock();
    return looks;
}

/* Blocks that are taken again at once leave nothing to look for; the thread looks some four times a second, not at each. */
static void check_looks(void)
{
    char *block = make(8 * MIB);
    usleep(500000); /* it sleeps */
    uint32_t before = count_looks();
    for (uint64_t end = gsh_clock_ns() + SECOND; gsh_clock_ns() < end; usleep(5000)) {
        CHECK(gsh_arena_free(block));
        block = make(8 * MIB);
    }
    CHECK(count_looks() - before <= 8);
    CHECK(gsh_arena_free(block));
}

static void check_at_once(void)
{
    char *block = make(8 * MIB);
    CHECK(gsh_arena_free(block));
    gsh_idle_trim_host(0);
    CHECK_INT(count_pages(block, 8 * MIB), 0);
    block = make(8 * MIB); /* usable again */
    CHECK(block[8 * MIB - 1] == 1);
    CHECK(gsh_arena_free(block));
}

static void check_fork(void)
{
    char *block = make(8 * MIB);
    CHECK(gsh_arena_free(block));
    CHECK(has_threads(1));
    pid_t child = fork();
    if (child == 0) {
#ifdef __SANITIZE_THREAD__
        _exit(0); /* it lets a forked child start no thread */
#endif
        block = make(8 * MIB);
        gsh_arena_free(block);
        _exit(are_gone(block, 8 * MIB) ? 0 : 1);
    }
    CHECK(has_threads(0));
    CHECK_INT(count_pages(block, 8 * MIB), 0);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    check_idle(8 * MIB);
}

/* Bytes of the arena that a core dump has, holes included. */
static size_t count_dumped(void)
{
    char line[512];
    size_t bytes = 0, begin = 0, end = 0, from, to;
    FILE *maps = fopen("/proc/self/smaps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%zx-%zx ", &from, &to) == 2)
            begin = from, end = to;
        if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " dd") == NULL &&
            begin < gsh_arena_end && end > gsh_arena_base)
            bytes += end - begin;
    }
    if (maps != NULL)
        fclose(maps);
    return bytes;
}

static void check_dump(void)
{
    size_t before = count_dumped();
    CHECK(before < 64 * MIB);
    char *blocks[] = {make(48 * MIB), gsh_arena_allocate(48 * MIB, GSH_ARENA_DEVICE), make(MIB),
                      gsh_arena_allocate(MIB, GSH_ARENA_DEVICE)};
    CHECK(count_dumped() >= before + 96 * MIB);
    CHECK(count_dumped() <= before + 112 * MIB);
    for (unsigned k = 0; k < GSH_COUNT(blocks); k++)
        CHECK(gsh_arena_free(blocks[k]));
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    check_dump();
    CHECK(has_threads(1));
    check_idle(16 * MIB);
    check_idle(MIB / 2);
    check_used(8 * MIB);
    check_used(MIB / 2);
    check_looks();
    check_at_once();
    check_fork();
    gsh_idle_end();
    CHECK(has_threads(0));
    CHECK(gsh_arena_free(make(MIB)));
    usleep(100000);
    CHECK_INT(count_threads(), 0);
    return check_result();
}
