/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies that others ask for, of arrays whose newest contents are on our device: within the device, in the stream that they
 * named, behind our work. Ours never waits for theirs (offload/memory/lent.h).
 */
#pragma once

#include "base.h"
#include "cuda_types.h"
#include "status.h"

/* Copies `size` bytes of the array at `from` to `to`, memory of our device, in `stream`, which belongs to the primary context,
 * the one that must be current; CUDA's handles of default streams will do. `waits`: returns when it is done. *result is
 * what the copy gave. DECLINED: another way must be found; nothing was submitted. */
enum gsh_status gsh_cuda_lend_copy(CUdeviceptr to, const void *from, size_t size, CUstream stream,
                                   bool waits, gsh_cuda_enum *result);
