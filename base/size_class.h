/* SPDX-License-Identifier: Apache-2.0
 *
 * Size classes of memory blocks: a freed block is reused for any size of its class.
 */
#pragma once

#include "base.h"

#define GSH_SIZE_CLASSES 256

/* `granules` > 0 rounded up to a size class: exact to 8, then 8 classes to each power of two. The class is below
 * GSH_SIZE_CLASSES for up to 2^34 granules. */
static inline size_t gsh_size_class_round(size_t granules, unsigned *class)
{
    if (granules <= 8) {
        *class = (unsigned)granules - 1;
        return granules;
    }
    unsigned shift = (unsigned)(63 - __builtin_clzl(granules - 1)) - 3;
    size_t steps = (granules + ((size_t)1 << shift) - 1) >> shift; /* 9 .. 16 */
    *class = 8 * shift + (unsigned)steps - 1;
    return steps << shift;
}
