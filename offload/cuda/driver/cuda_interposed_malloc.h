/* SPDX-License-Identifier: Apache-2.0
 *
 * Detects whether another library interposes malloc in this process. CUDA's libraries and the loader call malloc in
 * their threads and in ours, for which the program's threads wait. A profiler's malloc may take Python's global lock,
 * as Scalene's does. A waiting thread of the program holds that lock: a deadlock.
 */
#pragma once

#include "status.h"

#include <stddef.h>

/* GSH_DECLINED: malloc is neither the C library's nor that of a known allocator or sanitizer; `why`, of `why_size`
 * bytes, then names the file. Any thread. */
enum gsh_status gsh_cuda_interposed_malloc_check(char *why, size_t why_size);
