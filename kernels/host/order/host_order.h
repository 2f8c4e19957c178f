/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy's order of elements: NaN comes last. Complex numbers are ordered by which parts are NaN (none, the imaginary, the real
 * part, both), then by the real, then by the imaginary part (npysort_common.h, NumPy 1.22 to 2.5).
 */
#pragma once

#include "dtypes.h"

/* Whether the element at `a` comes before the one at `b`. */
typedef bool gsh_host_order_before(const char *a, const char *b);

gsh_host_order_before *gsh_host_order_find(enum gsh_dtype dtype);
