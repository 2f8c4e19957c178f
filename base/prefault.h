/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages before they are needed: what is zero from the start has none until it is first read, and another one when it is first
 * written, each of which takes microseconds.
 */
#pragma once

#include "base.h"

/* Gives the pages of static or mapped writable memory, which keeps its values whoever else writes it. Any thread, no locks. */
static inline void gsh_prefault(void *memory, size_t bytes)
{
    enum { PAGE_BYTES = 4096 };
    unsigned char *byte = memory, *end = byte + bytes;
    while (byte < end) {
        unsigned char zero =
            0; /* is exchanged for itself: no read, which could find a page that cannot be written */
        __atomic_compare_exchange_n(byte, &zero, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        byte = (unsigned char *)gsh_round_up((uintptr_t)byte + 1, PAGE_BYTES);
    }
}
