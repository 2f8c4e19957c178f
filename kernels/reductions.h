/* SPDX-License-Identifier: Apache-2.0
 *
 * The reductions that the device supports: reductions.def as an enum and look-ups. Every fact about a reduction is in
 * its row.
 */
#pragma once

#include "ops.h"

enum gsh_reduction {
#define X(name, ...) GSH_REDUCE_##name,
#include "reductions.def"
#undef X
    GSH_REDUCTION_COUNT
};

/* The value that a reduction begins with. It changes no result. ONES has all bits set. LOWEST is the least value
 * of the loop's dtype, minus infinity for floats. FIRST: there is no such value; the first element begins, and
 * joining an element twice does no harm. */
enum gsh_neutral {
    GSH_NEUTRAL_ZERO,
    GSH_NEUTRAL_ONE,
    GSH_NEUTRAL_ONES,
    GSH_NEUTRAL_LOWEST,
    GSH_NEUTRAL_FIRST
};

struct gsh_reduction_info {
    const char *name; /* "sum" */
    const char
        *ufunc;      /* the ufunc whose reduce it is, e.g. "add"; "" where there is none (argmax) */
    unsigned dtypes; /* bit set: dtypes of the loop */
    enum gsh_result result;
    unsigned
        max_ulp; /* 0: equal whatever the order (but for the sign of zero and which NaN); else the error is at
                       * most so many units in the last place of the sum (product) of the magnitudes */
    enum gsh_op combine;      /* the operation that joins two partial results */
    enum gsh_neutral neutral; /* what the reduction begins with, and the result of an empty one */
};

const struct gsh_reduction_info *gsh_reduction_info(enum gsh_reduction reduction);
/* The result of a reduction before it is cast: the loop's dtype, bool or int64. */
enum gsh_dtype gsh_reduction_output_dtype(enum gsh_reduction reduction, enum gsh_dtype loop);
/* Whether there is a loop of this dtype. */
bool gsh_reduction_has_loop(enum gsh_reduction reduction, enum gsh_dtype loop);
/* Whether partial results that are joined in another order than one after the other may overflow or underflow
 * where NumPy's do not, as products of floats do. Where that decides the result, kernels join in the launch's C
 * order, as NumPy does. */
bool gsh_reduction_is_ordered(enum gsh_reduction reduction, enum gsh_dtype loop);
/* Whether it may be a sink of a group (group.h): the loop exists, its results may be joined in any order, and it
 * is no INDEX row. */
bool gsh_reduction_may_sink(enum gsh_reduction reduction, enum gsh_dtype loop);
/* The reduction whose ufunc has this name; -1: there is none. */
int gsh_reduction_find(const char *ufunc);
