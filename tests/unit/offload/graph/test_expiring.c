/* SPDX-License-Identifier: Apache-2.0
 *
 * Expiring values: not stored where the hint is right, and correct where it is wrong. The test gives the hints.
 */
#include "expiring.h"

#include "backend.h"
#include "block.h"
#include "check.h"
#include "dispatch_lock.h"
#include "errors.h"
#include "live.h"
#include "node.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT ((int64_t)5000)
#define WAY 7 /* of most hints here */

static double *filled(double value)
{
    double *array = live_doubles(COUNT, GSH_ARENA_HOST);
    for (int64_t i = 0; i < COUNT; i++)
        array[i] = value;
    return array;
}

static double *fresh(void)
{
    return live_doubles(COUNT, GSH_ARENA_DEVICE);
}

static void run(enum gsh_op op, double *a, double *b, double constant, double *out, int64_t count)
{
    struct gsh_call call = live_call(op, a, b, constant, out, count);
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
}

/* The sum of an array that expires at `site`, not looked at yet. */
static double *sum(double *array, unsigned site)
{
    double *total = live_doubles(1, GSH_ARENA_DEVICE);
    struct gsh_call call = live_sum(array, COUNT, 1, total);
    call.expiring = (uint8_t)site;
    call.is_read_next = true;
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    return total;
}

/* Looks at the sum as a hook does, which drops it. */
static void check_sum(double *total, double expected)
{
    double seen = 0;
    CHECK(gsh_coherence_peek(&seen, total, sizeof seen));
    CHECK(seen == expected);
    gsh_arena_free(total);
}

static const struct gsh_value *value_of(const double *array)
{
    return gsh_arena_find_block(array)->value;
}

static bool is_stored(const double *array)
{
    return value_of(array)->address != 0;
}

static uint64_t passed(void)
{
    gsh_dispatch_lock_acquire();
    gsh_node_forget_locked();
    gsh_dispatch_lock_release();
    return gsh_stats_get(GSH_COUNTER_PASSED);
}

static uint64_t misjudged(void)
{
    return gsh_stats_get(GSH_COUNTER_MISJUDGED);
}

/* ---- right hints ---- */

static void check_right(void)
{
    double *a = filled(3), *t = fresh();
    uint64_t before = passed();
    run(GSH_OP_ADD, a, NULL, 1, t, COUNT);
    run(GSH_OP_MULTIPLY, t, t, 0, t, COUNT);
    double *total = sum(t, WAY);
    CHECK(gsh_expiring_is_possible(t) && !gsh_expiring_is_possible(a) &&
          !gsh_expiring_is_possible(t + 1));
    check_sum(total, 16.0 * COUNT);
    CHECK(!is_stored(t));
    CHECK_INT(value_of(a)->pending, 1); /* what the multiplication needs stays too */
    CHECK_INT(passed(), before);
    gsh_arena_free(t);
    CHECK_INT(passed(), before + 1);
    CHECK_INT(value_of(a)->pending, 0);
    CHECK_INT(misjudged(), 0);
    gsh_arena_free(a);
}

/* Without a hint, and where the flush is for something else, it is stored as ever. */
static void check_stored(void)
{
    double *a = filled(3), *t = fresh();
    run(GSH_OP_ADD, a, NULL, 1, t, COUNT);
    check_sum(sum(t, 0), 4.0 * COUNT);
    CHECK(is_stored(t));
    run(GSH_OP_ADD, a, NULL, 2, t, COUNT);
    double *total = sum(t, WAY);
    gsh_dispatch_synchronize();
    CHECK(is_stored(t));
    check_sum(total, 5.0 * COUNT);
    gsh_arena_free(a);
    gsh_arena_free(t);
}

/* A value on the way that somebody has is stored once, and not computed again. */
static void check_kept_between(void)
{
    double *a = filled(3), *kept = fresh(), *t = fresh();
    run(GSH_OP_ADD, a, NULL, 1, kept, COUNT);
    run(GSH_OP_MULTIPLY, kept, NULL, 2, t, COUNT);
    check_sum(sum(t, WAY), 8.0 * COUNT);
    CHECK(is_stored(kept) && !is_stored(t));
    CHECK_INT(value_of(a)->pending, 0);
    CHECK_INT(value_of(kept)->pending, 1);
    gsh_arena_free(t);
    CHECK_INT(passed() != 0 && value_of(kept)->pending == 0, 1);
    CHECK(kept[COUNT - 1] == 4.0);
    gsh_arena_free(a);
    gsh_arena_free(kept);
}

