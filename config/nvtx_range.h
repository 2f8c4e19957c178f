/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX's ranges in the domain "gpushim", for nvtx.h. Not in signal handlers.
 */
#pragma once

#include "base.h"

/* Asks for a profiler. False: there is none, or this build has no ranges, which one line on stderr says. Once, before the others. */
bool gsh_nvtx_range_start(void);
/* A range of this thread begins. The payload is shown with it, if it is not 0: bytes of a transfer, calls of a flush or a group.
 * Returns true. */
bool gsh_nvtx_range_push(const char *name, uint64_t payload);
/* The range of this thread that was begun last ends. */
void gsh_nvtx_range_pop(void);
