/* SPDX-License-Identifier: Apache-2.0
 *
 * How often what the device made was fetched by the host afterwards, per stats row: the policy
 * charges new calls of the row with that share of a download. Relaxed atomics; any thread; safe in
 * the fault handler.
 */
#pragma once

/* Gives all rows their pages, so that the first calls do not wait for them. */
void gsh_history_prefault(void);
/* A call of this row left its output on the device / that output's first bytes were fetched. */
void gsh_history_note_made(unsigned row);
void gsh_history_note_fetched(unsigned row);
/* Share of recent outputs that were fetched, 0..1; 0 without history. */
double gsh_history_fetch_share(unsigned row);
