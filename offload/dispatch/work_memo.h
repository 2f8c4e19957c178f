/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of loops that were priced lately (price.h): programs make the same calls again and again. The key is all that the
 * work depends on, so what is kept is never out of date. Any thread; no lock: one that finds the table in use goes without it.
 */
#pragma once

#include "cost_model.h"
#include "launch.h"

#define GSH_WORK_MEMO_DIMS 6 /* most dimensions of a launch that is kept */

struct gsh_work_memo_key {
    unsigned count;
    uint64_t words[4 + GSH_WORK_MEMO_DIMS * (1 + GSH_MAX_OPERANDS)];
};

/* `host_ns`: of the CPU, for each element; `cache_bytes`: of the rates. False: the launch has more dimensions, or its work depends on
 * more than operation, dtypes, shape and strides. */
bool gsh_work_memo_make_key(const struct gsh_launch *launch, double host_ns, double cache_bytes,
                            struct gsh_work_memo_key *key);
bool gsh_work_memo_find(const struct gsh_work_memo_key *key, struct gsh_work *work);
void gsh_work_memo_keep(const struct gsh_work_memo_key *key, const struct gsh_work *work);
