/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters and rows. A row is claimed by a counter, filled, and then published in a hash table by one
 * compare-and-swap (release, paired with the acquire of look-ups), so that no thread sees part of a name. Where two
 * threads create the same row at once, one claimed row stays unpublished and empty.
 */
#include "stats.h"

#include "hash.h"
#include "line_profile.h"
#include "observer.h"
#include "prefault.h"
#include "readers.h"
#include "wall_time.h"

#include <stdatomic.h>
#include <string.h>

#define SLOTS (2 * GSH_STATS_MAX_ROWS) /* a power of two */
#define USUAL_ROWS 128                 /* rows that most programs use */

struct row {
    char name[96];
    char signature[24];
    _Atomic uint64_t device_calls, device_ns, host_calls, host_ns, parallel_calls, outputs_fetched;
    _Atomic uint64_t reasons[GSH_STATS_MAX_REASONS], reason_ns[GSH_STATS_MAX_REASONS];
};

static _Atomic uint64_t counters[GSH_COUNTER_COUNT];
static struct row rows[GSH_STATS_MAX_ROWS]; /* row 0 is called "other" */
static atomic_uint claimed = 1;
static _Atomic uint16_t slots[SLOTS]; /* index of a published row, or 0 */

static void count_sigsafe(_Atomic uint64_t *counter, uint64_t amount)
{
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static uint64_t get(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void gsh_stats_add_sigsafe(enum gsh_counter counter, uint64_t amount)
{
    count_sigsafe(&counters[counter], amount);
    unsigned reader = counter == GSH_COUNTER_DOWNLOAD_BYTES ? gsh_readers_count_sigsafe(amount) : 0;
    if (GSH_UNLIKELY(gsh_line_profile_is_on))
        gsh_line_profile_count_sigsafe(counter, amount, reader);
}

void gsh_stats_raise(enum gsh_counter counter, uint64_t amount)
{
    uint64_t seen = get(&counters[counter]);
    while (seen < amount &&
           !atomic_compare_exchange_weak_explicit(&counters[counter], &seen, amount,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
}

uint64_t gsh_stats_get(enum gsh_counter counter)
{
    return get(&counters[counter]);
}

static void set_text(char *field, size_t size, const char *text)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, field, size);
    gsh_fmt_text(&fmt, text);
}

/* What a row is called; it has as much of both texts as fits. */
struct key {
    const char *name, *signature;
};

enum { NAME_LENGTH = sizeof rows[0].name - 1, SIGNATURE_LENGTH = sizeof rows[0].signature - 1 };

static uint64_t hash_text(uint64_t hash, const char *text, size_t length)
{
    for (size_t place = 0; place < length && text[place] != '\0'; place++)
        hash = gsh_hash_add(hash, (unsigned char)text[place]);
    return hash;
}

static uint64_t hash_key(const struct key *key)
{
    return hash_text(hash_text(GSH_HASH_BEGIN, key->name, NAME_LENGTH), key->signature,
                     SIGNATURE_LENGTH);
}

static bool is_called(const struct row *row, const struct key *key)
{
    return strncmp(row->name, key->name, NAME_LENGTH) == 0 &&
           strncmp(row->signature, key->signature, SIGNATURE_LENGTH) == 0;
}

/* A new row called as `key` says in `slot`, or 0: the table is full, or another thread took the slot.
 */
static unsigned try_publish(const struct key *key, _Atomic uint16_t *slot)
{
    if (atomic_load_explicit(&claimed, memory_order_relaxed) >= GSH_STATS_MAX_ROWS)
        return 0;
    unsigned index = atomic_fetch_add_explicit(&claimed, 1, memory_order_relaxed);
    if (index >= GSH_STATS_MAX_ROWS)
        return 0;
    set_text(rows[index].signature, sizeof rows[index].signature, key->signature);
    set_text(rows[index].name, sizeof rows[index].name, key->name);
    uint16_t empty = 0;
    if (atomic_compare_exchange_strong_explicit(slot, &empty, (uint16_t)index, memory_order_release,
                                                memory_order_relaxed))
        return index;
    return 0;
}

unsigned gsh_stats_row(const char *name, const char *signature)
{
    const struct key key = {name, signature};
    uint32_t probe = (uint32_t)hash_key(&key);
    for (unsigned tries = 0; tries < SLOTS; probe++, tries++) {
        _Atomic uint16_t *slot = &slots[probe % SLOTS];
        unsigned index = atomic_load_explicit(slot, memory_order_acquire);
        if (index == 0)
            index = try_publish(&key, slot);
        if (index == 0)
            index = atomic_load_explicit(slot, memory_order_acquire);
        if (index == 0)
            return 0;
        if (is_called(&rows[index], &key))
            return index;
    }
    return 0;
}

void gsh_stats_prefault(void)
{
    gsh_prefault(slots, sizeof slots);
    gsh_prefault(rows, USUAL_ROWS * sizeof rows[0]);
}

static unsigned (*find_folding)(void); /* NULL: nothing is folded */

void gsh_stats_set_folding(unsigned (*find)(void))
{
    find_folding = find;
}

unsigned gsh_stats_folded(unsigned row)
{
    unsigned folded = GSH_UNLIKELY(find_folding != NULL) ? find_folding() : 0;
    return folded != 0 ? folded : row;
}

void gsh_stats_device_call(unsigned row, uint64_t ns)
{
    row = gsh_stats_folded(row);
    count_sigsafe(&rows[row].device_calls, 1);
    if (ns > 0)
        count_sigsafe(&rows[row].device_ns, ns);
    if (GSH_UNLIKELY(gsh_observer != NULL))
        gsh_observer->device_call(row);
    if (GSH_UNLIKELY(gsh_line_profile_is_on))
        gsh_line_profile_device_call(row);
}

void gsh_stats_device_time(unsigned row, uint64_t ns)
{
    count_sigsafe(&rows[row].device_ns, ns);
    if (GSH_UNLIKELY(gsh_line_profile_is_on))
        gsh_line_profile_device_time(ns);
}

static _Thread_local bool is_paused;

void gsh_stats_pause(bool pauses)
{
    is_paused = pauses;
}

static _Thread_local unsigned weight = 1;

void gsh_stats_weigh(unsigned calls)
{
    weight = calls;
}

void gsh_stats_host_call(unsigned row, unsigned reason, uint64_t ns)
{
    if (is_paused)
        return;
    row = gsh_stats_folded(row);
    unsigned kept = GSH_MIN(reason, GSH_STATS_MAX_REASONS - 1);
    count_sigsafe(&rows[row].host_calls, weight);
    count_sigsafe(&rows[row].reasons[kept], weight);
    if (ns > 0) {
        count_sigsafe(&rows[row].host_ns, ns * weight);
        count_sigsafe(&rows[row].reason_ns[kept], ns * weight);
    }
    if (weight > 1) /* those that were left out were the program's time */
        gsh_wall_time_give_cpu(ns * (weight - 1));
    if (GSH_UNLIKELY(gsh_observer != NULL))
        gsh_observer->host_call(row, reason, weight, ns * weight);
    if (GSH_UNLIKELY(gsh_line_profile_is_on))
        gsh_line_profile_host_call(row, reason, weight, ns * weight);
}

void gsh_stats_parallel_call(unsigned row)
{
    count_sigsafe(&rows[row].parallel_calls, 1);
}

void gsh_stats_output_fetched(unsigned row)
{
    count_sigsafe(&rows[row].outputs_fetched, 1);
}

unsigned gsh_stats_row_count(void)
{
    return GSH_MIN(atomic_load_explicit(&claimed, memory_order_relaxed),
                   (unsigned)GSH_STATS_MAX_ROWS);
}

bool gsh_stats_get_row(unsigned index, struct gsh_stats_row_copy *copy)
{
    if (index >= gsh_stats_row_count())
        return false;
    struct row *row = &rows[index];
    *copy = (struct gsh_stats_row_copy){
        .name = index == 0 ? "other" : row->name,
        .signature = row->signature,
        .device_calls = get(&row->device_calls),
        .device_ns = get(&row->device_ns),
        .host_calls = get(&row->host_calls),
        .host_ns = get(&row->host_ns),
        .parallel_calls = get(&row->parallel_calls),
        .outputs_fetched = get(&row->outputs_fetched),
    };
    for (size_t i = 0; i < GSH_STATS_MAX_REASONS; i++) {
        copy->reasons[i] = get(&row->reasons[i]);
        copy->reason_ns[i] = get(&row->reason_ns[i]);
    }
    return copy->device_calls > 0 || copy->host_calls > 0 || copy->device_ns > 0;
}

struct gsh_stats_cost gsh_stats_row_cost(unsigned index)
{
    if (index >= gsh_stats_row_count())
        return (struct gsh_stats_cost){0};
    struct row *row = &rows[index];
    return (struct gsh_stats_cost){.ns = get(&row->device_ns) + get(&row->host_ns),
                                   .calls = get(&row->device_calls) + get(&row->host_calls)};
}

unsigned gsh_stats_top_reason(const uint64_t calls[GSH_STATS_MAX_REASONS],
                              const uint64_t ns[GSH_STATS_MAX_REASONS])
{
    unsigned top = 0;
    for (unsigned i = 1; i < GSH_STATS_MAX_REASONS; i++)
        if (ns[i] > ns[top] || (ns[i] == ns[top] && calls[i] > calls[top]))
            top = i;
    return top;
}

void gsh_stats_append_name(unsigned index, struct gsh_fmt *fmt)
{
    const struct row *row = &rows[index < gsh_stats_row_count() ? index : 0];
    gsh_fmt_text(fmt, row == &rows[0] ? "other" : row->name);
    if (row->signature[0] != '\0')
        gsh_fmt_printf(fmt, " %s", row->signature);
}

static void forget_row_after_fork(struct row *row)
{
    _Atomic uint64_t *const counts[] = {&row->device_calls,   &row->device_ns,
                                        &row->host_calls,     &row->host_ns,
                                        &row->parallel_calls, &row->outputs_fetched};
    for (size_t i = 0; i < GSH_COUNT(counts); i++)
        atomic_store_explicit(counts[i], 0, memory_order_relaxed);
    for (size_t i = 0; i < GSH_STATS_MAX_REASONS; i++) {
        atomic_store_explicit(&row->reasons[i], 0, memory_order_relaxed);
        atomic_store_explicit(&row->reason_ns[i], 0, memory_order_relaxed);
    }
}

void gsh_stats_forget_after_fork(void)
{
    for (size_t i = 0; i < GSH_COUNTER_COUNT; i++)
        atomic_store_explicit(&counters[i], 0, memory_order_relaxed);
    unsigned end = atomic_load_explicit(&claimed, memory_order_relaxed);
    for (unsigned i = 0; i < GSH_MIN(end, (unsigned)GSH_STATS_MAX_ROWS); i++)
        forget_row_after_fork(&rows[i]);
}
