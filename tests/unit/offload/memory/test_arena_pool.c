/* SPDX-License-Identifier: Apache-2.0
 *
 * Free blocks where no device is used and no pages move (test_page_moves.c): which arrays get them, and how many pages they keep. Faults
 * are counted, as pages that were kept do not fault.
 */
#include "free_blocks.h"
#include "options.h"
#include "page_faults.h"
#include "page_moves.h"

/* A free block serves an array of any smaller size: of those with pages, the smallest. */
static void check_any_size(void)
{
    char *wide = make(1500 * KIB), *wider = make(1900 * KIB);
    gsh_arena_free(wide);
    gsh_arena_free(wider);
    char *narrow = gsh_arena_allocate(100 * KIB, GSH_ARENA_ZERO);
    if (CHECK(narrow != NULL && narrow == wide))
        CHECK(narrow[0] == 0 && narrow[100 * KIB - 1] == 0);
    CHECK_INT(gsh_arena_usable(narrow), 100 * KIB);
    gsh_arena_free(narrow);
}

/* What arrays leave unused of such blocks is limited: a small one does not get the only free block, which is large. */
static void check_unused(void)
{
    char *small = make(5 * MIB), *half = make(16 * MIB);
    CHECK(gsh_arena_find_block(small)->capacity < 10 * MIB);
    CHECK(gsh_arena_find_block(half)->capacity == 20 * MIB);
    gsh_arena_free(small);
    gsh_arena_free(half);
}

/* Page faults of four turns of a loop with a phase of large arrays and one of others, which all together are a few MiB more than what is
 * held at most. */
static long count_faults_of_loop(void)
{
    long before = count_page_faults();
    for (int turn = 0; turn < 4; turn++) {
        make_together(20 * MIB, 3);
        make_together(2 * MIB + 700 * KIB, 4);
    }
    return count_page_faults() - before;
}

/* After the first turns no pages are given back and faulted in again. */
static void check_loop(void)
{
    CHECK(count_faults_of_loop() > 0);
    CHECK(count_faults_of_loop() <
          64); /* of 2,856 where one of its phases faults; ThreadSanitizer's own are some */
}

static void make_of_three_sizes(void)
{
    make_together(300 * KIB, 4);
    make_together(100 * KIB, 4);
    make_together(3 * MIB, 2);
}

/* Pages of idle blocks go back while such blocks are taken. What is counted stays right: a loop's pages are kept
 * afterwards. */
static void check_idle_meanwhile(void)
{
    work_beside_giving_back(make_of_three_sizes);
    check_loop();
}

int main(void)
{
    gsh_options_init();
    if (gsh_arena_init() != GSH_OK)
        return CHECK_SKIP;
    gsh_arena_serve_host_alone();
    gsh_page_moves_end();
    check_loop();
    check_unused();
    check_any_size();
    check_idle_meanwhile();
    return check_result();
}
