/* SPDX-License-Identifier: Apache-2.0
 *
 * scipy.linalg.solve and inv as SciPy computes them from 1.17 on: in an extension module with memory of its own, where
 * the calls of LAPACK that it makes could only be taken with their operands carried there and back.
 */
#pragma once

/* Called before that module is opened: hooks it as soon as it is there. Any thread. */
void gsh_scipy_linalg_adopt_module(void);
