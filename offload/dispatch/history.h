/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of calls that the device took, per stats row: how often the host fetched what it made, for the policy to charge
 * new calls of the row with that share of a download; and how often it refused, for matrices that are none of the routine's.
 * Such a call is computed twice, and a program that meets one mostly meets more. Relaxed atomics; any thread; safe in the
 * fault handler. Races cost time, never a wrong result. Checked by tests/unit/offload/dispatch/test_history.c.
 */
#pragma once

#include <stdbool.h>

/* Gives all rows their pages, so that the first calls do not wait for them. */
void gsh_history_prefault(void);
/* A call of this row left its output on the device / that output's first bytes were fetched. The first by the DISPATCH lock's holder. */
void gsh_history_note_made(unsigned row);
void gsh_history_note_fetched(unsigned row);
/* For the price of a call: the share of recent outputs that were fetched, 0..1; 0 without history, and now and then where the share
 * has kept calls on the CPU (policy/fetch_share.h). */
double gsh_history_ask_fetch_share(unsigned row);
/* The device refused a call of this row; calls that it does not refuse end the series. */
void gsh_history_note_refused(unsigned row);
/* Whether a call of this row, which the device would get, is left to the CPU: after a refusal one, and twice as many
 * after each further one of the series. Counts them. */
bool gsh_history_backs_off(unsigned row);
