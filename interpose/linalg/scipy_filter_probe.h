/* SPDX-License-Identifier: Apache-2.0
 *
 * What a version or a build of SciPy computes is asked, not its number: before the first call of a form and dtype, SciPy's loop
 * and ours filter the same numbers. Another order of operations, fused products, and products of complex numbers that are
 * repaired where they are NaN, give other bits.
 */
#pragma once

#include "launch.h"
#include "numpy_method_patch.h"

/* Filters lines of x by our loops on the CPU, with the same arguments as the module's function, and with its result. NULL: it does
 * not. May leave a Python error. */
typedef PyObject *(*gsh_scipy_filter_loops)(PyObject *const *arrays);

/* Whether the hook's original gives our loops' bits for the dtype; any NaN equals any other. The answer is kept. `self`: of the
 * call. GIL; leaves no Python error. */
bool gsh_scipy_filter_probe_agrees(const struct gsh_method_hook *hook, PyObject *self,
                                   enum gsh_filter_form form, enum gsh_dtype dtype,
                                   gsh_scipy_filter_loops ours);
