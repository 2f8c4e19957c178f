/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "host_order.h"

#include <math.h>
#include <string.h>

static bool is_before_real(double a, double b)
{
    return a < b || (isnan(b) && !isnan(a));
}

static int group_of(const double *parts)
{
    return (isnan(parts[0]) ? 2 : 0) + (isnan(parts[1]) ? 1 : 0);
}

static bool is_before_complex(const double *a, const double *b)
{
    if (group_of(a) != group_of(b))
        return group_of(a) < group_of(b);
    bool same_real = a[0] == b[0] || isnan(a[0]);
    return same_real ? a[1] < b[1] : a[0] < b[0];
}

/* A number that grows as the float16 of these bits does; the zeros have one. */
static int half_code(uint16_t bits)
{
    enum { SIGN = 0x8000, INFINITE = 0x7c00 };
    int size = bits & (SIGN - 1);
    if (size > INFINITE)
        return INFINITE + 1;
    return bits & SIGN ? -size : size;
}

#define X(name, type, comparison)                                                                  \
    static bool is_before_##name(const char *x, const char *y)                                     \
    {                                                                                              \
        type a, b;                                                                                 \
        memcpy(&a, x, sizeof a);                                                                   \
        memcpy(&b, y, sizeof b);                                                                   \
        return comparison;                                                                         \
    }
X(INT8, int8_t, a < b)
X(INT16, int16_t, a < b)
X(INT32, int32_t, a < b)
X(INT64, int64_t, a < b)
X(UINT8, uint8_t, a < b)
X(UINT16, uint16_t, a < b)
X(UINT32, uint32_t, a < b)
X(UINT64, uint64_t, a < b)
X(FLOAT16, uint16_t, half_code(a) < half_code(b))
X(FLOAT32, float, is_before_real(a, b))
X(FLOAT64, double, is_before_real(a, b))
#undef X

static bool is_before_COMPLEX64(const char *x, const char *y)
{
    float a[2], b[2];
    memcpy(a, x, sizeof a);
    memcpy(b, y, sizeof b);
    return is_before_complex((const double[]){a[0], a[1]}, (const double[]){b[0], b[1]});
}

static bool is_before_COMPLEX128(const char *x, const char *y)
{
    double a[2], b[2];
    memcpy(a, x, sizeof a);
    memcpy(b, y, sizeof b);
    return is_before_complex(a, b);
}

gsh_host_order_before *gsh_host_order_find(enum gsh_dtype dtype)
{
    static gsh_host_order_before *const orders[GSH_DTYPE_COUNT] = {
        [GSH_BOOL] = is_before_UINT8,          [GSH_INT8] = is_before_INT8,
        [GSH_INT16] = is_before_INT16,         [GSH_INT32] = is_before_INT32,
        [GSH_INT64] = is_before_INT64,         [GSH_UINT8] = is_before_UINT8,
        [GSH_UINT16] = is_before_UINT16,       [GSH_UINT32] = is_before_UINT32,
        [GSH_UINT64] = is_before_UINT64,       [GSH_FLOAT16] = is_before_FLOAT16,
        [GSH_FLOAT32] = is_before_FLOAT32,     [GSH_FLOAT64] = is_before_FLOAT64,
        [GSH_COMPLEX64] = is_before_COMPLEX64, [GSH_COMPLEX128] = is_before_COMPLEX128,
    };
    return orders[dtype];
}
