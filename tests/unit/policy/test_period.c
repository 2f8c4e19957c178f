/* SPDX-License-Identifier: Apache-2.0
 *
 * Sequences of operations with and without loops, and where they are cut.
 */
#include "period.h"

#include "check.h"

enum { CUTS = 1024 };

static struct gsh_period period;
static uint64_t cuts[CUTS];
static unsigned cut_count;
static uint64_t seen;

static void begin(void)
{
    memset(&period, 0, sizeof period);
    cut_count = 0;
    seen = 0;
}

/* Lists the cuts before those operations of which it was not asked yet. */
static void collect(uint64_t before)
{
    for (; seen < before; seen++)
        if (gsh_period_is_cut(&period, seen, seen + 1))
            cuts[cut_count++ % CUTS] = seen + 1;
}

static void note(uint64_t signature)
{
    gsh_period_note(&period, signature, NULL, 0);
    if (period.count > GSH_PERIOD_LONGEST)
        collect(period.count - GSH_PERIOD_LONGEST);
}

static void finish(void)
{
    collect(period.count + 1);
}

/* The operations of an iteration differ from each other. */
static void run_loop(unsigned length, unsigned iterations)
{
    for (unsigned k = 0; k < length * iterations; k++)
        note(100 + k % length);
}

static void run_prefix(unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        note(10000 + period.count);
}

/* ---- loops ---- */

static void check_loop(unsigned before, unsigned length, unsigned iterations)
{
    unsigned piece = GSH_MAX(GSH_PERIOD_PIECE / length, 1U) * length;
    begin();
    run_prefix(before);
    run_loop(length, iterations);
    run_prefix(5);
    finish();
    uint64_t end = before + length * iterations + 1,
             first = piece > length ? before + piece : before;
    CHECK_INT(cuts[0], first + 1);
    for (unsigned k = 1; k < cut_count; k++)
        CHECK_INT(cuts[k] - cuts[k - 1], piece);
    CHECK(cut_count > 0 && cuts[cut_count - 1] <= end && cuts[cut_count - 1] + piece > end);
}

static void check_loops(void)
{
    static const unsigned lengths[] = {1, 2, 3, 7, 8, 9, 24, 25, 60, 300, 500};
    for (unsigned k = 0; k < GSH_COUNT(lengths); k++) {
        check_loop(0, lengths[k], 6 + GSH_PERIOD_PIECE / lengths[k]);
        check_loop(13, lengths[k], 60);
        check_loop(500, lengths[k], 6 + GSH_PERIOD_PIECE / lengths[k]);
    }
}

/* An iteration with equal operations in it: A A B A A B ... */
static void check_equal_operations(void)
{
    begin();
    run_prefix(10);
    for (unsigned k = 0; k < 30 * 40; k++)
        note(k % 30 % 3 == 2 ? 7 + k % 30 : 5);
    finish();
    CHECK_INT(cuts[0], 11);
    for (unsigned k = 1; k < cut_count; k++)
        CHECK_INT(cuts[k] - cuts[k - 1], 30);
    CHECK_INT(cut_count, 41);
}

/* An inner loop of ten iterations within a loop: each iteration of the outer one is cut alike, once it is known. */
static void check_nested(void)
{
    enum { OUTER = 10 + 10 * 30 };
    begin();
    for (unsigned iteration = 0; iteration < 12; iteration++)
        for (unsigned k = 0; k < OUTER; k++)
            note(k < 10 ? 10000 + k : 100 + (k - 10) % 30);
    finish();
    unsigned places[2][OUTER] = {{0}};
    for (unsigned k = 0; k < cut_count; k++)
        if ((cuts[k] - 1) / OUTER == 7 || (cuts[k] - 1) / OUTER == 8)
            places[(cuts[k] - 1) / OUTER - 7][(cuts[k] - 1) % OUTER]++;
    CHECK(memcmp(places[0], places[1], sizeof places[0]) == 0);
    CHECK(places[0][0] == 1 && places[0][10] == 1 && places[0][40] == 1);
}

static void check_without_loop(void)
{
    uint32_t state = 1;
    begin();
    for (unsigned k = 0; k < 20000; k++) {
        state = state * 1664525U + 1013904223U;
        note(state >> 24);
    }
    run_prefix(3000);
    finish();
    CHECK_INT(cut_count, 0);
}

/* Twice the same is no loop yet where the iterations are short. */
static void check_evidence(void)
{
    begin();
    run_loop(4, GSH_PERIOD_EVIDENCE / 4);
    finish();
    CHECK(period.candidates[0].head == 0 && period.candidates[0].period == 4);
    note(100);
    run_prefix(1);
    CHECK_INT(period.candidates[0].head, 0);
}

/* A function that is called twice, between other operations, is no loop; three times it is. */
static void check_called_twice(void)
{
    enum { LENGTH = 23 };
    for (unsigned times = 2; times <= 3; times++) {
        begin();
        run_prefix(15);
        run_loop(LENGTH, times);
        run_prefix(4);
        finish();
        CHECK_INT(cut_count, times == 3 ? 4 : 0);
    }
}

/* ---- where an iteration begins ---- */

/* A value that all operations of an iteration but the last hand on, and one that passes from iteration to iteration; `shift` operations of a
 * iteration precede the loop. */
static void check_head(unsigned shift)
{
    enum { LENGTH = 30 };
    begin();
    for (unsigned k = LENGTH - shift; k < LENGTH * 8; k++) {
        uint64_t last = period.count;
        struct gsh_period_read reads[] = {{last, last, true}, {0}};
        if (k % LENGTH != 0 && last != 0) {
            gsh_period_note(&period, 100 + k % LENGTH, reads, 2);
            continue;
        }
        reads[0] = (struct gsh_period_read){last, last, false};
        gsh_period_note(&period, 100 + k % LENGTH, reads, last != 0);
    }
    finish();
    CHECK(cut_count >= 7);
    for (unsigned k = 0; k < cut_count; k++)
        CHECK_INT((cuts[k] - 1) % LENGTH, shift);
}

/* ---- boundaries that the program orders ---- */

/* A read by the host in each iteration leaves nothing to cut; one in each seventh iteration begins new pieces. */
static void check_boundaries(void)
{
    begin();
    for (unsigned k = 0; k < 100 * 30; k++) {
        note(100 + k % 30);
        if (k % 30 == 20)
            gsh_period_note_boundary(&period);
    }
    finish();
    CHECK_INT(cut_count, 0);
    begin();
    for (unsigned iteration = 0; iteration < 100; iteration++) {
        run_loop(8, 1);
        if (iteration % 7 == 6)
            gsh_period_note_boundary(&period);
    }
    finish();
    CHECK_INT(cut_count, 14);
    for (unsigned k = 0; k < cut_count; k++)
        CHECK_INT(cuts[k], 56 * k + 40 + 1);
}

/* ---- places ---- */

static void check_place(void)
{
    begin();
    run_loop(30, 3);
    uint64_t place = gsh_period_place(&period);
    run_loop(29, 1);
    CHECK(gsh_period_place(&period) != place);
    note(129);
    CHECK(gsh_period_place(&period) == place);
}

int main(void)
{
    check_loops();
    check_equal_operations();
    check_nested();
    check_without_loop();
    check_evidence();
    check_called_twice();
    for (unsigned shift = 0; shift < 30; shift += 7)
        check_head(shift);
    check_boundaries();
    check_place();
    return check_result();
}
