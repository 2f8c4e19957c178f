/* SPDX-License-Identifier: Apache-2.0
 *
 * float16 as its two bytes: conversions that keep NaN payloads as NumPy's do (no quieting), and the two functions
 * whose result depends on the precision. Integer arithmetic only, no tables.
 */
#pragma once

#include "base.h"

#include <string.h>

static inline float gsh_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t gsh_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double gsh_double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t gsh_bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float gsh_half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = half & 0x7fff;
    if (magnitude >= 0x7c00) /* infinity, NaN with its payload */
        return gsh_float_of_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    if (magnitude < 0x400) /* subnormal: a multiple of the smallest one */
        return gsh_float_of_bits(sign | gsh_bits_of_float((float)magnitude * 0x1p-24f));
    return gsh_float_of_bits(sign | ((magnitude << 13) + (112u << 23)));
}

static inline double gsh_half_to_double(uint16_t half)
{
    if ((half & 0x7fff) > 0x7c00)
        return gsh_double_of_bits((uint64_t)(half & 0x8000) << 48 | UINT64_C(0x7ff) << 52 |
                                  (uint64_t)(half & 0x3ff) << 42);
    return gsh_half_to_float(half);
}

/* Rounds to nearest, ties to even: sign, biased exponent (of a half; may be below 1 and above 30) and a
 * significand of 1.52 bits. */
static inline uint16_t gsh_half_round(uint16_t sign, int exponent, uint64_t significand)
{
    if (exponent > 30)
        return sign | 0x7c00;
    int shift = exponent > 0 ? 42 : exponent > -11 ? 43 - exponent : 54;
    uint64_t kept = significand >> shift, rest = significand - (kept << shift);
    uint64_t middle = UINT64_C(1) << (shift - 1);
    kept += rest > middle || (rest == middle && (kept & 1) != 0);
    /* The leading bit adds 1 to the exponent; a carry moves on to the next, to infinity at last. */
    return (uint16_t)(sign | (kept + ((uint64_t)(exponent > 0 ? exponent - 1 : 0) << 10)));
}

static inline uint16_t gsh_half_of_double(double value)
{
    uint64_t bits = gsh_bits_of_double(value), fraction = bits & (UINT64_MAX >> 12);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff) { /* a payload without a bit left becomes 1 */
        uint16_t payload = (uint16_t)(fraction >> 42);
        return (uint16_t)(sign | 0x7c00 | payload | (fraction != 0 && payload == 0));
    }
    return gsh_half_round(sign, exponent - 1008, fraction | UINT64_C(1) << 52);
}

static inline uint16_t gsh_half_of_float(float value)
{
    uint32_t bits = gsh_bits_of_float(value);
    uint64_t fraction = bits & 0x7fffff;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    int exponent = (int)(bits >> 23 & 0xff);
    if (exponent == 0xff) {
        uint16_t payload = (uint16_t)(fraction >> 13);
        return (uint16_t)(sign | 0x7c00 | payload | (fraction != 0 && payload == 0));
    }
    return gsh_half_round(sign, exponent - 112, (fraction | 0x800000) << 29);
}

/* Takes values that are float16 exactly, and returns such values. */
static inline float gsh_half_nextafter(float a, float b)
{
    uint16_t from = gsh_half_of_float(a), to = gsh_half_of_float(b);
    if (a != a || b != b)
        return gsh_half_to_float(0x7e00);
    if (a == b)
        return b;
    if (a == 0)
        return gsh_half_to_float((to & 0x8000) | 1);
    bool grows = (a < b) == (a > 0);
    return gsh_half_to_float((uint16_t)(grows ? from + 1 : from - 1));
}

/* NumPy's spacing: the distance to the next greater number; unlike that of wider types it is never negative. */
static inline float gsh_half_spacing(float a)
{
    uint16_t bits = gsh_half_of_float(a);
    unsigned exponent = bits >> 10 & 31;
    if (exponent == 31)
        return gsh_half_to_float(0x7e00);
    if (bits == 0x7bff)
        return gsh_half_to_float(0x7c00);
    if ((bits & 0x8000) != 0 && (bits & 0x3ff) == 0 && exponent > 1)
        exponent--; /* above minus a power of two the neighbour is closer */
    return gsh_half_to_float(exponent == 0   ? 1
                             : exponent > 10 ? (uint16_t)((exponent - 10) << 10)
                                             : (uint16_t)(1 << (exponent - 1)));
}
