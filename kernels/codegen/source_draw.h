/* SPDX-License-Identifier: Apache-2.0
 *
 * DRAW launches as text (kernels/cuda/random/), and what the host finds in the scratch memory once they have run.
 */
#pragma once

#include "source.h"

/* What the kernels tell of a draw some of whose pieces make no value (random_tile.cuh). */
struct gsh_source_draw_result {
    uint64_t consumed; /* pieces; 0: there were too few */
    uint64_t failed;   /* not 0: the values are not NumPy's */
    uint64_t tails;    /* values that the host is to compute */
};
#define GSH_SOURCE_DRAW_ARGUMENT (UINT64_C(1) << 62)
/* One of these: the value's number, and what it is computed from: see gsh_draw_tail_store, or with ARGUMENT in the number the bits
 * of exp's argument. */
struct gsh_source_draw_tail {
    uint64_t index, bits;
};
/* Where they lie: offsets in the scratch memory. `values`: room for a float64 for each tail. */
struct gsh_source_draw_places {
    size_t result, tails, values;
    int64_t tail_room;
};

size_t gsh_source_draw_scratch(const struct gsh_launch *launch);
enum gsh_status gsh_source_draw_plan(const struct gsh_launch *launch, uint64_t scratch,
                                     struct gsh_source_plan *plan);
void gsh_source_draw_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);
/* Only where gsh_random_draw_rejects. */
struct gsh_source_draw_places gsh_source_draw_places(const struct gsh_launch *launch);

/* The kernel that puts `count` computed values in their places. `dtype`: theirs. */
void gsh_source_draw_plan_patch(enum gsh_dtype dtype, uint64_t out, uint64_t tails, uint64_t values,
                                int64_t count, struct gsh_source_stage *stage);
/* Its text: `dtype` points at an enum gsh_dtype. */
void gsh_source_draw_patch_text(const void *dtype, struct gsh_fmt *fmt);
