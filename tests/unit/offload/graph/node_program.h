/* SPDX-License-Identifier: Apache-2.0
 *
 * Of random programs over arrays of small whole numbers: what is chosen, what arrays hold, and what calls compute.
 */
#pragma once

#include "live.h"

#include <math.h>

/* A number below the bound; advances the state. */
static inline unsigned node_program_pick(uint32_t *state, unsigned bound)
{
    *state = *state * 1664525U + 1013904223U;
    return (*state >> 16) % bound;
}

/* A new array of doubles, of whole numbers from `value` on, which are the expected ones too. */
static inline double *node_program_array(double value, double *expected, unsigned count)
{
    double *array = live_doubles(count, GSH_ARENA_HOST);
    for (unsigned i = 0; i < count; i++)
        array[i] = expected[i] = value + i % 3;
    return array;
}

/* Of two operands; whole numbers give whole numbers. */
static inline enum gsh_op node_program_op(uint32_t *state)
{
    static const enum gsh_op ops[] = {GSH_OP_ADD, GSH_OP_MAXIMUM, GSH_OP_MINIMUM};
    return ops[node_program_pick(state, GSH_COUNT(ops))];
}

/* What the op makes of each element; b is NULL where the constant takes its place. */
static inline void node_program_compute(enum gsh_op op, const double *a, const double *b,
                                        double constant, double *results, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        double second = b != NULL ? b[i] : constant;
        results[i] = op == GSH_OP_ADD       ? a[i] + second
                     : op == GSH_OP_MAXIMUM ? fmax(a[i], second)
                                            : fmin(a[i], second);
    }
}
