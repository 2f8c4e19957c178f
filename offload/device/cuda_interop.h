/* SPDX-License-Identifier: Apache-2.0
 *
 * What is asked of the device "cuda" where others in the process call CUDA's driver (interpose/cuda). It need not be open,
 * nor the device that was chosen.
 */
#pragma once

#include "base.h"
#include "cuda_driver_types.h"
#include "status.h"

struct gsh_cuda_interop {
    /* Whether this thread is in a call that the device makes: what CUDA's libraries call then, they call for us. */
    bool (*is_entered)(void);
    /* Page-locked memory of the driver's own, for a question about such memory; NULL: there is none yet. Any thread. */
    const void *(*page_locked)(void);
    /* Copies `size` bytes of the array at `from` to `to`, memory of our device, in `stream`, which belongs to the primary
     * context, the one that must be current; CUDA's handles of default streams will do. `waits`: returns when it is done.
     * *result is what the copy gave. No lock is held. DECLINED: another way must be found; nothing was submitted. */
    enum gsh_status (*copy)(CUdeviceptr to, const void *from, size_t size, CUstream stream,
                            bool waits, gsh_cuda_enum *result);
};

extern const struct gsh_cuda_interop gsh_cuda_snapshot_interop; /* of the device "cuda" */
