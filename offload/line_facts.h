/* SPDX-License-Identifier: Apache-2.0
 *
 * What the line profile says of one line, in the words of reports.
 */
#pragma once

#include "line_advice.h"

/* Refers to the line. */
struct gsh_line_facts gsh_line_facts_of(const struct gsh_line_profile_copy *line);
/* The most frequent operation, those on the CPU before others; NULL: none. */
const struct gsh_line_profile_call *
gsh_line_facts_top_call(const struct gsh_line_profile_copy *line);
/* The operation's name and signature (stats.h). */
const char *gsh_line_facts_name(const struct gsh_line_profile_call *call, const char **signature);
/* The name without the folder that the program runs in. */
const char *gsh_line_facts_file(const char *file);
