/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUSHIM_DECISIONS=FILE: one JSON object a line for each decision of gsh_dispatch_decide, with all the numbers that it was made
 * of, and one for each call on the CPU that was measured; docs/user/report.md has the keys. bench/replay_decisions.c makes the
 * decisions again. Lines are collected in a buffer, which is written when it is full and at exit.
 *
 * Any thread. Takes the DECISIONS lock; allocates nothing. Not in signal handlers.
 */
#pragma once

#include "call.h"
#include "call_cost.h"
#include "decide.h"
#include "ledger.h"
#include "price.h"

/* Whether there is a file; set once, by gsh_decision_file_init. */
extern bool gsh_decision_file_is_on;

/* What a decision is made of, with copies of the blocks' ledgers: the decision changes those of the blocks. */
struct gsh_decision_inputs {
    struct gsh_price_inputs price; /* its operands' ledgers are these: */
    struct gsh_ledger ledgers[GSH_CALL_COST_OPERANDS];
};

/* Reads the option. */
void gsh_decision_file_init(void);
/* The decision is then made of inputs->price: what other threads change meanwhile is neither in it nor in the file. */
void gsh_decision_file_gather(const struct gsh_call *call, struct gsh_decision_inputs *inputs);
/* Writes the decision's line. The parameters are those of gsh_decision_log_write. Where the call is left to the CPU, the calling
 * thread's next _begin and _end measure it. */
void gsh_decision_file_write(const struct gsh_call *call, const struct gsh_decision_inputs *inputs,
                             const struct gsh_verdict *verdict, enum gsh_reason reason);
/* The original of the call that the calling thread has decided on last is called; it has returned. Without such a call: nothing. */
void gsh_decision_file_begin(void);
void gsh_decision_file_end(void);
/* Writes what is collected. Does nothing in a child of the process that collected it. */
void gsh_decision_file_flush(void);
/* The child writes no decisions. */
void gsh_decision_file_reset_after_fork(void);
