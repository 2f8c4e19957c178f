/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel keeps of files in memory. Any thread, without locks. Checked by tests/unit/base/test_page_cache.c.
 */
#pragma once

#include "base.h"

/* The share of a file's first `bytes`, or of all that it has, that is in memory, 0 to 1; negative where the file cannot be read or
 * is empty. Files that the user may not write count as being in memory, by a rule of Linux 5.2 (mincore(2)). */
double gsh_page_cache_share(const char *path, size_t bytes);
