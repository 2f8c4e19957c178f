/* SPDX-License-Identifier: Apache-2.0
 *
 * The libraries that kinds of launch need (products, LAPACK, transforms): what calls have foregone because one is not open, and
 * whether opening it pays (policy/one_time_cost.h). Opening takes a core, the driver's lock and the disk from the program, and a
 * process that ends meanwhile waits for it. So it is begun once the calls that need the library have foregone its price, or where
 * the last run of the script has shown that they will. Any thread, without locks of the caller's. Gains are seconds.
 * Checked by tests/unit/offload/dispatch/test_readiness.c.
 */
#pragma once

#include "decide.h"
#include "launch.h"

/* Whether a library computes the launch on the device. Batches alone are computed by libraries, and of these not those that have
 * kernels of their own (source.h). Pure. */
bool gsh_library_gains_may_be_needed(const struct gsh_launch *launch);

/* A call that the device would do sooner, whether or not it is ready. */
void gsh_library_gains_note(const struct gsh_launch *launch, double gain);
/* ... and that runs on the CPU because the device is not started. */
void gsh_library_gains_note_foregone(const struct gsh_launch *launch, double gain);
/* Both counts of an earlier call of this kind that needed a library change by so many nanoseconds, modulo 2^64. */
void gsh_library_gains_correct(enum gsh_launch_kind kind, uint64_t change_ns);

/* Whether the library that the call needs is open, or is waited for. Else the call is one for the CPU, and the opening is begun if
 * that pays. The device is ready. */
bool gsh_library_gains_is_open(const struct gsh_launch *launch, const struct gsh_verdict *verdict);
/* Whether the routine that the call needs has run before, or the script's last run has paid for its library, or calls so far and this
 * one gain what its first run takes beyond its work. Else the call is one for the CPU. */
bool gsh_library_gains_pays_first_run(const struct gsh_launch *launch,
                                      const struct gsh_verdict *verdict);
/* Seconds until the library is open on a device that has been started; 0: it is, or none is needed. */
double gsh_library_gains_seconds(const struct gsh_launch *launch);

/* What of the gains that were foregone so far goes for the opening of libraries, and does not pay for the device's start. */
double gsh_library_gains_used_up(void);
/* The same where the libraries open while Python imports. */
double gsh_library_gains_used_up_foreseen(void);
/* The price of opening the libraries of these kinds, as bits, while Python imports. */
double gsh_library_gains_price_foreseen(uint32_t kinds);

/* The kinds of launch, as bits, whose libraries calls have wanted so far, and that were opened for that or had paid if they
 * had been opened while Python imports. */
uint32_t gsh_library_gains_worthwhile(void);
/* Before the device is started: the libraries of these kinds of launch, as bits, will be used. */
void gsh_library_gains_expect(uint32_t kinds);
/* Called once the device has been started: begins to open the libraries that are expected to be used, or whose price calls so far
 * have foregone. */
void gsh_library_gains_prepare(void);
