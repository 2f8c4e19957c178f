/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs in memory that is not the arena's (malloc's, the stack's): the device writes them into memory of this one
 * launch, and they are copied to where the caller wants them before the launch counts as done.
 */
#pragma once

#include "block.h"
#include "launch.h"
#include "status.h"

/* Whether a launch of this kind may have such outputs: matrix products and LAPACK, whose work pays for the way back. */
static inline bool gsh_foreign_output_is_taken(const struct gsh_launch *launch)
{
    return launch->kind == GSH_LAUNCH_GEMM || launch->kind == GSH_LAUNCH_LAPACK;
}

/* Copies output k, whose `bytes` from lowest to highest are the value's first ones, to `first`; launch: with host addresses.
 * Bytes between its elements are not written: other threads may be working on them. FAILED: the device does not answer,
 * or there is no memory; nothing was written, unless the device broke down meanwhile. Under the DISPATCH lock. */
enum gsh_status gsh_foreign_output_fetch(const struct gsh_launch *launch, unsigned k,
                                         const struct gsh_value *value, void *first, size_t bytes);
