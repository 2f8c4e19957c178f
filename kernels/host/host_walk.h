/* SPDX-License-Identifier: Apache-2.0
 *
 * A position in some dimensions of a launch, in C order, with the operands' addresses at that position.
 */
#pragma once

#include "launch.h"

struct gsh_host_walk {
    const struct gsh_launch *launch;
    int first, end; /* the dimensions [first, end) */
    int64_t index[GSH_MAX_DIMS];
    char *address[GSH_MAX_OPERANDS];
};

/* Begins at the first element in the dimensions [first, end); the others stay at 0. */
static inline struct gsh_host_walk gsh_host_walk_begin(const struct gsh_launch *launch, int first,
                                                       int end)
{
    struct gsh_host_walk walk = {.launch = launch, .first = first, .end = end};
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        if (!launch->operands[k].is_constant)
            walk.address[k] = (char *)(uintptr_t)launch->operands[k].address;
    return walk;
}

/* Steps by `count` elements, at most to the end of the innermost dimension's row. Behind the last element it
 * returns to the first. */
static inline void gsh_host_walk_step(struct gsh_host_walk *walk, int64_t count)
{
    const struct gsh_launch *launch = walk->launch;
    for (int d = walk->end - 1; d >= walk->first; d--, count = 1) {
        bool wraps = (walk->index[d] += count) == launch->shape[d];
        int64_t steps = wraps ? count - launch->shape[d] : count;
        for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
            walk->address[k] += steps * launch->strides[k][d];
        if (!wraps)
            return;
        walk->index[d] = 0;
    }
}

/* Elements left in the innermost dimension's row, and the stride of operand k there. */
static inline int64_t gsh_host_walk_left(const struct gsh_host_walk *walk)
{
    int last = walk->end - 1;
    return last >= walk->first ? walk->launch->shape[last] - walk->index[last] : 1;
}

static inline int64_t gsh_host_walk_stride(const struct gsh_host_walk *walk, unsigned k)
{
    return walk->end > walk->first ? walk->launch->strides[k][walk->end - 1] : 0;
}
