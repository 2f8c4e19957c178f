/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of a ziggurat's tail, by the C library's log1p, as NumPy computes them; and what its exp makes of an argument.
 */
#pragma once

#include "random_draw.h"

/* Stores the value number `index` of an array of the draw's dtype. bits: those of the uniform number that it is computed from,
 * above its lowest one; bit 63: the value is negative. */
void gsh_draw_tail_store(const struct gsh_random_draw *draw, enum gsh_dtype dtype, uint64_t bits,
                         void *values, int64_t index);
/* Stores exp of the float64 that has these bits. */
void gsh_draw_tail_store_exp(uint64_t bits, double *values, int64_t index);
