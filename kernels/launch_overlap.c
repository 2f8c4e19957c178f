/* SPDX-License-Identifier: Apache-2.0
 *
 * With base addresses x and y and strides s and t, indices p and q name the same element if x + s.p = y + t.q.
 *
 * - The two sides differ by y - x and a multiple of the strides' greatest common divisor: where that does not divide y - x, there
 *   is no such pair. So it is for two planes of one array.
 * - In one dimension, pairs differ by multiples of (t / gcd, s / gcd). Where one of these is at least the extent, there is at most one
 *   pair; it is harmless if p = q.
 */
#include "launch_overlap.h"

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* Of the strides of both, and 0 where there are none. */
static int64_t common_step(const struct gsh_launch *launch, unsigned a, unsigned b)
{
    int64_t step = 0;
    for (int d = 0; d < launch->ndim; d++)
        if (launch->shape[d] > 1)
            step = gcd(gcd(step, launch->strides[a][d]), launch->strides[b][d]);
    return step;
}

/* The only dimension that has more than one index; -1: there are several, or none. */
static int only_dimension(const struct gsh_launch *launch)
{
    int only = -1;
    for (int d = 0; d < launch->ndim; d++) {
        if (launch->shape[d] <= 1)
            continue;
        if (only >= 0)
            return -1;
        only = d;
    }
    return only;
}

/* The same in one dimension; `apart`: y - x, a multiple of `step`. */
static bool is_harmless_in_line(const struct gsh_launch *launch, unsigned a, unsigned b, int d,
                                int64_t apart, int64_t step)
{
    int64_t extent = launch->shape[d], s = launch->strides[a][d], t = launch->strides[b][d];
    if (s == t)
        return apart / gcd(s, 0) >= extent || -apart / gcd(s, 0) >= extent;
    bool is_single = gcd(s, 0) / step >= extent || gcd(t, 0) / step >= extent;
    return is_single && apart % (s - t) == 0 && apart / (s - t) >= 0 && apart / (s - t) < extent;
}

bool gsh_launch_overlap_is_harmless(const struct gsh_launch *launch, unsigned a, unsigned b)
{
    const struct gsh_operand *x = &launch->operands[a], *y = &launch->operands[b];
    int64_t size = (int64_t)gsh_dtype_size(x->dtype), apart = (int64_t)(y->address - x->address);
    int64_t step = common_step(launch, a, b);
    int only = only_dimension(launch);
    if (!gsh_launch_has(launch, GSH_TRAIT_IN_PLACE))
        return false;
    if (gsh_launch_is_same_view(launch, a, b))
        return true;
    if (!gsh_launch_has(launch, GSH_TRAIT_MAPS) || size != (int64_t)gsh_dtype_size(y->dtype) ||
        step == 0 || step % size != 0 || apart % size != 0)
        return false;
    if (apart % step != 0)
        return true;
    return only >= 0 && is_harmless_in_line(launch, a, b, only, apart, step);
}
