/* SPDX-License-Identifier: Apache-2.0
 *
 * base/prefault.h: pages are there and values stay; the tables that a first call needs have theirs after start-up.
 */
#include "check.h"
#include "history.h"
#include "host_calibration.h"
#include "lapack.h"
#include "live.h"
#include "page_faults.h"
#include "prefault.h"
#include "stats.h"

#include <sys/mman.h>

enum { PAGES = 6, PAGE_BYTES = 4096 };

static void test_pages(void)
{
    unsigned char resident[PAGES];
    unsigned char *memory = mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(memory != MAP_FAILED))
        return;
    CHECK_INT(madvise(memory, (size_t)PAGES * PAGE_BYTES, MADV_NOHUGEPAGE), 0);
    memory[PAGE_BYTES + 100] = 7;
    gsh_prefault(memory + PAGE_BYTES + 100, (size_t)2 * PAGE_BYTES);
    gsh_prefault(memory, 0);
    CHECK_INT(mincore(memory, (size_t)PAGES * PAGE_BYTES, resident), 0);
    for (int page = 0; page < PAGES; page++)
        CHECK_INT(resident[page] & 1, page >= 1 && page <= 3);
    CHECK_INT(memory[PAGE_BYTES + 100], 7);
    munmap(memory, (size_t)PAGES * PAGE_BYTES);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

enum { NAMES = 100 };

static char names[NAMES][8];

/* What a call that is priced does with the tables. */
static void use_tables(const char *name, enum gsh_lapack_routine routine)
{
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_LAPACK, .loop = GSH_FLOAT64, .lapack.routine = routine};
    unsigned row = gsh_stats_row(name, "dd->d");
    gsh_stats_host_call(row, 1, 1);
    gsh_history_ask_fetch_share(row);
    gsh_history_note_made(row);
    gsh_host_calibration_factor(&launch, 0.03);
    const struct gsh_verdict verdict = {.modelled = 0.03};
    gsh_host_calibration_expect(&launch, row, &verdict, GSH_REASON_TOO_SMALL);
    gsh_host_calibration_begin();
    gsh_host_calibration_end(true);
}

/* False, with a message: there is no device. */
static bool test_tables(void)
{
    for (int i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof names[i], "name%d", i);
    use_tables("warm", GSH_LAPACK_SVD); /* the code's own pages */
    setenv("GPUSHIM_MODE", "auto", 1);
    if (!live_start())
        return false;
    long before = count_page_faults();
    for (int i = 0; i < NAMES; i++)
        use_tables(names[i], (enum gsh_lapack_routine)(i % GSH_LAPACK_COUNT));
    CHECK_INT(count_page_faults() - before, 0);
    return true;
}

#endif

int main(void)
{
    test_pages();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    puts("test_tables: skipped: the sanitizer's own memory has page faults too");
    return check_result();
#else
    return test_tables() ? live_end() : CHECK_SKIP;
#endif
}
