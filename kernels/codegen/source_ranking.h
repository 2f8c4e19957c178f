/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbering of a PUT's places: its ranks are its elements in C order, where one rank serves all elements that have one index
 * and one mask but different places. Its cells are the places of the ranks: of equal cells the places are equal.
 */
#pragma once

#include "launch.h"

struct gsh_source_ranking {
    int64_t ranks, cells; /* counts of ranks and of cells */
    int64_t rank_weights[GSH_MAX_DIMS], cell_weights[GSH_MAX_DIMS];
};

struct gsh_source_ranking gsh_source_ranking_of(const struct gsh_launch *launch);
/* Whether the elements along dimension d have ranks of their own. */
bool gsh_source_ranking_has_dim(const struct gsh_launch *launch, int d);
/* The launch with extent 1 in the dimensions that have no ranks of their own: its elements are the ranks. */
struct gsh_launch gsh_source_ranking_part(const struct gsh_launch *launch);
/* Whether every cell is a distinct place. */
bool gsh_source_ranking_is_distinct(const struct gsh_launch *launch);
