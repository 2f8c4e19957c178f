/* SPDX-License-Identifier: Apache-2.0
 *
 * What the emulated libraries share: CUDA's declarations, and the streams of the emulated driver (emulated_cuda.cpp),
 * which the others link.
 */
#pragma once

extern "C" {
#include "cuda_types.h"
}

#include <cstdio>
#include <cstdlib>
#include <functional>

#define API extern "C" __attribute__((visibility("default")))

/* Appends work to a stream: one thread a stream runs it, in order, now and then late, so that what does not wait for a result
 * sees memory without it. What the caller's stack or heap holds must be copied into the work. */
void enqueue(CUstream_st *stream, std::function<void()> work);

/* Fills memory that a caller may have no use for any more, or no right to, with NaN bytes. */
void scribble(void *memory, size_t size);

/* Ends the process: for what nobody should ask. */
[[noreturn]] inline void refuse(const char *call, const char *why)
{
    fprintf(stderr, "emulated CUDA: %s: %s\n", call, why);
    abort();
}
