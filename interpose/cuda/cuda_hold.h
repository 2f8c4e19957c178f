/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of arrays during CUDA calls by other libraries: it is fetched to the host and pinned, as
 * for a system call (libc_io.c), because the driver accesses it itself, under locks that our
 * transfers need, or from the device. Other libraries see arrays as pageable memory, for which CUDA
 * guarantees that an asynchronous copy has read or written the host's bytes when it returns. The
 * driver does not keep this guarantee for memory that gpushim page-locked, so the end of the copy
 * is awaited.
 */
#pragma once

#include "cuda_ranges.h"

/* When the memory is accessed, as in cuda_calls.def. */
enum gsh_cuda_when { GSH_CUDA_NOW, GSH_CUDA_LATER, GSH_CUDA_KEPT };

struct gsh_cuda_hold {
    const struct gsh_cuda_ranges *ranges;
    enum gsh_cuda_when when;
    CUstream stream; /* of LATER */
};

/* Looks up the CUDA functions needed here, in the driver. Called once, before anything is pinned.
 */
void gsh_cuda_hold_resolve(void *(*find)(const char *name));
/* Fetches the ranges to the host and pins them. Keeps the thread's current context. False: nothing
 * is pinned, because this thread is already running gpushim's own work; the memory it passes to
 * CUDA then needs no fetch. */
bool gsh_cuda_hold_begin(struct gsh_cuda_hold *hold);
/* Called after the call: waits for its end if required, and unpins. If the call made a node of a
 * graph, the memory stays pinned. */
void gsh_cuda_hold_end(const struct gsh_cuda_hold *hold, gsh_cuda_enum result);
/* Pins the range until gsh_cuda_hold_release. */
void gsh_cuda_hold_keep(const void *address, size_t size);
void gsh_cuda_hold_release(const void *address, size_t size);
