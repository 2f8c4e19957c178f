/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lines of the program make calls that stay on the CPU, calls that go to the device, and transfers: the observer
 * (config/observer.h) of a run that `gpushim advise` has asked for, and the report's key `advice_lines` (docs/user/report.md). Lines
 * are those of the line profile (line_profile.h).
 */
#pragma once

/* Begins if option ADVISE is set; else nothing. GIL; after gsh_python_line_init, before there are other threads of ours. */
void gsh_python_advice_install(void);
