/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocates pages before they are needed. A page of zeros costs one fault at its first read and another at its first
 * write, of some microseconds each.
 */
#pragma once

#include "base.h"

/* Allocates the pages of static or mapped writable memory. Keeps its values, even while other threads write them.
 * Any thread, no locks. */
static inline void gsh_prefault(void *memory, size_t bytes)
{
    enum { PAGE_BYTES = 4096 };
    unsigned char *byte = memory, *end = byte + bytes;
    while (byte < end) {
        unsigned char zero =
            0; /* replaces 0 by 0: a read alone would map the read-only zero page */
        __atomic_compare_exchange_n(byte, &zero, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        byte = (unsigned char *)gsh_round_up((uintptr_t)byte + 1, PAGE_BYTES);
    }
}
