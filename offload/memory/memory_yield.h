/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives device memory that no array needs back to other users of the device. Limits of host memory: memory_limit.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Another user of the device has failed to allocate `bytes` bytes. Gives back what no array uses, then evicts the
 * least recently used arrays, whose contents are fetched to the host, until about so much is free. True where
 * anything was given back: a second attempt is worthwhile. Waits for the device. Any thread that holds no block and
 * none of our locks, with or without Python's global lock, and with any current CUDA context. False at once where the
 * thread holds a lock or no device is in use. */
bool gsh_memory_yield(size_t bytes);
/* Gives back what the device's allocator has kept unused for so many calls of this function. True where it keeps
 * more. Any thread that holds no lock and no block; does not wait for the device. */
bool gsh_memory_yield_unused(unsigned looks);