static void check_two(void)
{
    double *a = filled(3), *between = fresh(), *t = fresh(), *u = fresh();
    uint64_t before = passed();
    run(GSH_OP_ADD, a, NULL, 1, between, COUNT);
    run(GSH_OP_MULTIPLY, between, NULL, 2, t, COUNT);
    run(GSH_OP_MULTIPLY, between, NULL, 3, u, COUNT);
    double *totals[] = {sum(t, WAY), sum(u, WAY + 1)};
    gsh_arena_free(between);
    check_sum(totals[0], 8.0 * COUNT);
    check_sum(totals[1], 12.0 * COUNT);
    CHECK(!is_stored(t) && !is_stored(u));
    gsh_arena_free(t);
    CHECK_INT(passed(), before + 1);
    CHECK_INT(value_of(a)->pending, 1);
    gsh_arena_free(u);
    CHECK_INT(passed(), before + 2);
    CHECK_INT(value_of(a)->pending, 0);
    gsh_arena_free(a);
}

/* The next call gives back what a dead one was made of. */
static void check_given_back(void)
{
    double *a = filled(3), *t = fresh(), *other = fresh();
    run(GSH_OP_ADD, a, NULL, 1, t, COUNT);
    check_sum(sum(t, WAY), 4.0 * COUNT);
    gsh_arena_free(t);
    CHECK_INT(value_of(a)->pending, 1);
    run(GSH_OP_COPY, NULL, NULL, 1, other, COUNT);
    CHECK_INT(value_of(a)->pending, 0);
    gsh_arena_free(a);
    gsh_arena_free(other);
}

/* ---- wrong hints ---- */

/* t = (a + 1) ** 2 expires at `site`, but does not. */
static double *misjudge(double *a, unsigned site)
{
    double *t = fresh(), *between = fresh();
    run(GSH_OP_ADD, a, NULL, 1, between, COUNT);
    run(GSH_OP_MULTIPLY, between, between, 0, t, COUNT);
    gsh_arena_free(between);
    check_sum(sum(t, site), (a[0] + 1) * (a[0] + 1) * COUNT);
    CHECK(!is_stored(t));
    return t;
}

/* Whatever happens to what it was made of, it has the values of then. */
static void check_changes(unsigned site)
{
    double *a = filled(3), *other = fresh();
    double *t = misjudge(a, site);
    run(GSH_OP_ADD, a, NULL, 10, a, COUNT); /* all of it */
    CHECK(t[0] == 16.0 && t[COUNT - 1] == 16.0 && a[0] == 13.0);
    gsh_arena_free(t);
    t = misjudge(a, site + 1);
    run(GSH_OP_ADD, a, NULL, 10, a + 5, 10); /* a part */
    run(GSH_OP_ADD, t, NULL, 1, other, COUNT);
    CHECK(other[7] == 197.0 && t[7] == 196.0 && a[7] == 23.0 && a[4] == 13.0);
    gsh_arena_free(t);
    for (int64_t i = 0; i < COUNT; i++)
        a[i] = 3;
    t = misjudge(a, site + 2);
    a[7] = 100; /* on the host */
    run(GSH_OP_ADD, a, NULL, 1, other, COUNT);
    CHECK(other[7] == 101.0 && other[8] == 4.0);
    CHECK(t[7] == 16.0 && t[8] == 16.0);
    gsh_arena_free(t);
    gsh_arena_free(a);
    a = filled(3);
    t = misjudge(a, site + 3);
    gsh_arena_free(a);
    run(GSH_OP_ADD, t, NULL, 1, t + 5, 10); /* a part of itself */
    CHECK(t[4] == 16.0 && t[5] == 17.0);
    gsh_arena_free(t);
    gsh_arena_free(other);
}

/* Another reader has it computed for good. */
static void misjudge_twice(double *a, unsigned site)
{
    uint64_t before = misjudged();
    double *t = misjudge(a, site);
    check_sum(sum(t, site), 16.0 * COUNT);
    CHECK(is_stored(t));
    CHECK_INT(misjudged() - before, 1);
    gsh_arena_free(t);
}

/* Three mistakes more than right hints end the hints of that call site. */
static void check_turns_off(unsigned site)
{
    double *a = filled(3);
    for (unsigned k = 0; k < 5; k++) {
        misjudge_twice(a, site);
        gsh_arena_free(misjudge(a, site));
        passed();
    }
    for (unsigned k = 0; k < 3; k++) {
        CHECK(!gsh_expiring_is_off(site));
        misjudge_twice(a, site);
    }
    CHECK(gsh_expiring_is_off(site) && !gsh_expiring_is_off(site + 1));
    gsh_arena_free(a);
}

