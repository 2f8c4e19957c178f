/* SPDX-License-Identifier: Apache-2.0
 *
 * Who stands in front of the C library's malloc in this process. CUDA's libraries and the loader call it in threads of theirs and
 * ours, for which the program's threads wait. A profiler's may take Python's global lock (Scalene's does), which such a thread of
 * the program holds: neither would go on.
 */
#pragma once

#include "status.h"

#include <stddef.h>

/* GSH_DECLINED: malloc is neither the C library's nor that of an allocator or sanitizer that is known; `why`, of
 * `why_size` bytes, names the file then. Any thread. */
enum gsh_status gsh_cuda_malloc_front_check(char *why, size_t why_size);
