/* SPDX-License-Identifier: Apache-2.0
 *
 * Element k of the destination is element j of the source where to + k * to_stride = from + j * from_stride. The solutions of this
 * linear Diophantine equation are k0 + t * from_stride / g and j0 + t * to_stride / g for every integer t, where g is the greatest
 * common divisor of the strides.
 */
#include "read_back.h"

/* g = greatest common divisor of a and b, neither negative, and g = *x * a + y * b for some y; 1 where both are 0. */
static int64_t divide(int64_t a, int64_t b, int64_t *x)
{
    int64_t x0 = 1, x1 = 0;
    while (b != 0) {
        int64_t quotient = a / b, rest = a % b, next = x0 - quotient * x1;
        a = b, b = rest;
        x0 = x1, x1 = next;
    }
    *x = x0;
    return GSH_MAX(a, 1);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

bool gsh_read_back_happens(int64_t to, int64_t to_stride, int64_t from, int64_t from_stride,
                           int64_t count)
{
    if (to_stride < 0) {
        to += (count - 1) * to_stride, from += (count - 1) * from_stride;
        to_stride = -to_stride, from_stride = -from_stride;
    }
    bool is_reversed = from < to && from + count * from_stride > to;
    int64_t x, g = divide(to_stride, from_stride, &x), apart = from - to;
    int64_t k_step = from_stride / g, j_step = to_stride / g;
    if (k_step < 1 || j_step < 1)
        return true; /* a stride of 0 */
    if (apart % g != 0)
        return false;
    /* the least k that solves it, and its j */
    int64_t k = (int64_t)((__int128)x * (apart / g) % k_step);
    k += k < 0 ? k_step : 0;
    int64_t j = (k * to_stride - apart) / from_stride;
    /* of these solutions, those with 0 <= k, j < count */
    int64_t first = j < 0 ? floor_divide(-j + j_step - 1, j_step) : 0;
    int64_t last =
        GSH_MIN(floor_divide(count - 1 - k, k_step), floor_divide(count - 1 - j, j_step));
    if (first > last)
        return false;
    /* k - j is linear in t */
    int64_t begin = (k + first * k_step) - (j + first * j_step);
    int64_t end = (k + last * k_step) - (j + last * j_step);
    return is_reversed ? GSH_MAX(begin, end) > 0 : GSH_MIN(begin, end) < 0;
}
