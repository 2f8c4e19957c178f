/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUSHIM_REQUIRE=NN%: which share of the work of NumPy's hooked calls is to be the device's (report_verdict.h). The script's exit
 * status is not touched.
 */
#pragma once

/* Reads the option, asks for times and lines, and adds the JSON key "require". At start; says so where the value is bad. */
void gsh_requirement_init(void);
/* One line on stderr where the share was not reached. Once, at exit; nothing in a forked child. */
void gsh_requirement_at_exit(void);
