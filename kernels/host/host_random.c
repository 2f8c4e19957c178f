/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. "Unit" is a word of the distribution's width, "word" one of 64 bits.
 */
#include "host_random.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Words of a part, those behind it that its last value may take, and beginnings that are noted. */
enum { PART_WORDS = GSH_HOST_RANDOM_PART_WORDS, SLACK = 256, NOTED = 64 };
enum { FIXED_PART = 1 << 14, FIXED_BLOCK = 1 << 12 }; /* values, where each is one unit */
enum { SLOT_WORDS = 1 + PART_WORDS + SLACK };

static int64_t units_of_word(const struct gsh_host_random *random)
{
    return 64 / random->recipe.bits;
}

/* Makes words [first, first + count) behind `words`; words[-1] has the kept half, which stands before word 0. */
static void make_words(const struct gsh_host_random *random, int64_t first, int64_t count,
                       uint64_t *words)
{
    struct gsh_random_stream stream = random->draw.stream;
    gsh_random_stream_skip(&stream, (uint64_t)first);
    gsh_random_stream_fill(&stream, words, (size_t)count);
    words[-1] = (uint64_t)stream.half << 32;
}

/* ---- one unit a value ---- */

/* Values that the loop makes in place of the output, or before they are transformed. */
static void make_fixed_block(struct gsh_host_random *random, int64_t first, int64_t count)
{
    uint64_t buffer[2 + FIXED_BLOCK], *words = &buffer[1];
    int64_t units = units_of_word(random), position = first - random->lead;
    int64_t base = position < 0 ? 0 : position / units;
    int64_t end = position + count - base * units;
    char *out = random->out + first * random->itemsize;
    make_words(random, base, end <= 0 ? 0 : (end - 1) / units + 1, words);
    struct gsh_host_random_words from = {words, position - base * units, end, end};
    random->recipe.loop(&random->draw, &from, out, count);
    if (random->draw.form != GSH_RANDOM_STANDARD)
        gsh_host_random_values_transform(&random->draw, (double *)out, (double *)out, count);
}

static void compute_fixed(struct gsh_host_random *random, int64_t part)
{
    int64_t begin = part * FIXED_PART, end = GSH_MIN(begin + FIXED_PART, random->count);
    for (int64_t first = begin; first < end; first += FIXED_BLOCK)
        make_fixed_block(random, first, GSH_MIN(FIXED_BLOCK, end - first));
}

/* ---- several units a value ---- */

/* A part that is being computed; positions in units from its first word on. */
struct part {
    struct gsh_host_random *random;
    int64_t number, begin, until, limit;
    uint64_t *words;
    char *values;
    int64_t noted[NOTED]; /* where the first values begin */
    int64_t noted_count, count, end;
};

/* Makes values from `position` on, behind the first `done`. Whether there were enough words. */
static bool make_values(struct part *part, int64_t done, int64_t position, int64_t most)
{
    struct gsh_host_random *random = part->random;
    struct gsh_host_random_words from = {part->words, position, part->until, part->limit};
    int64_t made =
        random->recipe.loop(&random->draw, &from, part->values + done * random->itemsize, most);
    part->count = done + made;
    part->end = from.position;
    return made >= 0;
}

static bool make_speculatively(struct part *part)
{
    int64_t position = part->begin;
    part->noted_count = 0;
    while (part->noted_count < NOTED && position < part->until) {
        part->noted[part->noted_count] = position;
        if (!make_values(part, part->noted_count, position, 1))
            return false;
        part->noted_count++;
        position = part->end;
    }
    return make_values(part, part->noted_count, position, INT64_MAX);
}

/* Values made too much at the part's front, where the first one begins at `entry`; makes the part again where it was made wrongly. -1:
 * there are too few words. */
static int64_t find_first(struct part *part, int64_t entry)
{
    for (int64_t i = 0; i < part->noted_count; i++)
        if (part->noted[i] == entry)
            return i;
    return make_values(part, 0, entry, INT64_MAX) ? 0 : -1;
}

/* Waits for the parts before. False: there is nothing more to do. */
static bool wait_for_turn(struct gsh_host_random *random, int64_t number)
{
    while (atomic_load_explicit(&random->next, memory_order_acquire) != number) {
        if (random->is_failed || random->made >= random->count)
            return false;
        sched_yield();
    }
    return !random->is_failed && random->made < random->count;
}

/* The values of the part that are part of the draw: [first, first + count) go to the place of value `place`. */
struct share {
    int64_t first, count, place;
};

/* In turn: joins the part to those before. */
static bool join(struct part *part, struct share *share)
{
    struct gsh_host_random *random = part->random;
    int64_t origin = part->number * PART_WORDS * units_of_word(random);
    int64_t entry = random->position - origin;
    share->first = find_first(part, entry);
    share->place = random->made;
    share->count = GSH_MIN(part->count - share->first, random->count - share->place);
    if (share->first < 0)
        return false;
    if (share->count <
        part->count - share->first) { /* the last part: it ends with the last value */
        share->first = 0;
        if (!make_values(part, 0, entry, share->count))
            return false;
    }
    random->position = origin + part->end;
    return true;
}

