/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers of the directed tests of the planner: short programs over values of N numbers, or over masks, run node by
 * node and by plan, and counts of what the plan contains.
 */
#pragma once

#include "plan_program.h"

#define N 600 /* elements of a value, float64 */

static struct program program;
static uint8_t mask_shares[PROGRAM_VALUES]; /* n: bytes, of which every n-th is true; 0: numbers */
static uint64_t plain_claims[GSH_PLAN_NODES][GSH_ERROR_KINDS];
static char plain_bytes[PROGRAM_VALUES][N * 8], planned_bytes[PROGRAM_VALUES][N * 8];

static inline void begin(void)
{
    memset(&program, 0, sizeof program);
    memset(mask_shares, 0, sizeof mask_shares);
}

static inline int new_value(void)
{
    return program_value(&program, N * 8);
}

/* A value that is looked at in the end. */
static inline int new_wanted(void)
{
    int value = new_value();
    program_want(&program, value);
    return value;
}

static inline struct view line(int value)
{
    return view_whole(value, GSH_FLOAT64, SHAPE(N));
}

static inline struct view matrix(int value)
{
    return view_whole(value, GSH_FLOAT64, SHAPE(20, 30));
}

/* A row's value spread over it: what is combined with each element of the row. */
static inline struct view spread(int value)
{
    struct view view = view_whole(value, GSH_FLOAT64, SHAPE(20, 1));
    view.shape[1] = 30;
    view.strides[1] = 0;
    return view;
}

static inline struct gsh_node *binary(enum gsh_op op, struct view a, struct view b, struct view out)
{
    return program_op(&program, op, GSH_FLOAT64, (const struct view[]){a, b}, &out, NULL);
}

static inline struct gsh_node *unary(enum gsh_op op, struct view a, struct view out)
{
    return program_op(&program, op, GSH_FLOAT64, &a, &out, NULL);
}

static inline struct gsh_node *add(struct view a, struct view b, struct view out)
{
    return binary(GSH_OP_ADD, a, b, out);
}

static inline void sum(struct view in, int out, int nreduce)
{
    struct view kept = {.ndim = in.ndim - nreduce};
    memcpy(kept.shape, in.shape, sizeof kept.shape);
    program_reduce(&program, GSH_REDUCE_SUM, in,
                   view_whole(out, GSH_FLOAT64, kept.ndim, kept.shape), nreduce);
}

static inline double first_number(int value, int k)
{
    return (k * 37 + value * 11) % 101 / 8.0 - 5;
}

static inline bool is_true(int mask, int k)
{
    return (k + mask) % mask_shares[mask] == 0;
}

static inline void fill(int value, char *bytes)
{
    for (int k = 0; k < N; k++) {
        double number = first_number(value, k);
        if (mask_shares[value] != 0)
            bytes[k] = is_true(value, k);
        else
            memcpy(bytes + (size_t)k * 8, &number, 8);
    }
}

/* Runs the program both ways and compares what is wanted. */
static inline struct plan_counts run(void)
{
    char *plain[PROGRAM_VALUES], *planned[PROGRAM_VALUES];
    for (int v = 0; v < PROGRAM_VALUES; v++) {
        plain[v] = plain_bytes[v];
        planned[v] = planned_bytes[v];
        fill(v, plain[v]);
    }
    memcpy(planned_bytes, plain_bytes, sizeof plain_bytes);
    memset(program.claims, 0, sizeof program.claims);
    for (unsigned n = 0; n < program.node_count; n++)
        CHECK(program_run_node(&program, n, plain) == GSH_OK);
    memcpy(plain_claims, program.claims, sizeof plain_claims);
    memset(program.claims, 0, sizeof program.claims);
    struct plan_counts counts = program_plan(&program, planned, group_reference_run);
    CHECK(memcmp(plain_claims, program.claims, sizeof plain_claims) == 0);
    for (unsigned v = 0; v < program.value_count; v++)
        if (program.values[v].references > program.values[v].pending)
            CHECK(memcmp(plain_bytes[v], planned_bytes[v], sizeof plain_bytes[v]) == 0);
    return counts;
}

/* Plans and checks the numbers of items, of items that are one node, and of steps, loads and stores in groups. */
#define expect(all, single, computed, loaded, stored)                                              \
    expect_counts((struct plan_counts){.items = (all),                                             \
                                       .alone = (single),                                          \
                                       .steps = (computed),                                        \
                                       .loads = (loaded),                                          \
                                       .stores = (stored)},                                        \
                  __LINE__)

static inline void expect_counts(struct plan_counts expected, int line)
{
    struct plan_counts counts = run();
    if (!CHECK(counts.items == expected.items && counts.alone == expected.alone &&
               counts.steps == expected.steps && counts.loads == expected.loads &&
               counts.stores == expected.stores))
        fprintf(stderr, "%s:%d: %u items, %u alone, %u steps, %u loads, %u stores\n", __FILE__,
                line, counts.items, counts.alone, counts.steps, counts.loads, counts.stores);
}
