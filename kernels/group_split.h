/* SPDX-License-Identifier: Apache-2.0
 *
 * A group with sinks as a group without them and a REDUCE launch for each sink. What a sink reduces lies in an array of the
 * group, or else in scratch memory. A launch has the bits of its sink. Pure functions.
 */
#pragma once

#include "group.h"

/* Bytes of scratch memory that the parts need, 0 for a group without sinks; SIZE_MAX where a sink cannot be split off:
 * it reduces a constant or an index, its mask is not in memory or is overwritten, or there is no room for one more
 * store. */
size_t gsh_group_split_scratch(const struct gsh_group *group);
/* Sets the group without sinks, and the launches, which are not collapsed, in the order of the sinks. `scratch`: the address of
 * gsh_group_split_scratch bytes, which are not SIZE_MAX. */
void gsh_group_split_make(const struct gsh_group *group, uint64_t scratch, struct gsh_group *rest,
                          struct gsh_launch launches[GSH_GROUP_SINKS]);
