/* SPDX-License-Identifier: Apache-2.0
 *
 * scipy.linalg.solve and inv in SciPy 1.17 and later. They run in an extension module with its own
 * memory: its LAPACK calls alone could be offloaded only with transfers of all operands.
 */
#pragma once

/* Called before the module is opened. Hooks it once it is loaded. Any thread. */
void gsh_scipy_linalg_adopt_module(void);
