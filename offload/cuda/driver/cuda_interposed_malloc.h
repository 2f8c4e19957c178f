/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether another library interposes malloc in this process. CUDA's libraries and the loader call malloc in threads of
 * theirs and ours, for which the program's threads wait. The malloc of a profiler may take Python's global lock, as
 * Scalene's does. A thread of the program that waits holds that lock: a deadlock.
 */
#pragma once

#include "status.h"

#include <stddef.h>

/* GSH_DECLINED: malloc is neither the C library's nor that of an allocator or sanitizer that is known; `why`, of
 * `why_size` bytes, names the file then. Any thread. */
enum gsh_status gsh_cuda_interposed_malloc_check(char *why, size_t why_size);
