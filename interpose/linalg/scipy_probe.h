/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays by which SciPy's loops are compared with ours before the first call: what a version or a build computes is asked, not its
 * number. GIL.
 */
#pragma once

#include "numpy_output.h"

/* An array of float32, float64 or their complex dtypes: the same numbers below 1 at each call, none of which is a sum of few powers of
 * two. NULL: there is no memory. */
PyObject *gsh_scipy_probe_make(const struct gsh_layout *layout, enum gsh_dtype dtype, int64_t seed);
/* Stores a number; a complex array has two places for each of its own. */
void gsh_scipy_probe_store(PyObject *array, enum gsh_dtype dtype, int64_t place, double value);
/* Whether two arrays of one shape have the same bits; any NaN equals any other. */
bool gsh_scipy_probe_is_same(PyObject *got, PyObject *want, enum gsh_dtype dtype);
