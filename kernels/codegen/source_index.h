/* SPDX-License-Identifier: Apache-2.0
 *
 * TAKE and PUT launches as text: the functions of source.h, the entry point, for these kinds.
 */
#pragma once

#include "source.h"

size_t gsh_source_index_scratch(const struct gsh_launch *launch);
/* Whether it has a kernel, apart from the size of its grid: told of TAKE only. */
bool gsh_source_index_is_made(const struct gsh_launch *launch);
enum gsh_status gsh_source_index_plan(const struct gsh_launch *launch, uint64_t scratch,
                                      struct gsh_source_plan *plan);
void gsh_source_index_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);
