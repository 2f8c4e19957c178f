/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks the product of a CSR matrix with a vector in scipy.sparse's C module.
 */
#pragma once

/* Called with the path of a module before it is opened. Hooks the product once the module that has it is loaded. Any thread. */
void gsh_scipy_spmv_adopt_module(const char *path);
