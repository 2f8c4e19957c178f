/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a group's text that does not depend on what walks over its elements: structs of one
 * element's inputs and results, a function for each step, and evaluate(), which calls them in turn.
 */
#pragma once

#include "source.h"

/* How an array is read; the letter is the role's name in keys. ROW: the same element along the last dimension, where
 * others have packs. */
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
    uint8_t first_word[GSH_GROUP_CONSTANTS]; /* of a constant, among all words of constants */
    unsigned words;
    int8_t
        sink[GSH_GROUP_STEPS]; /* where the step may report errors; -1: it does not look for any */
    unsigned sinks;
};

/* Whether all steps, stores and roles are such that a text can be written. Roles are ARRAY or INDEX where anything reads
 * the array. */
bool gsh_source_group_steps_wire(const struct gsh_group *group, struct gsh_source_wiring *wiring);
/* Whether any step's text looks for errors. */
bool gsh_source_group_steps_checks(const struct gsh_source_wiring *wiring);
/* Whether an element can turn out odd, and is then evaluated again (kernels/cuda/group/group_glance.cuh). */
bool gsh_source_group_steps_is_examined(const struct gsh_source_wiring *wiring);
/* What the steps are in a kernel's prelude: dtypes, and all expressions in `room` bytes of `text`. */
unsigned gsh_source_group_steps_dtypes(const struct gsh_group *group);
void gsh_source_group_steps_expressions(const struct gsh_group *group, char *text, size_t room);
/* Element, Result, the steps and evaluate(), behind the prelude and Args. */
void gsh_source_group_steps_write(const struct gsh_source_wiring *wiring, struct gsh_fmt *fmt);
