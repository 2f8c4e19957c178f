/* SPDX-License-Identifier: Apache-2.0
 *
 * The ufuncs of scipy.special that have a row in ops_special.def. They are hooked when the program imports the module.
 */
#pragma once

/* Called before any extension module of the package is opened. Any thread. */
void gsh_scipy_special_note_library(void);
