/* SPDX-License-Identifier: Apache-2.0
 *
 * Two counters per row, halved now and then so that old behaviour is forgotten.
 */
#include "history.h"

#include "prefault.h"
#include "stats.h"

#include <stdatomic.h>

#define WINDOW 64U

static struct {
    _Atomic uint32_t made, fetched;
} rows[GSH_STATS_MAX_ROWS];

void gsh_history_prefault(void)
{
    gsh_prefault(rows, sizeof rows);
}

void gsh_history_note_made(unsigned row)
{
    uint32_t made =
        atomic_fetch_add_explicit(&rows[row % GSH_STATS_MAX_ROWS].made, 1, memory_order_relaxed) +
        1;
    if (made < WINDOW)
        return;
    uint32_t fetched =
        atomic_load_explicit(&rows[row % GSH_STATS_MAX_ROWS].fetched, memory_order_relaxed);
    atomic_store_explicit(&rows[row % GSH_STATS_MAX_ROWS].made, made / 2, memory_order_relaxed);
    atomic_store_explicit(&rows[row % GSH_STATS_MAX_ROWS].fetched, fetched / 2,
                          memory_order_relaxed);
}

void gsh_history_note_fetched(unsigned row)
{
    atomic_fetch_add_explicit(&rows[row % GSH_STATS_MAX_ROWS].fetched, 1, memory_order_relaxed);
}

double gsh_history_fetch_share(unsigned row)
{
    uint32_t made =
        atomic_load_explicit(&rows[row % GSH_STATS_MAX_ROWS].made, memory_order_relaxed);
    uint32_t fetched =
        atomic_load_explicit(&rows[row % GSH_STATS_MAX_ROWS].fetched, memory_order_relaxed);
    return made == 0 ? 0.0 : GSH_MIN(1.0, (double)fetched / made);
}
