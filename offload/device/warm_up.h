/* SPDX-License-Identifier: Apache-2.0
 *
 * Warms up the routines of libraries. The first run of a routine in a process loads its code into the device and compiles
 * kernels of ours, which takes 0.03 to 0.5 s (docs/MEASURED.md). Therefore a background thread runs a small launch of the same
 * routine, on memory and numbers of its own, before a call that gains less than that runs on the device. policy/warm_up_plan.h
 * says when that launch runs, how small it is, and which launches are alike.
 *
 * The thread holds the DISPATCH lock while its launch runs, so that other device calls wait; readiness.c leaves calls whose
 * operands are on the host to the CPU meanwhile. If no thread can be started, calls load the code themselves. Checked by
 * tests/unit/offload/device/test_warm_up.c and test_readiness.c.
 */
#pragma once

#include "launch.h"

/* `launch` is a GEMM, LAPACK or FFT in all of these. */

/* Whether a launch like it has run, or cannot be run ahead. Any thread, without locks. */
bool gsh_warm_up_is_over(const struct gsh_launch *launch);
/* Whether the thread is running one. Any thread, without locks. */
bool gsh_warm_up_goes_on(void);
/* Records that the caller is about to run the launch on the device: no small one is needed. Any thread, without locks. */
void gsh_warm_up_note(const struct gsh_launch *launch);
/* Has a small launch like it run as soon as the device is started and the library is open, which is opened if need be. Does
 * nothing while another launch of the kind is wanted, or if the device is retired. Any thread, without locks. */
void gsh_warm_up_want(const struct gsh_launch *launch);
/* The process ends: returns once none is running, at the latest after 10 s; none begins from here on. Any thread. */
void gsh_warm_up_settle(void);

/* A launch like it with at most 1024 rows and columns, fewer matrices, packed, with addresses that are 0; transforms keep
 * their lengths. Pure. */
struct gsh_launch gsh_warm_up_launch_make(const struct gsh_launch *launch);
/* Runs such a launch, if there is memory for it and may_run() says so, which is asked under the DISPATCH lock. Takes that. */
void gsh_warm_up_launch_run(const struct gsh_launch *small, bool (*may_run)(void));
