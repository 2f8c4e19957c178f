/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of a group's arrays. Layout and steps together decide the group's text. Two layouts:
 *
 *   dense    every array has one dimension without gaps: packs of up to 16 bytes
 *   strided  up to 16 dimensions, index split by division; packs where the last dimension has no
 *            gaps, its extent is a multiple of a pack and all addresses and strides are aligned to one
 */
#pragma once

#include "source_group.h"
#include "source_group_sinks.h"

struct gsh_source_layout {
    struct gsh_source_wiring wiring;
    bool is_stored[GSH_GROUP_ARRAYS];
    bool is_aligned[GSH_GROUP_ARRAYS]; /* elements are aligned to their size */
    uint8_t track[GSH_GROUP_ARRAYS];   /* arrays with the same strides share one */
    uint8_t leader[GSH_GROUP_ARRAYS];  /* of a track: one of its arrays */
    unsigned tracks, indices;
    unsigned vector; /* elements of a pack */
    unsigned unroll; /* packs of a thread; with sinks units that are loaded together */
    int ndim;        /* 0: dense */
    bool is_wide;    /* indices of 64 bits */
    bool is_short;   /* strides of 32 bits */
    bool is_heavy;   /* bound by arithmetic */
};

/* DECLINED where no text can be written. `sinks` is set where the group has sinks. */
enum gsh_status gsh_source_group_layout_make(const struct gsh_group *group,
                                             struct gsh_source_layout *layout,
                                             struct gsh_source_sinks *sinks);
/* Whether the array has a track. */
bool gsh_source_group_layout_has_track(const struct gsh_source_layout *layout, unsigned k);
/* The name of the text: equal for equal texts, made without printf. */
void gsh_source_group_key_write(const struct gsh_group *group,
                                const struct gsh_source_layout *layout,
                                const struct gsh_source_sinks *sinks, char *key);
/* Writes the functions that load elements to a thread and store them. */
void gsh_source_group_moves_write(const struct gsh_group *group,
                                  const struct gsh_source_layout *layout, struct gsh_fmt *fmt);
