/* SPDX-License-Identifier: Apache-2.0
 *
 * A loop's nodes run in the same groups, whenever the timer comes round; in a long pause all of them run.
 */
#include "backend.h"
#include "check.h"
#include "hash.h"
#include "live.h"
#include "node.h"
#include "pauses.h"

#define COUNT ((int64_t)3000)
enum { GROUPS = 64, ITERATIONS = 300, NODES_OF_ITERATION = 5 };

/* The kinds of groups that ran. */
static uint64_t kinds[GROUPS];
static unsigned kind_count;
static uint64_t nodes_run;
static const struct gsh_backend *real;
static struct gsh_backend device;

static uint64_t kind_of(const struct gsh_group *group)
{
    uint64_t hash =
        gsh_hash_add(GSH_HASH_BEGIN, (uint64_t)group->array_count << 32 |
                                         (uint64_t)group->store_count << 16 | group->step_count);
    for (unsigned k = 0; k < group->step_count; k++)
        hash = gsh_hash_add(hash, group->steps[k].op);
    return hash;
}

static enum gsh_status run_group(const struct gsh_group *group, unsigned row,
                                 gsh_can_split *can_split, const void *item)
{
    uint64_t kind = kind_of(group);
    unsigned k = 0;
    nodes_run += group->step_count;
    while (k < kind_count && kinds[k] != kind)
        k++;
    if (k == kind_count && kind_count < GROUPS)
        kinds[kind_count++] = kind;
    return real->run_group(group, row, can_split, item);
}

/* ---- the program ---- */

static double *x, *a, *t, *s;
static uint32_t state;

/* One in `share` calls, the timer comes round; 0: never. */
static void tick(unsigned share)
{
    state = state * 1664525U + 1013904223U;
    if (share != 0 && (state >> 16) % share == 0)
        gsh_node_flush_idle(gsh_node_oldest());
}

static void compute(enum gsh_op op, const double *left, const double *right, double *out,
                    int64_t count, unsigned share)
{
    struct gsh_call call = live_call(op, left, right, 0.5, out, count);
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    tick(share);
}

/* As a variable that is bound to the result: the old one lives until there is a new one. */
static void bind(double **variable, enum gsh_op op, const double *left, const double *right,
                 unsigned share)
{
    double *fresh = live_doubles(COUNT, GSH_ARENA_DEVICE);
    compute(op, left, right, fresh, COUNT, share);
    if (*variable != NULL)
        gsh_arena_free(*variable);
    *variable = fresh;
}

static void iteration(unsigned share)
{
    bind(&t, GSH_OP_MULTIPLY, x, NULL, share);
    bind(&s, GSH_OP_ADD, t, a, share);
    compute(GSH_OP_MULTIPLY, s, NULL, x, COUNT, share);
    compute(GSH_OP_ADD, x, a, x, COUNT, share);
    compute(GSH_OP_MINIMUM, x, t, x, COUNT, share);
}

/* Returns an element at the end. */
static double loop(unsigned share)
{
    kind_count = 0;
    for (int64_t i = 0; i < COUNT; i++)
        x[i] = (double)(i % 7);
    for (unsigned k = 0; k < ITERATIONS; k++)
        iteration(share);
    return x[COUNT / 2];
}

/* ---- checks ---- */

static bool is_kind(const uint64_t *among, unsigned count, uint64_t kind)
{
    for (unsigned k = 0; k < count; k++)
        if (among[k] == kind)
            return true;
    return false;
}

static void check_timer(void)
{
    loop(0);
    double result = loop(0);
    uint64_t expected[GROUPS];
    unsigned expected_count = kind_count;
    memcpy(expected, kinds, sizeof expected);
    CHECK(expected_count > 0 && expected_count < 12);
    for (unsigned share = 2; share < 200; share *= 3) {
        CHECK(loop(share) == result);
        CHECK_INT(kind_count, expected_count);
        for (unsigned k = 0; k < kind_count; k++)
            CHECK(is_kind(expected, expected_count, kinds[k]));
    }
}

/* The idle device gets whole pieces of the loop, and the rest in a long pause. */
static void check_pause(void)
{
    loop(0);
    uint64_t before = nodes_run;
    for (unsigned k = 0; k < 60; k++)
        iteration(0);
    CHECK(nodes_run == before);
    gsh_node_flush_idle(gsh_node_oldest());
    CHECK(nodes_run > before && gsh_node_oldest() != 0);
    before = nodes_run;
    gsh_node_flush_idle(gsh_node_oldest());
    CHECK(nodes_run == before && gsh_node_oldest() != 0);
    for (unsigned k = 0; k < GSH_PAUSES_ROUNDS; k++)
        gsh_node_flush_idle(gsh_node_oldest());
    CHECK(nodes_run > before);
    CHECK_INT(gsh_node_oldest(), 0);
}

/* Where many nodes are pending, the iteration that the program is in stays. */
static void check_limit(void)
{
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    uint64_t flushes = gsh_stats_get(GSH_COUNTER_FLUSHES), iterations = 0;
    for (; gsh_stats_get(GSH_COUNTER_FLUSHES) == flushes; iterations++)
        iteration(0);
    CHECK(iterations * NODES_OF_ITERATION >= GSH_NODE_LIMIT);
    CHECK(gsh_node_oldest() != 0);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
}

int main(void)
{
    setenv("GPUSHIM_FEED_MS", "0", 1);
    live_defer();
    if (!live_start())
        return CHECK_SKIP;
    x = live_doubles(COUNT, GSH_ARENA_HOST);
    a = live_doubles(COUNT, GSH_ARENA_HOST);
    for (int64_t i = 0; i < COUNT; i++)
        x[i] = a[i] = (double)(i % 5) / 4;
    CHECK_INT(live_add(x, NULL, 1, x, COUNT), GSH_REASON_NONE);
    real = gsh_backend_get();
    device = *real;
    device.run_group = run_group;
    gsh_backend_replace(&device);
    check_timer();
    check_pause();
    check_limit();
    return live_end();
}
