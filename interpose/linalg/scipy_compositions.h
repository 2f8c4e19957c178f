/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of SciPy's C modules that numpy_composed_*.py compute of functions of NumPy: in their module's order of operations, on
 * operands of which one is on the device.
 */
#pragma once

/* Called with a path before it is opened; cheap where it is no such module's. Any thread. */
void gsh_scipy_compositions_adopt_module(const char *path);
