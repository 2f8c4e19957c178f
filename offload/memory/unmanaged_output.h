/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs in unmanaged memory (malloc's, the stack's). The device writes them into memory that belongs to this one
 * launch; they are copied to the caller's memory before the launch counts as done.
 */
#pragma once

#include "block.h"
#include "launch.h"
#include "status.h"

/* Whether a launch of this kind may have such outputs. */
static inline bool gsh_unmanaged_output_is_taken(const struct gsh_launch *launch)
{
    return gsh_launch_has(launch, GSH_TRAIT_UNMANAGED);
}

/* One such output of a launch. */
struct gsh_unmanaged_output {
    unsigned operand;
    const struct gsh_value
        *value;  /* holds its bytes from lowest to highest, and nothing before them */
    void *first; /* where the lowest byte goes */
    size_t bytes;
    bool is_read; /* the launch, and so the original, reads the old contents */
};

/* Waits for the launch, which has host addresses, and copies its outputs to the caller's memory. Bytes between their
 * elements are not written: other threads may be using them. FAILED: the device does not answer, or there is no
 * memory; no output with is_read was written, so that the original can compute them all. Under the DISPATCH lock. */
enum gsh_status gsh_unmanaged_output_fetch(const struct gsh_launch *launch,
                                           const struct gsh_unmanaged_output *outputs,
                                           unsigned count);
