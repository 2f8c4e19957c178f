/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges for NVIDIA's profilers (NVTX), which GPUSHIM_NVTX asks for: calls, flushes, groups and transfers, under the names that the
 * trace gives them (trace.h), in the domain "gpushim". A profiler receives them by the library that NVTX_INJECTION64_PATH names;
 * without one nothing is on. A place with a range then costs a load and a branch. Ranges of a thread nest. Not in signal handlers: a
 * profiler may allocate and lock.
 */
#pragma once

#include "base.h"
#include "nvtx_range.h"

#include <stdatomic.h>

/* Set by gsh_nvtx_init, cleared in forked children, where a profiler's locks may be held for ever. */
extern _Atomic bool gsh_nvtx_is_on;

/* Reads GPUSHIM_NVTX. Called once, when NumPy is found. */
void gsh_nvtx_init(void);

/* As gsh_nvtx_range_push, by the name of a stats row. */
bool gsh_nvtx_push_row(unsigned row);

static inline void gsh_nvtx_end(const bool *is_pushed)
{
    if (GSH_UNLIKELY(*is_pushed))
        gsh_nvtx_range_pop();
}

#define GSH_NVTX_SCOPE(push)                                                                       \
    const bool gsh_nvtx_is_pushed __attribute__((cleanup(gsh_nvtx_end), unused)) =                 \
        GSH_UNLIKELY(gsh_nvtx_is_on) && (push)
/* The rest of the block is a range. */
#define GSH_NVTX_RANGE(name, payload) GSH_NVTX_SCOPE(gsh_nvtx_range_push(name, payload))
#define GSH_NVTX_RANGE_OF_ROW(row) GSH_NVTX_SCOPE(gsh_nvtx_push_row(row))
