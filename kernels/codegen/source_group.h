/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a group's text that does not depend on the walk over its elements: structs of one element's inputs and
 * results, a function for each step, and evaluate(), which calls them in order.
 */
#pragma once

#include "source.h"

/* How an array is read. The letter is the role's name in keys. ROW: one element for the whole last dimension,
 * where other arrays have packs. */
enum gsh_source_role {
    GSH_ROLE_NONE = 'n', /* not at all */
    GSH_ROLE_ARRAY = 'a',
    GSH_ROLE_ROW = 'r',
    GSH_ROLE_SCALAR = 's',
    GSH_ROLE_INDEX = 'i'
};

struct gsh_source_wiring {
    const struct gsh_group *group;
    enum gsh_source_role roles[GSH_GROUP_ARRAYS];
    uint8_t first_word[GSH_GROUP_CONSTANTS]; /* of each constant, among all words */
    unsigned words;
    int8_t
        sink[GSH_GROUP_STEPS]; /* where the step may report errors; -1: it does not check for any */
    unsigned sinks;
};

/* Whether a text can be written for all steps, stores and roles. Arrays that are read get the role ARRAY or INDEX. */
bool gsh_source_group_steps_wire(const struct gsh_group *group, struct gsh_source_wiring *wiring);
/* Whether the text of any step checks for errors. */
bool gsh_source_group_steps_checks(const struct gsh_source_wiring *wiring);
/* Whether an element can have a special value and is then evaluated again (kernels/cuda/group/group_paths.cuh). */
bool gsh_source_group_steps_is_examined(const struct gsh_source_wiring *wiring);
/* What a kernel's prelude needs to know of the steps: their dtypes, and all expressions in `room` bytes of `text`. */
unsigned gsh_source_group_steps_dtypes(const struct gsh_group *group);
void gsh_source_group_steps_expressions(const struct gsh_group *group, char *text, size_t room);
/* Writes Element, Result, the steps and evaluate(), for the place behind the prelude and Args. */
void gsh_source_group_steps_write(const struct gsh_source_wiring *wiring, struct gsh_fmt *fmt);
