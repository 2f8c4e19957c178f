/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "witness.h"

#include <stdatomic.h>

bool gsh_witness_is_on;

static _Thread_local struct gsh_witness *current;
static _Atomic uint64_t unattended;

void gsh_witness_begin(struct gsh_witness *witness)
{
    witness->outer = current;
    witness->launches = 0;
    current = witness;
}

void gsh_witness_end(struct gsh_witness *witness)
{
    current = witness->outer;
}

void gsh_witness_note(const struct gsh_launch *launch)
{
    struct gsh_witness *witness = current;
    if (witness == NULL) {
        atomic_fetch_add_explicit(&unattended, 1, memory_order_relaxed);
        return;
    }
    struct gsh_contract contract = gsh_contract_of(launch);
    witness->contract =
        witness->launches == 0 ? contract : gsh_contract_join(witness->contract, contract);
    witness->last = *launch;
    witness->launches++;
}

uint64_t gsh_witness_unattended(void)
{
    return atomic_load_explicit(&unattended, memory_order_relaxed);
}
