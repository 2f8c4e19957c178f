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
static inline bool gsh_unmanaged_output_is_taken(const struct gsh_launch *launch)
{
    return launch->kind == GSH_LAUNCH_GEMM || launch->kind == GSH_LAUNCH_LAPACK;
}

/* One such output of a launch. */
struct gsh_unmanaged_output {
    unsigned operand;
    const struct gsh_value
        *value;  /* which holds its bytes from lowest to highest, and nothing before them */
    void *first; /* where the lowest goes */
    size_t bytes;
    bool is_read; /* the launch, and so the original, reads what is there before */
};

/* Waits for the launch, which has host addresses, and copies its outputs to where the caller wants them. Bytes between
 * their elements are not written: other threads may be working on them. FAILED: the device does not answer, or there is no
 * memory; no output that is read was written, so that the original can compute them all. Under the DISPATCH lock. */
enum gsh_status gsh_unmanaged_output_fetch(const struct gsh_launch *launch,
                                           const struct gsh_unmanaged_output *outputs,
                                           unsigned count);
