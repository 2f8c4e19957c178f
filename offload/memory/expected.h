/* SPDX-License-Identifier: Apache-2.0
 *
 * Which chunks would be on the device if it had been ready so far: operands and results of calls that gain and were left to the
 * CPU because the device was not ready (policy/one_time_cost.h). Later calls on such chunks are priced without their upload, so
 * that a chain of calls pays for one upload, and not for one a call. Marks are a bit per chunk; they change prices only. They say
 * nothing once the device is ready. A write of the host that no hook sees keeps its mark.
 *
 * Results are allocated by NumPy after the call was left to it: the calling thread expects blocks of their sizes
 * until its next call.
 *
 * Relaxed atomics and thread-local sizes; any thread, no locks; not in the fault handler. Checked by
 * tests/unit/offload/dispatch/test_expected.c.
 */
#pragma once

#include "block.h"

/* A block is allocated: marked if the thread expects a result of its size. */
void gsh_expected_begin(struct gsh_block *block);
/* Chunks first..last would be on the device. */
void gsh_expected_mark(struct gsh_block *block, unsigned first, unsigned last);
/* They would not any more. True where one was marked. */
bool gsh_expected_clear(struct gsh_block *block, unsigned first, unsigned last);
/* The marked chunks, as bits. */
uint64_t gsh_expected_chunks(const struct gsh_block *block);

/* The calling thread expects to allocate a result of `bytes` bytes. */
void gsh_expected_add_result(size_t bytes);
/* It expects none. */
void gsh_expected_forget_results(void);