/* An idle device computes it, once the call that read it has ended. */
static void check_idle(unsigned site)
{
    double *a = filled(3), *t = misjudge(a, site);
    CHECK_INT(gsh_node_oldest(), 0);
    gsh_node_note_expired();
    for (int wait = 0; wait < 5000 && gsh_node_oldest() != 0; wait++)
        usleep(1000);
    CHECK(is_stored(t));
    CHECK(t[0] == 16.0);
    gsh_arena_free(a);
    gsh_arena_free(t);
}

/* What is fed is the node that was seen lying, not those that stayed after it. */
static void check_flush_idle(unsigned site)
{
    double *a = filled(3), *t = fresh();
    run(GSH_OP_ADD, a, NULL, 1, t, COUNT);
    double *total = sum(t, site);
    uint64_t seen = gsh_node_oldest();
    check_sum(total, 4.0 * COUNT);
    gsh_node_flush_idle(seen);
    CHECK(!is_stored(t));
    gsh_arena_free(a);
    gsh_arena_free(t);
}

/* ---- the rest ---- */

static void check_errors(unsigned site)
{
    struct gsh_error_report report;
    double *a = filled(-1), *t = fresh();
    struct gsh_call call = live_call(GSH_OP_SQRT, a, NULL, 0, t, COUNT);
    call.errors = (struct gsh_error_request){.kinds = 1 << GSH_ERROR_INVALID, .modes = 7};
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    double *total = sum(t, site), seen = 0;
    CHECK(gsh_coherence_peek(&seen, total, sizeof seen) && isnan(seen));
    CHECK(gsh_errors_fetch(0, &report) && report.found[GSH_ERROR_INVALID]);
    double *b = filled(1);
    check_sum(sum(b, 0), COUNT); /* what was told is no reason to run again */
    CHECK(!is_stored(t) && isnan(t[0]));
    gsh_dispatch_synchronize();
    CHECK(!gsh_errors_fetch(0, &report));
    gsh_arena_free(a);
    gsh_arena_free(b);
    gsh_arena_free(t);
    gsh_arena_free(total);
}

