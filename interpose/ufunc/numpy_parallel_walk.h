/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks a space row by row. A row is dimension 0; rows are numbered with dimension 1 as the fastest.
 */
#pragma once

#include "numpy_parallel.h"

/* A place in a space: a row, and the addresses of its first elements. */
struct gsh_numpy_parallel_walk {
    int64_t index[GSH_MAX_DIMS];
    char *row[GSH_MAX_OPERANDS];
};

static inline int64_t gsh_numpy_parallel_walk_rows(const struct gsh_numpy_space *space)
{
    int64_t rows = 1;
    for (int d = 1; d < space->ndim; d++)
        rows *= space->shape[d];
    return rows;
}

static inline void gsh_numpy_parallel_walk_begin(struct gsh_numpy_parallel_walk *walk,
                                                 const struct gsh_numpy_space *space, int64_t row)
{
    *walk = (struct gsh_numpy_parallel_walk){0};
    for (unsigned k = 0; k < space->loop->count; k++)
        walk->row[k] = space->first[k];
    for (int d = 1; d < space->ndim; d++) {
        walk->index[d] = row % space->shape[d];
        row /= space->shape[d];
        for (unsigned k = 0; k < space->loop->count; k++)
            walk->row[k] += walk->index[d] * space->strides[k][d];
    }
}

/* Rows from the place on, at most so many, along dimension 1: they are equally far apart in each operand. */
static inline int64_t gsh_numpy_parallel_walk_run(const struct gsh_numpy_parallel_walk *walk,
                                                  const struct gsh_numpy_space *space, int64_t most)
{
    return space->ndim > 1 ? GSH_MIN(space->shape[1] - walk->index[1], most) : 1;
}

/* Goes on by that many rows. After the last row comes the first. */
static inline void gsh_numpy_parallel_walk_skip(struct gsh_numpy_parallel_walk *walk,
                                                const struct gsh_numpy_space *space, int64_t rows)
{
    for (int d = 1; d < space->ndim; d++, rows = 1) {
        int64_t steps = rows;
        walk->index[d] += rows;
        bool is_end = walk->index[d] == space->shape[d];
        if (is_end)
            steps -= space->shape[d];
        for (unsigned k = 0; k < space->loop->count; k++)
            walk->row[k] += steps * space->strides[k][d];
        if (!is_end)
            return;
        walk->index[d] = 0;
    }
}
