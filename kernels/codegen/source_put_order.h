/* SPDX-License-Identifier: Apache-2.0
 *
 * A PUT's ranks (source_ranking.h) sorted by their cells, equal ones in C order, for a PUT with an operation whose order matters.
 * One stage writes the cells, a SORT's stages sort them, and another stage joins (kernels/cuda/indexed/indexed_order.cuh).
 */
#pragma once

#include "launch.h"

/* Whether 32 bits number the ranks and the cells, and each cell is a place of its own. */
bool gsh_source_put_order_is_possible(const struct gsh_launch *launch);
/* Bytes of scratch memory, apart from the SORT's: the cells, 32 bits for each rank, and the order, 64 bits each. */
size_t gsh_source_put_order_bytes(const struct gsh_launch *launch);
/* The SORT: its input are the cells, which begin at `scratch`, its output is the order. */
struct gsh_launch gsh_source_put_order_sort(const struct gsh_launch *launch, uint64_t scratch);
