/* SPDX-License-Identifier: Apache-2.0
 *
 * Gathers what policy/ needs to know of a call and of its operands, and asks for the verdict: the call's work and the options
 * (policy/decide.h, policy/cost_model.h), and for each operand where its bytes are (policy/operand_cost.h). Also keeps the
 * ledgers of blocks (policy/ledger.h). Reads block states without locks: a stale state costs time, never a wrong result.
 */
#pragma once

#include "block.h"
#include "call.h"
#include "call_cost.h"
#include "cost_model.h"
#include "decide.h"

/* What the facts of a verdict are made of. */
struct gsh_price_inputs {
    const struct gsh_rates *rates; /* of the chosen backend */
    struct gsh_call_cost cost;
};

/* The verdict for a call on a ready or startable device, options and rates of the chosen backend
 * applied, the CPU's seconds corrected by what calls took there (host_calibration.h).
 * inputs: what gsh_price_gather gave for the call; NULL: gathers them itself, where they are needed. */
struct gsh_verdict gsh_price_call(const struct gsh_call *call,
                                  const struct gsh_price_inputs *inputs);
/* The ledgers are those of blocks; host_factor is 1. */
void gsh_price_gather(const struct gsh_call *call, struct gsh_price_inputs *inputs);
/* Option START_MS, or what the start takes, in seconds (readiness.h makes a price of it). */
double gsh_price_start(void);

/* A call that gains was left to the CPU because the device is not ready: its operands and its results, which the calling thread
 * allocates next, would be on a device that had been (expected.h). */
void gsh_price_note_foregone(const struct gsh_call *call, double lost_seconds);
/* A call was left to the CPU for another reason: what it overwrites would not be on the device any more. */
void gsh_price_note_host_result(const struct gsh_call *call);

/* What became of a call or a transfer, for the ledgers (policy/ledger.h) of its arena blocks. */
void gsh_price_note_declined(const struct gsh_call *call, double lost_seconds);
void gsh_price_note_accepted(const struct gsh_call *call, const struct gsh_verdict *verdict);
void gsh_price_note_uploaded(struct gsh_block *block, double bytes);
void gsh_price_note_fetched(struct gsh_block *block, double bytes);
