/* SPDX-License-Identifier: Apache-2.0
 *
 * SORT and SEARCH on the CPU. See launch.h.
 */
#pragma once

#include "launch.h"
#include "status.h"

bool gsh_host_sort_supports(const struct gsh_launch *launch);
/* FAILED: no memory for a row's order; nothing was written. */
enum gsh_status gsh_host_sort_run(const struct gsh_launch *launch);

bool gsh_host_sort_search_supports(const struct gsh_launch *launch);
void gsh_host_sort_search(const struct gsh_launch *launch);
