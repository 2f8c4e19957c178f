/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena without a device: placement, pools, zeroing, look-up.
 */
#include "arena_internal.h"
#include "check.h"
#include "live.h"
#include "memory_limit.h"
#include "page_faults.h"
#include "pages.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

static void check_placement(void)
{
    void *small = gsh_arena_allocate(1, GSH_ARENA_HOST);
    void *large = gsh_arena_allocate((size_t)5 << 20, GSH_ARENA_HOST);
    CHECK(gsh_arena_contains(small) && gsh_arena_contains(large));
    CHECK_INT((uintptr_t)small % 4096, 0);
    CHECK_INT((uintptr_t)large % GSH_GRANULE_LARGE, 0);
    CHECK_INT(gsh_arena_usable(large), 5 << 20);
    CHECK(gsh_arena_find_block((char *)large + 12345) == gsh_arena_find_block(large));
    CHECK(gsh_arena_find_block((char *)large + (6 << 20)) == NULL);
    int local = 0;
    CHECK(!gsh_arena_contains(&local) && gsh_arena_find_block(&local) == NULL);
    memset(large, 1, (size_t)5 << 20);
    gsh_arena_free(small);
    gsh_arena_free(large);
    CHECK(gsh_arena_find_block(large) == NULL);
}

static void check_reuse(void)
{
    void *first = gsh_arena_allocate((size_t)3 << 20, GSH_ARENA_HOST);
    gsh_arena_free(first);
    void *again = gsh_arena_allocate(((size_t)3 << 20) + 100, GSH_ARENA_HOST);
    CHECK(first == again);
    void *other = gsh_arena_allocate((size_t)3 << 20, GSH_ARENA_HOST);
    CHECK(other != again);
    gsh_arena_free(again);
    gsh_arena_free(other);
}

static size_t resident_bytes(void *address, size_t size)
{
    static unsigned char pages[(64 << 20) / 4096];
    size_t count = 0;
    CHECK_INT(mincore(address, size, pages), 0);
    for (size_t page = 0; page < size / 4096; page++)
        count += pages[page] & 1;
    return count * 4096;
}

/* Bytes that the kernel may take, of all mappings (LazyFree of proc_pid_smaps(5)). */
static size_t offered_bytes(void)
{
    char line[256];
    size_t kib, sum = 0;
    FILE *file = fopen("/proc/self/smaps", "re");
    CHECK(file != NULL);
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "LazyFree: %zu", &kib) == 1)
            sum += kib << 10;
    if (file != NULL)
        (void)fclose(file);
    return sum;
}

static void *make_touched(size_t size)
{
    char *bytes = gsh_arena_allocate(size, GSH_ARENA_HOST);
    memset(bytes, 1, size);
    return bytes;
}

/* Free blocks are offered to the kernel where, with them, there are more pages than the program ever held, and not else: what was
 * offered is slow to write. */
static void check_offered(void)
{
    void *blocks[8], *others[3];
    for (int k = 0; k < 8; k++)
        blocks[k] = make_touched((size_t)8 << 20);
    for (int k = 0; k < 4; k++)
        gsh_arena_free(blocks[k]);
    CHECK_INT(offered_bytes(), 0);
    for (int k = 0; k < 3; k++)
        others[k] = make_touched((size_t)10 << 20);
    gsh_arena_free(others[0]);
    if (!gsh_pages_can_offer() || gsh_memory_limit_is_near())
        printf("not checked: this system has no huge pages to offer, or is short of memory\n");
    else
        CHECK_INT(offered_bytes(), 10 << 20);
    for (int k = 1; k < 3; k++)
        gsh_arena_free(others[k]);
    for (int k = 4; k < 8; k++)
        gsh_arena_free(blocks[k]);
}

/* One array at a time, each of another size: free blocks keep no more pages than the largest had. */
static void check_pool(void)
{
    void *blocks[64];
    size_t sizes[64], size = (size_t)3 << 20, resident = 0;
    int count = 0;
    for (; size < (size_t)64 << 20; size += size / 8, count++) {
        sizes[count] = size;
        blocks[count] = gsh_arena_allocate(size, GSH_ARENA_HOST);
        memset(blocks[count], 1, size);
        gsh_arena_free(blocks[count]);
    }
    for (int i = 0; i < count; i++)
        resident += resident_bytes(blocks[i], sizes[i]);
    CHECK(resident <= sizes[count - 1] + sizes[count - 1] / 8);
    unsigned char *again = gsh_arena_allocate(sizes[count - 1], GSH_ARENA_HOST);
    CHECK(again[sizes[count - 1] - 1] == 1);
    gsh_arena_free(again);
}

