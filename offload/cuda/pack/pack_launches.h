/* SPDX-License-Identifier: Apache-2.0
 *
 * The launches whose kernels are compiled ahead: pack_families.def, each in the layouts that occur. Shapes and addresses
 * stand for all that make the same text.
 */
#pragma once

#include "launch.h"

/* One launch, as a backend would be given it: collapsed, with addresses that are never used. */
typedef void gsh_pack_launches_take(void *context, const struct gsh_launch *launch);
/* Calls take(context, launch) for every launch. Several may have the same kernels; some have none. */
void gsh_pack_launches_walk(gsh_pack_launches_take *take, void *context);
