/* SPDX-License-Identifier: Apache-2.0
 *
 * A PUT's ranks (source_ranking.h) sorted by their cells, equal ones in C order, for a PUT with an operation whose order matters.
 * Stages (kernels/cuda/indexed/indexed_order*.cuh): one writes cells and ranks, a SORT's stages sort them, one gathers the
 * values in that order, and one joins.
 */
#pragma once

#include "launch.h"

enum {
    GSH_SOURCE_PUT_ORDER_SPREAD =
        32 /* places of a rank from which on neighbouring threads have neighbouring ones, and
                                        values are read where they lie */
};

/* Whether 32 bits number the ranks and the cells, and each cell is a place of its own. */
bool gsh_source_put_order_is_possible(const struct gsh_launch *launch);
/* The places of a rank, along the dimensions that have no ranks of their own. */
int64_t gsh_source_put_order_free(const struct gsh_launch *launch);
/* Whether the values are gathered before they are joined. */
bool gsh_source_put_order_gathers(const struct gsh_launch *launch);
/* Where the gathered values and the SORT's own memory begin in the scratch memory, in bytes. Cells and ranks stand at its beginning. */
size_t gsh_source_put_order_values_offset(const struct gsh_launch *launch);
size_t gsh_source_put_order_sort_offset(const struct gsh_launch *launch);
/* The SORT, in place, of 64 bits for each rank: its cell, and below it the rank. */
struct gsh_launch gsh_source_put_order_sort(const struct gsh_launch *launch, uint64_t scratch);