static void check_fork(unsigned site)
{
    double *a = filled(3), *t = misjudge(a, site);
    pid_t child = fork();
    if (child == 0)
        _exit(t[0] == 16.0 && t[COUNT - 1] == 16.0 ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(t[0] == 16.0);
    gsh_arena_free(a);
    gsh_arena_free(t);
}

/* More than the device holds: what stayed recorded runs, and nothing is lost. */
static void check_memory(unsigned site)
{
    enum {
        MANY = 600 /* of 40 kB; the device has 16 MiB */
    };
    static double *large[MANY];
    double *a = filled(3), *t = misjudge(a, site);
    uint64_t before = misjudged();
    for (int k = 0; k < MANY; k++) {
        large[k] = fresh();
        run(GSH_OP_COPY, NULL, NULL, k, large[k], COUNT);
    }
    CHECK(gsh_stats_get(GSH_COUNTER_EVICTIONS) > 0 && misjudged() == before + 1);
    CHECK(t[0] == 16.0 && a[0] == 3.0);
    for (int k = 0; k < MANY; k++) {
        CHECK(large[k][0] == k && large[k][COUNT - 1] == k);
        gsh_arena_free(large[k]);
    }
    gsh_arena_free(a);
    gsh_arena_free(t);
}

/* What cannot be computed again is stored: written twice, or in place in memory that it has. */
static void check_held(unsigned site)
{
    double *a = filled(3), *part = fresh(), *t = fresh(), *u = fresh(), *v = fresh();
    run(GSH_OP_ADD, a, NULL, 1, part, COUNT);
    run(GSH_OP_ADD, a, NULL, 2, part + 10, 10);
    run(GSH_OP_MULTIPLY, part, NULL, 2, t, COUNT);
    check_sum(sum(t, site), 8.0 * COUNT + 20);
    CHECK(!is_stored(t) && is_stored(part));
    run(GSH_OP_ADD, part, NULL, 1, part + 20, 10);
    run(GSH_OP_MULTIPLY, part, NULL, 1, u, COUNT);
    gsh_arena_free(part);
    check_sum(sum(u, site), 4.0 * COUNT + 20);
    CHECK(is_stored(t) && !is_stored(u)); /* what t is made of was to be overwritten */
    run(GSH_OP_MULTIPLY, u, NULL, 3, v, COUNT);
    CHECK(v[9] == 12.0 && v[10] == 15.0 && v[20] == 15.0 && v[30] == 12.0);
    CHECK(u[10] == 5.0 && u[20] == 5.0 && u[30] == 4.0);
    CHECK(t[9] == 8.0 && t[10] == 10.0 && t[20] == 8.0);
    gsh_arena_free(a);
    gsh_arena_free(t);
    gsh_arena_free(u);
    gsh_arena_free(v);
}

/* Changed in place just before it is read, and then nobody's: in registers it would do for the sum. */
static void check_held_though_dead(unsigned site)
{
    double *a = filled(3), *x = fresh(), *t = fresh();
    run(GSH_OP_ADD, a, NULL, 1, x, COUNT);
    gsh_dispatch_synchronize();
    run(GSH_OP_ADD, x, NULL, 1, x, COUNT);
    run(GSH_OP_MULTIPLY, x, NULL, 2, t, COUNT);
    gsh_arena_free(x);
    check_sum(sum(t, site), 10.0 * COUNT);
    if (strcmp(getenv("GPUSHIM_DEVICE"), "host") == 0)
        CHECK(!is_stored(t)); /* elsewhere no kernel that reduces writes over what it reads */
    CHECK(t[0] == 10.0 && t[COUNT - 1] == 10.0);
    gsh_arena_free(a);
    gsh_arena_free(t);
}

/* What it is made of is nobody's else, and as large as what the flush stores. */
static void check_freed_before(unsigned site)
{
    double *a = filled(3), *t = fresh(), *kept = fresh();
    run(GSH_OP_ADD, a, NULL, 1, a, COUNT);
    gsh_dispatch_synchronize();
    run(GSH_OP_ADD, a, NULL, 1, t, COUNT);
    run(GSH_OP_MULTIPLY, a, NULL, 2, kept, COUNT);
    gsh_arena_free(a);
    check_sum(sum(t, site), 5.0 * COUNT);
    CHECK(is_stored(kept) && !is_stored(t));
    CHECK(t[0] == 5.0 && t[COUNT - 1] == 5.0 && kept[0] == 8.0);
    gsh_arena_free(t);
    gsh_arena_free(kept);
}

/* What writes two values does not stay recorded for one of them. */
static void check_two_outputs(unsigned site)
{
    double *a = filled(3.25), *fraction = fresh(), *whole = fresh(), *t = fresh();
    struct gsh_call call = live_call(GSH_OP_MODF, a, NULL, 0, fraction, COUNT);
    call.launch.nout = 2;
    call.launch.operands[2] =
        (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)whole};
    call.launch.strides[2][0] = sizeof(double);
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    run(GSH_OP_MULTIPLY, fraction, NULL, 4, t, COUNT);
    gsh_arena_free(fraction);
    check_sum(sum(t, site), 1.0 * COUNT);
    CHECK(is_stored(t));
    CHECK(whole[0] == 3.0 && t[0] == 1.0);
    gsh_arena_free(a);
    gsh_arena_free(whole);
    gsh_arena_free(t);
}

/* Old contents that are overwritten in the same flush cannot be had again. */
static void check_overwritten(unsigned site)
{
    double *a = filled(3), *t = fresh();
    gsh_dispatch_synchronize();
    run(GSH_OP_ADD, a, NULL, 1, a + 10, 10); /* a is on the device, and of its own value */
    gsh_dispatch_synchronize();
    run(GSH_OP_MULTIPLY, a, NULL, 2, t, COUNT);
    double *total = sum(t, site);
    run(GSH_OP_ADD, a, NULL, 1, a + 15, 10);
    check_sum(total, 6.0 * COUNT + 20);
    CHECK(is_stored(t));
    CHECK(t[9] == 6.0 && t[10] == 8.0 && t[20] == 6.0);
    CHECK(a[9] == 3.0 && a[14] == 4.0 && a[24] == 4.0);
    gsh_arena_free(a);
    gsh_arena_free(t);
}

/* ---- random programs, hints given at random ---- */

enum { ARRAYS = 8 };

static double *arrays[ARRAYS];
static double expected[ARRAYS][COUNT];
static uint32_t state = 1;

static unsigned pick(unsigned below)
{
    state = state * 1664525U + 1013904223U;
    return (state >> 16) % below;
}

static double result_of(enum gsh_op op, double a, double b)
{
    if (op == GSH_OP_ADD)
        return a + b;
    return op == GSH_OP_MAXIMUM ? fmax(a, b) : fmin(a, b);
}

