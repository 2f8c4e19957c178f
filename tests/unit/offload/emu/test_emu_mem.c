/* SPDX-License-Identifier: Apache-2.0
 *
 * Which memory of the device "host" is kept for the next of its size, and that its pages go whatever lies beside it.
 */
#include "check.h"
#include "emu_mem.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#define LARGE ((size_t)8 << 20)
#define PAGE ((size_t)4096)
#define MANY 1000U

/* Whole pages of a piece that are in memory. */
static size_t count_pages(const char *piece, size_t size)
{
    unsigned char page;
    size_t count = 0, before = gsh_round_up((uintptr_t)piece, PAGE) - (uintptr_t)piece;
    size_t whole = (size - before) / PAGE;
    for (size_t k = 0; k < whole; k++) /* what is unmapped is refused, and is not there */
        count += mincore((void *)(piece + before + k * PAGE), PAGE, &page) == 0 && page & 1;
    return count;
}

/* Where free memory is kept as long as something lies above it, as in the program's heap, all of it would stay. */
static void test_pages(size_t size, unsigned count)
{
    char *pieces[100];
    CHECK(count <= GSH_COUNT(pieces));
    for (unsigned k = 0; k < count; k++)
        memset(pieces[k] = gsh_emu_mem_take(size), 1, size);
    void *above = malloc(100);
    size_t pages = 0;
    for (unsigned k = 0; k < count; k++)
        pages += count_pages(pieces[k], size);
    CHECK(pages >= count * (size / PAGE - 1));
    for (unsigned k = 0; k < count; k++)
        gsh_emu_mem_give(pieces[k], size);
    for (int look = 0; look < 5; look++)
        gsh_emu_mem_age(4);
    pages = 0;
    for (unsigned k = 0; k < count; k++)
        pages += count_pages(pieces[k], size);
    CHECK_INT(pages, 0);
    free(above);
    char *again = gsh_emu_mem_take(size); /* usable all the same */
    memset(again, 1, size);
    gsh_emu_mem_give(again, size);
}

static size_t size_of(unsigned k)
{
    return sizeof(unsigned) + ((size_t)k * 7919U) % (k % 10 == 0 ? 5U << 20 : 40000U);
}

/* Pieces of all sizes are aligned, and none lies in another. */
static void test_apart(void)
{
    static unsigned *pieces[MANY];
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned k = round; k < MANY; k += 1 + round) {
            size_t size = size_of(k) + sizeof(unsigned);
            pieces[k] = gsh_emu_mem_take(size);
            CHECK(pieces[k] != NULL && (uintptr_t)pieces[k] % 256 == 0);
            pieces[k][0] = k;
            memcpy((char *)pieces[k] + size_of(k), &k, sizeof k);
        }
        for (unsigned k = round; k < MANY; k += 1 + round) {
            CHECK_INT(pieces[k][0], k);
            CHECK(memcmp((char *)pieces[k] + size_of(k), &k, sizeof k) == 0);
            gsh_emu_mem_give(pieces[k], size_of(k) + sizeof(unsigned));
        }
        gsh_emu_mem_age(0);
    }
    gsh_emu_mem_trim();
    CHECK_INT(gsh_emu_mem_spare_bytes(), 0);
}

/* Ever new sizes do not add up. */
static void test_limit(void)
{
    size_t most = 0;
    for (size_t k = 1; k < 100; k++) {
        size_t size = k * LARGE / 2;
        gsh_emu_mem_give(gsh_emu_mem_take(size), size);
        most = GSH_MAX(most, gsh_emu_mem_spare_bytes());
    }
    CHECK(most <= 60 * LARGE);
    gsh_emu_mem_trim();
}

/* What is kept goes after so many looks without a use. */
static void test_age(void)
{
    gsh_emu_mem_give(gsh_emu_mem_take(LARGE), LARGE);
    CHECK(gsh_emu_mem_spare_bytes() >= LARGE);
    for (int look = 0; look < 4; look++)
        CHECK(gsh_emu_mem_age(4));
    gsh_emu_mem_give(gsh_emu_mem_take(LARGE), LARGE);
    for (int look = 0; look < 4; look++)
        CHECK(gsh_emu_mem_age(4));
    CHECK(!gsh_emu_mem_age(4));
    CHECK_INT(gsh_emu_mem_spare_bytes(), 0);
}

int main(void)
{
    size_t size = LARGE - 1000, same = LARGE - 2000; /* the same after rounding */
    char *a = gsh_emu_mem_take(size), *b = gsh_emu_mem_take(size);
    CHECK(a != NULL && b != NULL && a != b);
    memset(a, 1, size);
    gsh_emu_mem_give(a, size);
#ifdef __SANITIZE_ADDRESS__
    CHECK(__asan_address_is_poisoned(a) && __asan_address_is_poisoned(b + LARGE - 768));
#endif
    char *other = gsh_emu_mem_take(2 * LARGE);
    CHECK(other != a);
    CHECK(gsh_emu_mem_take(same) == (void *)a);
    gsh_emu_mem_give(a, same);
    gsh_emu_mem_give(b, size);
    CHECK(gsh_emu_mem_take(size) == (void *)b); /* the one that was used last */
    CHECK(gsh_emu_mem_take(size) == (void *)a);
    gsh_emu_mem_give(other, 2 * LARGE);
    char *many[20]; /* more than are kept */
    for (int k = 0; k < 20; k++)
        memset(many[k] = gsh_emu_mem_take(LARGE), k, LARGE);
    for (int k = 0; k < 20; k++)
        gsh_emu_mem_give(many[k], LARGE);
    other = gsh_emu_mem_take(2 * LARGE);
    CHECK(other != NULL);
    gsh_emu_mem_give(a, size);
    gsh_emu_mem_give(b, size);
    gsh_emu_mem_give(other, 2 * LARGE);
    test_age();
    mallopt(M_MMAP_THRESHOLD,
            32 << 20); /* as it becomes by itself; larger ones are not the heap's */
    test_pages(5 * PAGE, 100);
    test_pages(800000, 20);
    test_pages(LARGE, 3);
    test_apart();
    test_limit();
    return check_result();
}
