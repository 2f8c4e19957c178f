/* SPDX-License-Identifier: Apache-2.0
 *
 * Spare pieces, the newest last; the oldest is freed where there are too many.
 */
#include "hostemu_mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Bytes. Memory of so many is asked for in huge pages, as NumPy does: a first touch is a fault. */
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_LEAST (2 * HUGE_PAGE)

#define SPARES 8

struct spare {
    void *memory;
    size_t size; /* rounded */
};

static struct spare spares[SPARES];
static unsigned spare_count;
static unsigned quiet_calls; /* of gsh_hostemu_mem_age, since a spare came or went */

static size_t round_size(size_t size)
{
    return gsh_round_up(size, size >= HUGE_LEAST ? HUGE_PAGE : 256);
}

static void forget(unsigned k)
{
    memmove(&spares[k], &spares[k + 1], (--spare_count - k) * sizeof spares[0]);
}

static void *take_spare(size_t size)
{
    for (unsigned k = spare_count; k-- > 0;)
        if (spares[k].size == size) {
            void *memory = spares[k].memory;
            forget(k);
            quiet_calls = 0;
            return memory;
        }
    return NULL;
}

void gsh_hostemu_mem_trim(void)
{
    while (spare_count > 0)
        free(spares[--spare_count].memory);
}

bool gsh_hostemu_mem_age(unsigned calls)
{
    if (spare_count > 0 && ++quiet_calls > calls)
        gsh_hostemu_mem_trim();
    return spare_count > 0;
}

size_t gsh_hostemu_mem_spare_bytes(void)
{
    size_t bytes = 0;
    for (unsigned k = 0; k < spare_count; k++)
        bytes += spares[k].size;
    return bytes;
}

static void *allocate(size_t size)
{
    return aligned_alloc(size >= HUGE_LEAST ? HUGE_PAGE : 256, size);
}

void *gsh_hostemu_mem_take(size_t size)
{
    size = round_size(size);
    void *memory = take_spare(size);
    if (memory != NULL)
        return memory;
    memory = allocate(size);
    if (memory == NULL && spare_count > 0) {
        gsh_hostemu_mem_trim();
        memory = allocate(size);
    }
    if (memory != NULL && size >= HUGE_LEAST)
        madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

void gsh_hostemu_mem_give(void *memory, size_t size)
{
    size = round_size(size);
    if (size < HUGE_LEAST) {
        free(memory);
        return;
    }
    if (spare_count == SPARES) {
        free(spares[0].memory);
        forget(0);
    }
    madvise(memory, size, MADV_FREE);
    spares[spare_count++] = (struct spare){memory, size};
    quiet_calls = 0;
}
