/* SPDX-License-Identifier: Apache-2.0
 *
 * Sinks of a group: the REDUCE launches that they stand for, the tree that these have in common, and the text that
 * joins elements.
 */
#pragma once

#include "source_reduce.h"

struct gsh_source_sinks {
    const struct gsh_group *group;
    struct gsh_launch launches[GSH_GROUP_SINKS]; /* collapsed */
    struct gsh_source_tree tree;
    int kept; /* dimensions of the group */
    int64_t scratch_strides[GSH_GROUP_SINKS][GSH_MAX_DIMS];
    size_t scratch_at[GSH_GROUP_SINKS], scratch_bytes; /* 0 bytes: one segment, no second stages */
    bool looks;                                        /* joins are checked for errors */
};

/* DECLINED where one kernel cannot have the tree of every sink's own launch. */
enum gsh_status gsh_source_group_sinks_set(const struct gsh_group *group,
                                           struct gsh_source_sinks *sinks);
/* Appends the kernel's ends[] and output_stride[]. */
enum gsh_status gsh_source_group_sinks_put_ends(const struct gsh_source_sinks *sinks,
                                                uint64_t scratch, struct gsh_source_stage *stage);
/* Writes Total and its functions. */
void gsh_source_group_sinks_write_totals(const struct gsh_source_sinks *sinks, struct gsh_fmt *fmt);
