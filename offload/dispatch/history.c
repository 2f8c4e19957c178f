/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters per row; what is made and fetched is halved now and then, so that old behaviour is forgotten.
 */
#include "history.h"

#include "prefault.h"
#include "stats.h"

#include <stdatomic.h>

#define WINDOW 64U
#define MOST_REFUSED 11U /* of a series: 1024 calls sit out then */

static struct history {
    _Atomic uint32_t made, fetched;
    _Atomic uint32_t refused;     /* in a series */
    _Atomic uint32_t sitting_out; /* calls that are still to */
} rows[GSH_STATS_MAX_ROWS];

static struct history *history_of(unsigned row)
{
    return &rows[row % GSH_STATS_MAX_ROWS];
}

static uint32_t get(_Atomic uint32_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void set(_Atomic uint32_t *counter, uint32_t count)
{
    atomic_store_explicit(counter, count, memory_order_relaxed);
}

static uint32_t add_one(_Atomic uint32_t *counter)
{
    return atomic_fetch_add_explicit(counter, 1, memory_order_relaxed) + 1;
}

void gsh_history_prefault(void)
{
    gsh_prefault(rows, sizeof rows);
}

void gsh_history_note_made(unsigned row)
{
    struct history *history = history_of(row);
    if (get(&history->refused) != 0)
        set(&history->refused, 0);
    uint32_t made = add_one(&history->made);
    if (made < WINDOW)
        return;
    uint32_t fetched = get(&history->fetched);
    set(&history->made, made / 2);
    set(&history->fetched, fetched / 2);
}

void gsh_history_note_fetched(unsigned row)
{
    add_one(&history_of(row)->fetched);
}

double gsh_history_fetch_share(unsigned row)
{
    struct history *history = history_of(row);
    uint32_t made = get(&history->made);
    return made == 0 ? 0.0 : GSH_MIN(1.0, (double)get(&history->fetched) / made);
}

void gsh_history_note_refused(unsigned row)
{
    struct history *history = history_of(row);
    uint32_t refused = GSH_MIN(get(&history->refused) + 1, MOST_REFUSED);
    set(&history->refused, refused);
    set(&history->sitting_out, 1U << (refused - 1));
}

bool gsh_history_sits_out(unsigned row)
{
    struct history *history = history_of(row);
    uint32_t left = get(&history->sitting_out);
    if (left == 0)
        return false;
    set(&history->sitting_out, left - 1);
    return true;
}
