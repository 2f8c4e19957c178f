/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes, checked size arithmetic and small helpers that every folder uses.
 * Knows nothing of the project: no allocation, no Python, no CUDA, no locks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GSH_EXPORT __attribute__((visibility("default")))
#define GSH_PRINTF(format_index, first_argument)                                                   \
    __attribute__((format(printf, format_index, first_argument)))
#define GSH_LIKELY(x) __builtin_expect(!!(x), 1)
#define GSH_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define GSH_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GSH_MIN(a, b) ((a) < (b) ? (a) : (b))
#define GSH_MAX(a, b) ((a) > (b) ? (a) : (b))

/* *product = a * b; false on overflow, *product is then unspecified. */
static inline bool gsh_mul(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* x rounded up to a multiple of the power of two `unit`; the caller rules out overflow. */
static inline size_t gsh_round_up(size_t x, size_t unit)
{
    return (x + unit - 1) & ~(unit - 1);
}
