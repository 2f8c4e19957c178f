/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters per row. policy/ says what follows from them; a counter is stored only where it changes, as most calls change none.
 */
#include "history.h"

#include "back_off.h"
#include "fetch_share.h"
#include "prefault.h"
#include "stats.h"

#include <stdatomic.h>

static struct history {
    _Atomic uint32_t made, fetched, declined, trials; /* struct gsh_fetch_counts */
    _Atomic uint32_t refused, left;                   /* struct gsh_back_off */
} rows[GSH_STATS_MAX_ROWS];

static struct history *history_of(unsigned row)
{
    return &rows[row % GSH_STATS_MAX_ROWS];
}

static uint32_t get(_Atomic uint32_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void set(_Atomic uint32_t *counter, uint32_t before, uint32_t count)
{
    if (count != before)
        atomic_store_explicit(counter, count, memory_order_relaxed);
}

static struct gsh_back_off get_back_off(struct history *history)
{
    return (struct gsh_back_off){get(&history->refused), get(&history->left)};
}

static void set_back_off(struct history *history, struct gsh_back_off before,
                         struct gsh_back_off state)
{
    set(&history->refused, before.refused, state.refused);
    set(&history->left, before.left, state.left);
}

static struct gsh_fetch_counts get_fetches(struct history *history)
{
    return (struct gsh_fetch_counts){get(&history->made), get(&history->fetched),
                                     get(&history->declined), get(&history->trials)};
}

static void set_fetches(struct history *history, struct gsh_fetch_counts before,
                        struct gsh_fetch_counts counts)
{
    set(&history->made, before.made, counts.made);
    set(&history->fetched, before.fetched, counts.fetched);
    set(&history->declined, before.left, counts.left);
    set(&history->trials, before.trials, counts.trials);
}

void gsh_history_prefault(void)
{
    gsh_prefault(rows, sizeof rows);
}

static void note_completed(struct history *history)
{
    const struct gsh_back_off before = get_back_off(history);
    set_back_off(history, before, gsh_back_off_after_completed(before));
}

void gsh_history_note_made(unsigned row)
{
    struct history *history = history_of(row);
    note_completed(history);
    const struct gsh_fetch_counts before = get_fetches(history);
    struct gsh_fetch_counts counts = before;
    counts.made++;
    set_fetches(history, before, gsh_fetch_share_after_made(counts));
}

void gsh_history_note_fetched(unsigned row)
{
    atomic_fetch_add_explicit(&history_of(row)->fetched, 1, memory_order_relaxed);
}

double gsh_history_ask_fetch_share(unsigned row)
{
    struct history *history = history_of(row);
    const struct gsh_fetch_counts counts = get_fetches(history);
    if (counts.fetched > 0)
        set_fetches(history, counts, gsh_fetch_share_after_asked(counts));
    return gsh_fetch_share(counts);
}

void gsh_history_note_refused(unsigned row)
{
    struct history *history = history_of(row);
    const struct gsh_back_off before = get_back_off(history);
    set_back_off(history, before, gsh_back_off_after_refused(before));
}

bool gsh_history_backs_off(unsigned row)
{
    struct history *history = history_of(row);
    const struct gsh_back_off before = get_back_off(history);
    if (!gsh_back_off_is_due(before))
        return false;
    set_back_off(history, before, gsh_back_off_after_left(before));
    return true;
}
