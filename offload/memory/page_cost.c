/* SPDX-License-Identifier: Apache-2.0
 *
 * The pages are asked for as NumPy asks for those of arrays of 4 MiB and more: huge ones, where the system has some.
 */
#include "page_cost.h"

#include "clock.h"
#include "plain_time.h"
#include "stats.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define SAMPLE ((size_t)8 << 20) /* bytes */
#define PAGE 4096

static _Atomic float measured; /* ns for each byte; 0: not measured yet */

/* 0 where the system has no memory for it. */
static float measure(void)
{
    char *pages = mmap(NULL, SAMPLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 0;
    madvise(pages, SAMPLE, MADV_HUGEPAGE);
    uint64_t began = gsh_clock_ns();
    for (size_t offset = 0; offset < SAMPLE; offset += PAGE)
        ((volatile char *)pages)[offset] = 0;
    float each = (float)(gsh_clock_ns() - began) / (float)SAMPLE;
    munmap(pages, SAMPLE);
    return each;
}

void gsh_page_cost_note_reused(size_t size, size_t bytes)
{
    if (size < GSH_PLAIN_TIME_MAPPED || bytes == 0 || !gsh_stats_report_is_wanted())
        return;
    float each = atomic_load_explicit(&measured, memory_order_relaxed);
    if (each == 0) {
        each = measure();
        atomic_store_explicit(&measured, each, memory_order_relaxed);
    }
    gsh_stats_add(GSH_COUNTER_REUSED_NS, (uint64_t)(each * (float)GSH_MIN(size, bytes)));
}
