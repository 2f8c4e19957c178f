/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether an assignment between two overlapping one-dimensional views reads elements that it has written. NumPy copies such views
 * element by element, without a temporary, where their strides have the same sign (array_assign_array.c of NumPy 1.22 to 2.5:
 * PyArray_AssignArray and raw_array_assign_array). The strides are made positive first; then the elements are copied from the
 * first to the last, or from the last to the first where the source begins below the destination and reaches into it. Pure.
 */
#pragma once

#include "base.h"

/* `count` elements at to + k * to_stride become those at from + k * from_stride; addresses and strides in units of one element, strides
 * of the same sign. True where one of these is 0. */
bool gsh_read_back_happens(int64_t to, int64_t to_stride, int64_t from, int64_t from_stride,
                           int64_t count);
