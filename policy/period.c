/* SPDX-License-Identifier: Apache-2.0
 *
 * The history is a ring. Of an operation that has left it nothing is known.
 */
#include "period.h"

#include "hash.h"

#define PLACE_OPERATIONS 4U /* whose signatures tell a place */
/* What a value costs that passes a cut: one that must be stored anyway is loaded again, another one is also stored. */
#define COST_STORED 1
#define COST_WHOLE 2

static unsigned slot_of(uint64_t number)
{
    return (unsigned)(number % GSH_PERIOD_HISTORY);
}

/* Whether two operations have one signature; both are in the history. */
static bool match(const struct gsh_period *state, uint64_t x, uint64_t y)
{
    return state->signatures[slot_of(x)] == state->signatures[slot_of(y)];
}

/* ---- cuts ---- */

static void set_cut(struct gsh_period *state, uint64_t number)
{
    state->cuts[slot_of(number) / 64] |= UINT64_C(1) << slot_of(number) % 64;
}

static void clear_cut(struct gsh_period *state, uint64_t number)
{
    state->cuts[slot_of(number) / 64] &= ~(UINT64_C(1) << slot_of(number) % 64);
}

bool gsh_period_is_cut(const struct gsh_period *state, uint64_t before, uint64_t after)
{
    uint64_t oldest =
        state->count + 2 > GSH_PERIOD_HISTORY ? state->count + 2 - GSH_PERIOD_HISTORY : 1;
    for (uint64_t number = GSH_MAX(before + 1, oldest); number <= after; number++)
        if ((state->cuts[slot_of(number) / 64] >> slot_of(number) % 64 & 1) != 0)
            return true;
    return false;
}

/* ---- where an iteration begins ---- */

struct boundaries {
    uint64_t low, high; /* boundaries, each before the operation of that number */
    int32_t steps[GSH_PERIOD_LONGEST + 1]; /* of the cost, from one boundary to the next */
};

/* Adds the cost of a value that passes the boundaries after operation `from` up to the one before operation `to`. */
static void add_cost(struct boundaries *at, uint64_t from, uint64_t to, int32_t cost)
{
    uint64_t low = GSH_MAX(from + 1, at->low), high = GSH_MIN(to, at->high);
    if (low > high)
        return;
    at->steps[low - at->low] += cost;
    at->steps[high + 1 - at->low] -= cost;
}

/* Only values that were written less than an iteration before a boundary count: others pass all boundaries. */
static void add_reads(const struct gsh_period *state, uint64_t number, uint32_t period,
                      struct boundaries *at)
{
    for (unsigned k = 0; k < GSH_PERIOD_READS; k++) {
        const struct gsh_period_gap *gap = &state->gaps[slot_of(number)][k];
        if (gap->written != 0)
            add_cost(at, number - gap->accessed, GSH_MIN(number, number - gap->written + period),
                     gap->is_whole ? COST_WHOLE : COST_STORED);
    }
}

/* The first operation of the first iteration. The cheapest boundary of those after the first operation of that iteration, up to the first
 * match; among equals the last one, which stands for the beginning of the first iteration, or else the first. */
static uint64_t find_head(const struct gsh_period *state, const struct gsh_period_candidate *loop)
{
    uint64_t first = loop->first, begin = first - loop->period, best = first;
    struct boundaries at = {.low = begin + 1, .high = first};
    int32_t cost = 0, cheapest = 0;
    for (uint64_t number = begin; number < first + loop->period && number <= state->count; number++)
        add_reads(state, number, loop->period, &at);
    for (uint64_t number = at.low; number <= at.high; number++) {
        cost += at.steps[number - at.low];
        if (number == at.low || cost < cheapest || (cost == cheapest && number == first)) {
            cheapest = cost;
            best = number;
        }
    }
    return best == first ? begin : best;
}

/* ---- candidates ---- */

/* The first piece that is whole after the boundary which the program ordered last. */
static void restart(const struct gsh_period *state, struct gsh_period_candidate *loop)
{
    uint64_t iterations =
        state->ordered < loop->head ? 0 : (state->ordered - loop->head) / loop->period + 1;
    loop->next = loop->head + iterations * loop->period + loop->piece;
}

static void cut_due(struct gsh_period *state, struct gsh_period_candidate *loop)
{
    for (; loop->next <= state->count + 1; loop->next += loop->piece)
        set_cut(state, loop->next);
}

/* A piece of many iterations may begin with what precedes the loop, so that values pass to it in registers. */
static void activate(struct gsh_period *state, struct gsh_period_candidate *loop)
{
    loop->piece = GSH_MAX(GSH_PERIOD_PIECE / loop->period, 1U) * loop->period;
    loop->head = find_head(state, loop);
    restart(state, loop);
    if (loop->piece == loop->period && state->ordered < loop->head)
        loop->next = loop->head;
    cut_due(state, loop);
}

