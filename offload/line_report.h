/* SPDX-License-Identifier: Apache-2.0
 *
 * The line profile as a section of the report: the lines that cost most first, each with what to change.
 */
#pragma once

/* Adds the section, if the profile was asked for. At start, before there are other threads. */
void gsh_line_report_init(void);
