/* SPDX-License-Identifier: Apache-2.0
 *
 * A call priced where its operands are: gathers the numbers that policy/decide.h judges. Reads
 * block states without locks: a stale state costs time, never a wrong result.
 */
#pragma once

#include "block.h"
#include "call.h"
#include "decide.h"

/* The verdict for a call on a ready or startable device, options and rates of the chosen backend
 * applied, the CPU's price corrected by what calls took there (host_pace.h). */
struct gsh_verdict gsh_price_call(const struct gsh_call *call);
/* Seconds that the device takes to move bytes inside its memory, and to compute what takes a CPU core so many ns; 0 without
 * a device. */
double gsh_price_moving(double bytes);
double gsh_price_computing(double host_ns);
/* Seconds that starting the device costs. */
double gsh_price_start(void);

/* What became of a call or a transfer, for the ledgers (policy/ledger.h) of its arena blocks. */
void gsh_price_note_declined(const struct gsh_call *call, double lost_seconds);
void gsh_price_note_accepted(const struct gsh_call *call, double gained_seconds);
void gsh_price_note_uploaded(struct gsh_block *block, double bytes);
void gsh_price_note_fetched(struct gsh_block *block, double bytes);