/* How many operations must have matched. A short sequence that comes twice may be a function that is called twice, and both calls
 * may fit into one group. */
static uint64_t evidence_of(const struct gsh_period_candidate *loop)
{
    uint64_t iterations = loop->period <= GSH_PERIOD_PIECE ? 2 : 1;
    return GSH_MAX(iterations * loop->period, GSH_PERIOD_EVIDENCE);
}

static void advance(struct gsh_period *state, struct gsh_period_candidate *loop)
{
    if (loop->period == 0)
        return;
    if (loop->head != 0)
        cut_due(state, loop);
    else if (state->count + 1 - loop->first >= evidence_of(loop))
        activate(state, loop);
}

/* Frees the candidates that the last operation contradicts. */
static void drop_refuted(struct gsh_period *state)
{
    for (unsigned k = 0; k < GSH_PERIOD_CANDIDATES; k++) {
        struct gsh_period_candidate *loop = &state->candidates[k];
        if (loop->period != 0 && !match(state, state->count, state->count - loop->period))
            loop->period = 0;
    }
}

/* The entry for a new candidate: a free one, or the one that is not active and has matched least; NULL: none. */
static struct gsh_period_candidate *find_entry(struct gsh_period *state)
{
    struct gsh_period_candidate *found = NULL;
    for (unsigned k = 0; k < GSH_PERIOD_CANDIDATES; k++) {
        struct gsh_period_candidate *loop = &state->candidates[k];
        if (loop->period == 0)
            return loop;
        if (loop->head == 0 && (found == NULL || loop->first > found->first))
            found = loop;
    }
    return found;
}

static bool is_candidate(const struct gsh_period *state, uint32_t period)
{
    for (unsigned k = 0; k < GSH_PERIOD_CANDIDATES; k++)
        if (state->candidates[k].period == period)
            return true;
    return false;
}

/* The first operation of those that match up to the last one. */
static uint64_t first_match(const struct gsh_period *state, uint32_t period)
{
    uint64_t first = state->count;
    uint64_t oldest =
        state->count > GSH_PERIOD_HISTORY - 2 ? state->count - (GSH_PERIOD_HISTORY - 2) : 1;
    while (first - 1 >= oldest + period && match(state, first - 1, first - 1 - period))
        first--;
    return first;
}

static void add_candidate(struct gsh_period *state, uint32_t period)
{
    struct gsh_period_candidate *loop = find_entry(state);
    if (loop != NULL && !is_candidate(state, period))
        *loop =
            (struct gsh_period_candidate){.period = period, .first = first_match(state, period)};
}

/* The distance to the last operation with the signature of the newest one; 0: there is none near. */
static uint32_t find_distance(struct gsh_period *state)
{
    uint64_t number = state->count, signature = state->signatures[slot_of(number)];
    uint64_t *entry = &state->last[gsh_hash_spread(signature) % GSH_PERIOD_SLOTS], last = *entry;
    *entry = number;
    if (last == 0 || number - last > GSH_PERIOD_LONGEST || !match(state, number, last))
        return 0;
    return (uint32_t)(number - last);
}

/* ---- the sequence ---- */

static struct gsh_period_gap gap_of(uint64_t number, const struct gsh_period_read *read)
{
    if (read->written == 0 || number - read->written >= GSH_PERIOD_HISTORY)
        return (struct gsh_period_gap){0};
    return (struct gsh_period_gap){(uint16_t)(number - read->written),
                                   (uint16_t)(number - read->accessed), read->is_whole};
}

void gsh_period_note(struct gsh_period *state, uint64_t signature,
                     const struct gsh_period_read *reads, unsigned read_count)
{
    static const struct gsh_period_read none;
    uint64_t number = ++state->count;
    state->signatures[slot_of(number)] = signature;
    for (unsigned k = 0; k < GSH_PERIOD_READS; k++)
        state->gaps[slot_of(number)][k] = gap_of(number, k < read_count ? &reads[k] : &none);
    clear_cut(state, number + 1);
    drop_refuted(state);
    uint32_t distance = find_distance(state);
    if (distance != 0)
        add_candidate(state, distance);
    for (unsigned k = 0; k < GSH_PERIOD_CANDIDATES; k++)
        advance(state, &state->candidates[k]);
}

void gsh_period_note_boundary(struct gsh_period *state)
{
    state->ordered = state->count;
    for (unsigned k = 0; k < GSH_PERIOD_CANDIDATES; k++)
        if (state->candidates[k].period != 0 && state->candidates[k].head != 0)
            restart(state, &state->candidates[k]);
}

uint64_t gsh_period_place(const struct gsh_period *state)
{
    uint64_t hash = GSH_HASH_BEGIN;
    for (uint64_t k = 0; k < PLACE_OPERATIONS && k < state->count; k++)
        hash = gsh_hash_add(hash, state->signatures[slot_of(state->count - k)]);
    return hash;
}
