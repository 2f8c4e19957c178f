/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks on the recursive filters of scipy.signal's C modules.
 */
#pragma once

/* Called with the path of a module before it is opened. Hooks the filters once the module that has them is loaded. Any thread. */
void gsh_scipy_filter_adopt_module(const char *path);
