/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a reduction's text that a group's sinks share with separate launches: the tree, its second stage, the
 * text of the accumulator.
 */
#pragma once

#include "source.h"

/* The form of a collapsed launch's tree. */
struct gsh_source_tree {
    bool lanes_fast, is_wide;
    int pack, unroll, chain; /* elements of a unit, units of a round, rounds of a chunk */
    int64_t elements;        /* reduced */
    int64_t outputs, units, lanes, segment, segments;
};

void gsh_source_reduce_tree(const struct gsh_launch *launch, struct gsh_source_tree *tree);
/* Bytes of an accumulator. */
int64_t gsh_source_reduce_accumulator(const struct gsh_launch *launch);
/* Plans the stage that joins the results of segments from scratch; its text is gsh_source_reduce_text(launch, 1,
 * ...). */
enum gsh_status gsh_source_reduce_second(const struct gsh_launch *launch, uint64_t scratch,
                                         struct gsh_source_stage *stage);
/* Writes the types and functions of the first stage that cuda/reduction.cuh needs in front of it. */
void gsh_source_reduce_write(const struct gsh_launch *launch, struct gsh_fmt *fmt);
/* Whether the first stage's joins check for errors; whether it begins with an element. */
bool gsh_source_reduce_checks(const struct gsh_launch *launch);
bool gsh_source_reduce_begins_with_first(const struct gsh_launch *launch);
/* Whether a single element is copied with its byte unchanged. Joins would turn a bool's byte into 0 or 1. */
bool gsh_source_reduce_copies_one(const struct gsh_launch *launch);
