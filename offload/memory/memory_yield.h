/* SPDX-License-Identifier: Apache-2.0
 *
 * The device's memory, which others want: what no array needs there is given back. Limits of the host's memory: memory_limit.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* An allocation of `bytes` by another user of the device has failed: gives it what no array uses, then what the arrays use
 * that were not used for longest, whose contents come home, until about so much is free. True where anything was given: trying
 * again is worth it. Waits for the device. Any thread that holds no block and none of our locks, with or without Python's
 * global lock, and whatever CUDA context is current; false at once where it holds a lock, or no device is in use. */
bool gsh_memory_yield(size_t bytes);
/* Gives back what the device's allocator has kept unused for so many calls of this. True where it keeps more. Any thread that
 * holds no lock and no block; does not wait for the device. */
bool gsh_memory_yield_unused(unsigned looks);