/* Small whole numbers, whose sums are exact in any order. */
static void compute_some(void)
{
    static const enum gsh_op ops[] = {GSH_OP_ADD, GSH_OP_MAXIMUM, GSH_OP_MINIMUM};
    enum gsh_op op = ops[pick(GSH_COUNT(ops))];
    unsigned a = pick(ARRAYS), b = pick(ARRAYS), out = pick(ARRAYS);
    bool is_constant = op == GSH_OP_ADD || pick(2) == 0, is_part = pick(4) == 0;
    double constant = pick(9) - 4.0;
    int64_t first = is_part ? pick(COUNT - 100) : 0, count = is_part ? 1 + pick(99) : COUNT;
    run(op, arrays[a] + first, is_constant ? NULL : arrays[b] + first, constant,
        arrays[out] + first, count);
    for (int64_t i = first; i < first + count; i++)
        expected[out][i] = result_of(op, expected[a][i], is_constant ? constant : expected[b][i]);
}

static void sum_one(void)
{
    unsigned a = pick(ARRAYS);
    double total = 0;
    for (int64_t i = 0; i < COUNT; i++)
        total += expected[a][i];
    check_sum(sum(arrays[a], pick(4) == 0 ? 0 : 1 + pick(GSH_EXPIRING_CALL_SITES)), total);
}

/* Of an array that is fresh; it dies, or stays in the place of another one. */
static void sum_temporary(void)
{
    static double sums[COUNT];
    unsigned a = pick(ARRAYS), b = pick(ARRAYS), replaced = pick(3 * ARRAYS);
    double *t = fresh(), total = 0;
    run(GSH_OP_MAXIMUM, arrays[a], arrays[b], 0, t, COUNT);
    run(GSH_OP_ADD, t, NULL, 1, t, COUNT);
    for (int64_t i = 0; i < COUNT; i++)
        total += sums[i] = fmax(expected[a][i], expected[b][i]) + 1;
    check_sum(sum(t, 1 + pick(GSH_EXPIRING_CALL_SITES)), total);
    if (replaced < ARRAYS) {
        memcpy(expected[replaced], sums, sizeof sums);
        double *old = arrays[replaced];
        arrays[replaced] = t;
        t = old;
    }
    gsh_arena_free(t);
}

static void touch_one(void)
{
    unsigned a = pick(ARRAYS), i = pick(COUNT);
    switch (pick(6)) {
    case 0: /* it ends, and another one begins */
        gsh_arena_free(arrays[a]);
        arrays[a] = fresh();
        run(GSH_OP_COPY, NULL, NULL, 1, arrays[a], COUNT);
        for (i = 0; i < COUNT; i++)
            expected[a][i] = 1;
        break;
    case 1:
        arrays[a][i] = expected[a][i] = pick(9);
        break;
    case 2:
        gsh_dispatch_synchronize();
        break;
    case 3:
        gsh_node_note_expired();
        break;
    default:
        CHECK(arrays[a][i] == expected[a][i]);
    }
}

static void check_random(void)
{
    /* Each group of another structure is a kernel, which takes some of the backends 0.1 s to compile. */
    const unsigned steps = gsh_backend_get()->runs_at_once != NULL ? 400 : 4000;
    uint64_t passed_before = passed(), misjudged_before = misjudged();
    for (unsigned a = 0; a < ARRAYS; a++)
        arrays[a] = filled(0);
    for (unsigned step = 0; step < steps; step++) {
        unsigned what = pick(10);
        if (what < 6)
            compute_some();
        else if (what < 7)
            sum_one();
        else if (what < 9)
            sum_temporary();
        else
            touch_one();
    }
    for (unsigned a = 0; a < ARRAYS; a++) {
        for (int64_t i = 0; i < COUNT; i++)
            if (arrays[a][i] != expected[a][i])
                CHECK(arrays[a][i] == expected[a][i]);
        gsh_arena_free(arrays[a]);
    }
    CHECK(passed() - passed_before > steps / 100);
    CHECK(misjudged() - misjudged_before > steps / 100);
}

int main(void)
{
    setenv("GPUSHIM_MEM_LIMIT", "16M", 1);
    setenv("GPUSHIM_BACKGROUND", "0", 1);
    setenv("GPUSHIM_FEED_MS", "300", 1);
    if (!live_start())
        return CHECK_SKIP;
    check_right();
    check_stored();
    check_kept_between();
    check_two();
    check_given_back();
    check_changes(20);
    check_turns_off(30);
    check_idle(40);
    check_flush_idle(41);
    check_errors(42);
    check_fork(43);
    check_memory(44);
    check_held(45);
    check_held_though_dead(49);
    check_overwritten(46);
    check_freed_before(47);
    check_two_outputs(48);
    check_random();
    return live_end();
}
