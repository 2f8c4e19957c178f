/* SPDX-License-Identifier: Apache-2.0
 *
 * The first run of a library's routine in a process loads its code into the device, and compiles kernels of ours: 0.03 to
 * 0.5 s (docs/MEASURED.md). Before a call that gains less than that runs there, a thread of our own runs a small launch like
 * it, on memory and numbers of its own. Meanwhile it holds the DISPATCH lock: device calls of others wait, so those whose
 * operands the CPU has are better left to it (readiness.c). Checked by tests/unit/offload/device/test_first_run.c and test_readiness.c.
 */
#pragma once

#include "launch.h"

/* Whether a launch like it (a GEMM, LAPACK or FFT) has run, or cannot be run ahead. Any thread, without locks. */
bool gsh_first_run_is_over(const struct gsh_launch *launch);
/* Whether one goes on beside the program. Any thread, without locks. */
bool gsh_first_run_goes_on(void);
/* The launch is about to run. Any thread, without locks. */
void gsh_first_run_note(const struct gsh_launch *launch);
/* Has a small launch like it run as soon as the device is started and the library, which is then opened, is open;
 * unless one of its kind is wanted already, or the device is retired. Any thread, without locks. */
void gsh_first_run_want(const struct gsh_launch *launch);
/* The process ends: returns once no first run goes on, at the latest after 10 s; none begins from here on. Any thread. */
void gsh_first_run_settle(void);

/* A launch like it with at most 1024 rows and columns, fewer matrices, packed, with addresses that are 0; transforms
 * keep their lengths. Pure. */
struct gsh_launch gsh_first_run_small(const struct gsh_launch *launch);
/* Runs such a launch, if there is memory for it and may_run() says so, which is asked under the DISPATCH lock. Takes that. */
void gsh_first_run_run(const struct gsh_launch *small, bool (*may_run)(void));
