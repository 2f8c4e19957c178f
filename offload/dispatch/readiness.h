/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the device ready for a call that it would do sooner than the CPU. Three things may be missing: the device is not
 * started, the library that the call needs is not open, the kernel is not compiled. Each takes 0.1 to 0.6 s (docs/results/archive.md). policy/one_time_cost.h decides, from the call's gain and the gains that earlier calls
 * have foregone, whether what is missing is begun in a background thread, and whether the call waits for it; a call that does
 * not wait runs on the CPU (NOT_STARTED, NOT_COMPILED).
 *
 * Any thread, without locks of the caller's; compiling takes the DISPATCH lock. Checked by
 * tests/unit/offload/dispatch/test_readiness.c and tests/unit/policy/test_one_time_cost.c.
 */
#pragma once

#include "call.h"
#include "decide.h"

/* `verdict` says that the device would do the call sooner. NONE: the device is ready for it, perhaps after waiting. */
enum gsh_reason gsh_readiness_check(const struct gsh_call *call, const struct gsh_verdict *verdict);
/* The same for a call whose kernels are those of the calls that it is made of: only the device may be missing. */
enum gsh_reason gsh_readiness_check_start(const struct gsh_launch *launch,
                                          const struct gsh_verdict *verdict);
/* A call that the device would have done sooner has run on the CPU: its gain counts as foregone. The device may begin to start. */
void gsh_readiness_note_foregone(const struct gsh_launch *launch,
                                 const struct gsh_verdict *verdict);
/* A call of this kind, whose net gain was counted as foregone because the device is not started, would have gained `measured`
 * seconds. `needs_library`: as gsh_library_gains_may_be_needed. */
void gsh_readiness_correct(enum gsh_launch_kind kind, bool needs_library, double counted,
                           double measured);
/* Seconds that calls so far would have gained by a device that is started, their uploads paid. */
double gsh_readiness_foregone(void);
/* Seconds that calls so far have gained by the device, or would have gained by one that is ready for them, their uploads paid. */
double gsh_readiness_gains(void);
/* What the gains must reach for the device to be started: the start's price, and what of the gains goes for libraries. */
double gsh_readiness_start_price(void);
/* The same for a process that starts the device and opens the libraries while Python imports. */
double gsh_readiness_start_price_foreseen(void);
/* The same for a run that gained so much and used the libraries of these kinds of launch. */
double gsh_readiness_start_price_of(double gains, uint32_t kinds);
