/* SPDX-License-Identifier: Apache-2.0
 *
 * SORT as text: see source.h.
 */
#pragma once

#include "source.h"

size_t gsh_source_sort_scratch(const struct gsh_launch *launch);
/* How many stages the plan of a SORT that has kernels has. */
unsigned gsh_source_sort_stages(const struct gsh_launch *launch);
enum gsh_status gsh_source_sort_plan(const struct gsh_launch *launch, uint64_t scratch,
                                     struct gsh_source_plan *plan);
void gsh_source_sort_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);

/* Writes kernels/cuda/sort/sort_key.cuh and what it needs; bytes of the code below `from` are in order already. */
void gsh_source_sort_write_code(enum gsh_dtype dtype, unsigned from, struct gsh_fmt *fmt);