/* Arrays that become smaller are placed in what the larger ones have left, one and a half times as large at most. */
static void check_wider(void)
{
    char *wide = gsh_arena_allocate((size_t)600 << 10, GSH_ARENA_HOST);
    memset(wide, 1, (size_t)600 << 10);
    gsh_arena_free(wide);
    char *in_half = gsh_arena_allocate((size_t)300 << 10, GSH_ARENA_HOST);
    char *narrower = gsh_arena_allocate((size_t)450 << 10, GSH_ARENA_ZERO);
    CHECK(in_half != wide && narrower == wide);
    CHECK(narrower[0] == 0 && narrower[(450 << 10) - 1] == 0);
    CHECK_INT(gsh_arena_usable(narrower), 450 << 10);
    char *second = gsh_arena_allocate((size_t)450 << 10, GSH_ARENA_HOST);
    CHECK(second != narrower);
    gsh_arena_free(in_half);
    gsh_arena_free(narrower);
    gsh_arena_free(second);
}

static bool all_zero(const unsigned char *bytes, size_t size)
{
    for (size_t k = 0; k < size; k++)
        if (bytes[k] != 0)
            return false;
    return true;
}

static void check_zero(size_t size)
{
    unsigned char *dirty = gsh_arena_allocate(size, GSH_ARENA_HOST);
    memset(dirty, 0xa5, size);
    gsh_arena_free(dirty);
    unsigned char *zero = gsh_arena_allocate(size, GSH_ARENA_ZERO);
    CHECK(all_zero(zero, size));
    gsh_arena_free(zero);
}

/* The pages of a freed array of some megabytes are cleared, not given back: its five huge pages would be faulted in. */
static void check_zero_in_place(void)
{
    size_t size = (size_t)10 << 20;
    gsh_arena_free(make_touched(size));
    long before = count_page_faults();
    unsigned char *zero = gsh_arena_allocate(size, GSH_ARENA_ZERO);
    CHECK(all_zero(zero, size));
    CHECK(count_page_faults() - before < 5);
    gsh_arena_free(zero);
}

/* Where the pages of one free block are given back, the others' are used next. */
static void check_pages_are_kept(void)
{
    enum { BLOCKS = 4 };
    size_t size = (size_t)64 << 20;
    void *blocks[BLOCKS];
    for (int k = 0; k < BLOCKS; k++)
        blocks[k] = make_touched(size);
    for (int k = 1; k < BLOCKS; k++)
        gsh_arena_free(blocks[k]);
    void *other = make_touched((size_t)60 << 20);
    size_t kept = 0;
    for (int k = 1; k < BLOCKS; k++)
        kept += resident_bytes(blocks[k], size);
    CHECK_INT(kept, (BLOCKS - 2) * size);
    for (int turn = 0; turn < 3; turn++) {
        long before = count_page_faults();
        gsh_arena_free(make_touched(size));
        CHECK(count_page_faults() - before < 16); /* of 32 huge pages */
    }
    gsh_arena_free(other);
    gsh_arena_free(blocks[0]);
}

static void check_sizes(void)
{
    for (size_t size = 1; size < (size_t)1 << 34; size = size * 3 + 1) {
        unsigned char *bytes = gsh_arena_allocate(size, GSH_ARENA_HOST);
        CHECK(bytes != NULL && gsh_arena_usable(bytes) == size);
        if (bytes == NULL)
            return;
        bytes[0] = 1;
        bytes[size - 1] = 2;
        const struct gsh_block *block = gsh_arena_find_block(bytes);
        CHECK(block->chunks >= 1 && block->chunks <= GSH_MAX_CHUNKS);
        CHECK_INT(gsh_block_chunk(block, size - 1), block->chunks - 1);
        gsh_arena_free(bytes);
    }
    CHECK(gsh_arena_allocate(SIZE_MAX / 2, GSH_ARENA_HOST) == NULL);
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    check_offered();
    check_pool();
    check_wider();
    check_placement();
    check_reuse();
    check_zero((size_t)300 << 10);
    check_zero((size_t)10 << 20);
    check_zero_in_place();
    check_pages_are_kept();
    check_zero(((size_t)64 << 20) + 100000);
    check_sizes();
    return check_result();
}
