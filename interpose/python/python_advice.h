/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lines of the program make calls that stay on the CPU, calls that go to the device, and transfers: the observer
 * (config/observer.h) of a run that `gpushim advise` has asked for, and the report's key `advice_lines` (docs/user/report.md). A line is
 * that of the innermost frame whose code is not NumPy's, SciPy's or Python's own. Code is known once a call was made in it by a
 * thread with the GIL; a transfer for a page fault in other code counts for its caller.
 */
#pragma once

/* Begins if option ADVISE is set; else nothing. GIL; after gsh_python_place_init, before there are other threads of ours. */
void gsh_python_advice_install(void);