static void copy_share(const struct part *part, const struct share *share)
{
    const struct gsh_host_random *random = part->random;
    const char *values = part->values + share->first * random->itemsize;
    char *out = random->out + share->place * random->itemsize;
    if (random->draw.form == GSH_RANDOM_STANDARD)
        memcpy(out, values, (size_t)(share->count * random->itemsize));
    else
        gsh_host_random_values_transform(&random->draw, (const double *)values, (double *)out,
                                         share->count);
}

static void compute_part(struct part *part)
{
    struct gsh_host_random *random = part->random;
    struct share share;
    make_words(random, part->number * PART_WORDS, PART_WORDS + SLACK, part->words);
    bool is_made = make_speculatively(part);
    if (!wait_for_turn(random, part->number))
        return;
    if (!is_made || !join(part, &share)) {
        random->is_failed = true;
        return;
    }
    random->made = share.place + share.count;
    atomic_store_explicit(&random->next, part->number + 1, memory_order_release);
    copy_share(part, &share);
}

static int take_slot(struct gsh_host_random *random)
{
    uint64_t busy = random->busy;
    for (;;) {
        int slot = ~busy == 0 ? random->slots : __builtin_ctzll(~busy);
        if (slot >= random->slots) {
            sched_yield();
            busy = random->busy;
        } else if (atomic_compare_exchange_weak(&random->busy, &busy, busy | UINT64_C(1) << slot)) {
            return slot;
        }
    }
}

static size_t slot_size(const struct gsh_host_random *random)
{
    return (size_t)(INT64_C(8) * SLOT_WORDS +
                    (INT64_C(1) + PART_WORDS) * units_of_word(random) * random->itemsize);
}

static void compute_variable(struct gsh_host_random *random, int64_t number)
{
    if (random->is_failed || random->made >= random->count)
        return;
    int slot = take_slot(random);
    char *memory = random->scratch + (size_t)slot * slot_size(random);
    int64_t units = units_of_word(random);
    struct part part = {.random = random,
                        .number = number,
                        .begin = number == 0 ? -random->lead : 0,
                        .until = PART_WORDS * units,
                        .limit = (PART_WORDS + SLACK) * units,
                        .words = (uint64_t *)memory + 1,
                        .values = memory + (size_t)SLOT_WORDS * 8};
    compute_part(&part);
    atomic_fetch_and(&random->busy, ~(UINT64_C(1) << slot));
}

/* ---- all ---- */

void gsh_host_random_part(void *context, int64_t part)
{
    struct gsh_host_random *random = context;
    if (random->recipe.is_fixed)
        compute_fixed(random, part);
    else
        compute_variable(random, part);
}

static int64_t count_parts(const struct gsh_host_random *random)
{
    if (random->recipe.is_fixed)
        return (random->count - 1) / FIXED_PART + 1;
    double units = (double)random->count * random->recipe.words;
    return (int64_t)(units / (double)(PART_WORDS * units_of_word(random))) + 2;
}

bool gsh_host_random_begin(struct gsh_host_random *random, const struct gsh_random_draw *draw,
                           enum gsh_dtype dtype, void *out, int64_t count, unsigned threads)
{
    *random = (struct gsh_host_random){.draw = *draw,
                                       .out = out,
                                       .count = count,
                                       .itemsize = (int64_t)gsh_dtype_size(dtype),
                                       .slots = (int)GSH_MIN(threads, GSH_HOST_RANDOM_SLOTS)};
    if (!gsh_host_random_values_find(draw, dtype, &random->recipe))
        return false;
    random->lead =
        draw->stream.has_half && random->recipe.bits < 64 ? units_of_word(random) / 2 : 0;
    random->position = -random->lead;
    random->parts = count_parts(random);
    if (!random->recipe.is_fixed)
        random->scratch = malloc((size_t)random->slots * slot_size(random));
    return random->recipe.is_fixed || random->scratch != NULL;
}

/* Moves the draw's stream behind the last unit. */
static void move_stream(struct gsh_host_random *random)
{
    int64_t units = random->recipe.is_fixed ? random->count : random->position + random->lead;
    int64_t of_half = GSH_MAX(units_of_word(random) / 2, 1);
    if (random->recipe.bits == 64)
        gsh_random_stream_skip(&random->draw.stream, (uint64_t)units);
    else
        gsh_random_stream_skip_halves(&random->draw.stream, (uint64_t)((units - 1) / of_half + 1));
}

bool gsh_host_random_end(struct gsh_host_random *random)
{
    while (!random->recipe.is_fixed && !random->is_failed && random->made < random->count)
        compute_variable(random, random->next);
    free(random->scratch);
    if (random->is_failed)
        return false;
    move_stream(random);
    return true;
}
