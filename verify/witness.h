/* SPDX-License-Identifier: Apache-2.0
 *
 * What the device computes while one call of the program runs in this thread, for who compares the call with NumPy's
 * (GPUSHIM_VERIFY). Calls that nobody attends are counted. Any thread; no locks.
 */
#pragma once

#include "contract.h"

struct gsh_witness {
    struct gsh_witness *outer;
    unsigned launches;
    struct gsh_contract contract; /* of all of them together */
    struct gsh_launch last;       /* with host addresses */
};

/* Off: nothing is noted. Set at start. */
extern bool gsh_witness_is_on;

/* Attends what this thread launches, until end. */
void gsh_witness_begin(struct gsh_witness *witness);
void gsh_witness_end(struct gsh_witness *witness);
/* Notes a launch of this thread. Called where gsh_witness_is_on alone. */
void gsh_witness_note(const struct gsh_launch *launch);
/* Launches that no witness attended. */
uint64_t gsh_witness_unattended(void);
