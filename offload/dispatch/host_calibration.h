/* SPDX-License-Identifier: Apache-2.0
 *
 * Corrects the cost model's seconds on the CPU for matrix products and LAPACK routines by measuring those that run there. The
 * model's rates are those of one machine; how many cores another one has, and which BLAS, the model does not know.
 *
 * Measured is the ratio of a call's time to its modelled time. Ratios are kept per operation and class of modelled time
 * (policy/host_speed.h, which also says what follows from them). An operation is a routine and dtype, on one matrix or on a
 * batch. Other launches have the factor 1. They are measured for another purpose: the gain of a call that was left to the CPU
 * because the device is not started follows from the call's time, not from the model, so that the device starts no later where the
 * model flatters the CPU. Calls modelled at less than 0.1 ms are not measured.
 *
 * One call is measured like this: gsh_dispatch_decide leaves it to the CPU and names it by _expect; the hook calls _begin once
 * the operands are fetched, the original, and _end. Each thread has one expected call at a time; deciding on another
 * call discards it.
 *
 * What it saves, on an H100 beside one BLAS thread: without it, loops of inv, solve and qr of 512 rows stay on the CPU and take
 * 10 times as long, matmul of 512 40 times; svd of 512 beside 16 threads 5 times. What it costs: nothing measurable a call.
 *
 * Any thread, no locks; not in signal handlers. Races between threads may lose a measurement, which costs time and never a
 * result. Checked by tests/unit/offload/dispatch/test_host_calibration.c, tests/unit/policy/test_host_speed.c, and with
 * NumPy by tests/preload/test_slow_cpu.py.
 */
#pragma once

#include "decide.h"
#include "launch.h"

/* Gives the table its pages, so that the first calls do not fault on them. */
void gsh_host_calibration_prefault(void);
/* The calling thread is about to run the launch on the CPU, counted in this stats row, as `verdict` priced it, for this
 * reason. NOT_STARTED: its gain was counted as foregone (readiness.h), and is corrected by its time. */
void gsh_host_calibration_expect(const struct gsh_launch *launch, unsigned row,
                                 const struct gsh_verdict *verdict, enum gsh_reason reason);
/* Whether the calling thread has an expected call of this row that is measured, begun or not. */
bool gsh_host_calibration_is_expected(unsigned row);
/* Discards the calling thread's expected call: it does not run, or not as it was modelled. */
void gsh_host_calibration_forget(void);
/* The original is called. Without an expected call: nothing. */
void gsh_host_calibration_begin(void);
/* The original has returned. `is_whole`: it did all its work, so that its time counts. */
void gsh_host_calibration_end(bool is_whole);

/* The factor for `priced` modelled seconds on the CPU; 1 where nothing is known. A factor above 1 is counted
 * (gsh_host_speed_after_raise). */
double gsh_host_calibration_factor(const struct gsh_launch *launch, double priced);
/* Measured over modelled seconds of such calls, on average; 0 where none was measured. Counts nothing. */
double gsh_host_calibration_mean(const struct gsh_launch *launch, double priced);
