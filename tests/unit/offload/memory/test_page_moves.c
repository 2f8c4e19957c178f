/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages of free blocks move to an array that needs some, where no device is used: what they keep, what is zero, what happens where the
 * system refuses.
 */
#include "page_moves.h"

#include "free_blocks.h"
#include "options.h"
#include "page_faults.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_HELD (40 * MIB)

static size_t resident_bytes(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu %lu", &pages, &resident) == 2);
    if (file != NULL)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Page faults of turns with arrays of one size and then of another, which hold as much. */
static long count_faults_of_loop(size_t one, size_t other, int turns)
{
    long before = count_page_faults();
    for (int turn = 0; turn < turns; turn++) {
        make_together(one, MOST_HELD / one);
        make_together(other, MOST_HELD / other);
    }
    return count_page_faults() - before;
}

/* Of two phases one would fault in 40 MiB in each turn. */
static void check_loop(size_t one, size_t other, long pages)
{
    count_faults_of_loop(one, other, 2);
    size_t before = resident_bytes();
    CHECK(count_faults_of_loop(one, other, 4) < 4 * pages / 8);
    CHECK(resident_bytes() < before + 2 * MIB);
}

static bool is_filled(const char *bytes, size_t size, char value)
{
    for (size_t k = 0; k < size; k++)
        if (bytes[k] != value)
            return false;
    return true;
}

/* An array's bytes stay, whatever moves beside it, and zeros are zeros. */
static void check_contents(void)
{
    for (size_t size = 100 * KIB; size < 12 * MIB; size += size / 3) {
        char *kept = make(size);
        memset(kept, 7, size);
        make_together(3 * MIB + 300 * KIB, 12);
        make_together(200 * KIB, MOST_HELD / (200 * KIB));
        char *zeros = gsh_arena_allocate(size, GSH_ARENA_ZERO);
        CHECK(zeros != NULL && is_filled(zeros, size, 0));
        CHECK(is_filled(kept, size, 7));
        gsh_arena_free(zeros);
        gsh_arena_free(kept);
    }
}

/* Zeros are zeros also where another thread gives pages of idle blocks back. */
static void check_zeros(void)
{
    make_together(300 * KIB, 27);
    make_together(3 * MIB, 3);
    char *zeros = gsh_arena_allocate(700 * KIB, GSH_ARENA_ZERO);
    CHECK(zeros != NULL && is_filled(zeros, 700 * KIB, 0));
    memset(zeros, 1, 700 * KIB);
    gsh_arena_free(zeros);
}

/* A page of a free block is no longer mapped: the system refuses to move its unit. The pages of the array that was to have it may be lost
 * with that: it is refused, and nothing moves any more. */
static void check_refusal(void)
{
    int refused = 0;
    char *holed = make(10 * MIB), *hole = holed + 8 * MIB;
    gsh_arena_free(holed);
    CHECK_INT(munmap(hole, 4096), 0);
    char *kept[40];
    for (size_t k = 0; k < GSH_COUNT(kept); k++) {
        kept[k] = gsh_arena_allocate(4 * MIB, GSH_ARENA_HOST);
        refused += kept[k] == NULL;
        kept[k] = kept[k] == NULL ? make(4 * MIB) : kept[k];
        memset(kept[k], (char)k, 4 * MIB);
    }
    CHECK_INT(refused, 1);
    CHECK(mmap(hole, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
               0) == hole);
    CHECK(!gsh_page_moves_are_possible());
    for (size_t k = 0; k < GSH_COUNT(kept); k++) {
        CHECK(is_filled(kept[k], 4 * MIB, (char)k));
        gsh_arena_free(kept[k]);
    }
    make_together(9 * MIB, 4);
}

/* Of a system that cannot move pages: tried where nothing of ours is. */
static bool can_move(void)
{
    char *places = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    gsh_page_moves_init();
    return gsh_page_moves_move((uintptr_t)places, (uintptr_t)places + MIB, GSH_PAGE_MOVES_SMALL) ==
           GSH_OK;
}

int main(void)
{
    gsh_options_init();
    if (!can_move() || gsh_arena_init() != GSH_OK) {
        printf("the kernel lacks MREMAP_DONTUNMAP, or there is no arena\n");
        return CHECK_SKIP;
    }
    gsh_arena_serve_host_alone();
    check_loop(20 * MIB, 4 * MIB, MOST_HELD / 4096);
    check_loop(256 * KIB, 1 * MIB, MOST_HELD / 4096);
    check_contents();
    work_beside_giving_back(check_zeros);
    check_refusal();
    return check_result();
}
