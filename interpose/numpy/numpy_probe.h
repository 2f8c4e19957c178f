/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries on an array's contents that must be answered before the shape of a result is known or
 * anything is written: the number of true elements, the minimum and the maximum. An array on the
 * device is reduced there and a few bytes are fetched. Any other array is read on the host. GIL; no
 * Python error.
 */
#pragma once

#include "numpy_describe.h"

/* The number of true elements of a bool array. False: *why, declined. */
bool gsh_numpy_probe_count(PyObject *mask, int64_t *count, enum gsh_reason *why);
/* The minimum and maximum of a non-empty integer array. False: *why, declined. */
bool gsh_numpy_probe_range(PyObject *array, int64_t *least, int64_t *greatest,
                           enum gsh_reason *why);
