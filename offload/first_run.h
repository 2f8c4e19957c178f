/* SPDX-License-Identifier: Apache-2.0
 *
 * The first run of a library's routine in a process loads its code into the device, and compiles kernels of ours: 0.03 to
 * 0.5 s (docs/MEASURED.md). Before a call that gains less than that runs there, the service thread runs a small launch like it,
 * on memory and numbers of its own. Checked by tests/unit/test_first_run.c.
 */
#pragma once

#include "launch.h"

/* Whether a launch like it (a GEMM, LAPACK or FFT) has run, or cannot be run ahead. Any thread, without locks. */
bool gsh_first_run_is_over(const struct gsh_launch *launch);
/* The launch is about to run. Any thread, without locks. */
void gsh_first_run_note(const struct gsh_launch *launch);
/* Has the service thread run a small launch like it, as soon as the device is started and the library open, which must have
 * been begun; unless another one is wanted already. Any thread, without locks. */
void gsh_first_run_want(const struct gsh_launch *launch);
/* Whether gsh_first_run_serve has, or will have, something to do. Any thread, without locks. */
bool gsh_first_run_is_wanted(void);
/* Runs what is wanted, if it can be; takes the DISPATCH lock meanwhile. The service thread. */
void gsh_first_run_serve(void);
/* The process ends: returns once no first run goes on; none begins from here on. Takes the DISPATCH lock. */
void gsh_first_run_settle(void);
