/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps a folder of kernels below a size. Other processes may read, store and trim there at the same time. Takes no
 * lock.
 */
#pragma once

#include "base.h"

/* Every file of ours begins with these 8 bytes; its name is 32 hexadecimal digits, followed by ".<anything>.tmp"
 * while it is being written. */
#define GSH_CUDA_CACHE_MAGIC "gshkern2"

/* Removes kernels with the oldest modification time until the others have at most `limit` bytes. Touches no other
 * file. */
void gsh_cuda_cache_trim(const char *folder, uint64_t limit);
