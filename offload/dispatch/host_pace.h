/* SPDX-License-Identifier: Apache-2.0
 *
 * What products and LAPACK routines took that stayed on the CPU, against what the cost model said: its rates are those of one
 * machine, and of how many cores there are and which BLAS they have it knows nothing. An operation is known by its
 * routine, its dtype, whether it is of one matrix or of many, and about how long it was to take. Calls that the device
 * runs teach nothing about the CPU, so a CPU that is faster is believed at once, one that is slower only after three
 * calls, by half of it, and for so many calls: then one more is looked at.
 *
 * A call that the policy leaves to the CPU is expected, begins when its operands are home, and ends; another one that is
 * decided upon in the same thread meanwhile takes its place. Any thread, no locks; not in signal handlers. Races cost time,
 * never a wrong result. Checked by tests/unit/offload/dispatch/test_host_pace.c, and with NumPy by tests/preload/test_slow_cpu.py.
 */
#pragma once

#include "launch.h"

/* Gives all operations their pages, so that their first calls do not wait for them. */
void gsh_host_pace_prefault(void);
/* This thread is about to run the call on the CPU, counted in this stats row, which the cost model says takes `priced`
 * seconds. Short ones, and what is neither a product nor a LAPACK routine, are not looked at. */
void gsh_host_pace_expect(const struct gsh_launch *launch, unsigned row, double priced);
/* Whether a call of this row is expected, or has begun, in this thread. */
bool gsh_host_pace_is_expected(unsigned row);
/* It will not run, or not as it was priced. */
void gsh_host_pace_forget(void);
/* The original is called. */
void gsh_host_pace_begin(void);
/* It has returned. `is_whole`: it did all its work. */
void gsh_host_pace_end(bool is_whole);

/* What to multiply a price of `priced` seconds with; 1: nothing is known. */
double gsh_host_pace_factor(const struct gsh_launch *launch, double priced);
