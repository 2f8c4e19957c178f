/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions about an array's contents that must be answered before a result's shape is known or
 * anything may be written: how many are true, which is the least and the greatest. An array on the
 * device is asked there and a few bytes come home; any other is read where it is. GIL; no Python
 * error.
 */
#pragma once

#include "numpy_describe.h"

/* Trues of an array of bool. False: *why, declined. */
bool gsh_numpy_probe_count(PyObject *mask, int64_t *count, enum gsh_reason *why);
/* Least and greatest element of a non-empty array of integers. False: *why, declined. */
bool gsh_numpy_probe_range(PyObject *array, int64_t *least, int64_t *greatest,
                           enum gsh_reason *why);
