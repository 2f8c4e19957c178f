/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions that hand a caller's memory to the kernel (io_calls.def), and system calls that
 * are made through `syscall`. The kernel does not fault on a protected page, it fails with EFAULT;
 * so where such memory is in the arena it is brought home and pinned for the duration of the one
 * real call.
 */
#pragma once

#include "arena.h"
#include "base.h"
#include "coherence.h"

/* Looks up the real functions; without it each is looked up at its first call. */
void gsh_libc_io_resolve(void);

/* Brings home what lies in the arena, for a call of the kernel that follows at once and does not
 * wait. Keeps errno. */
static inline void gsh_libc_io_reach(const void *memory, size_t size, bool write)
{
    if (GSH_UNLIKELY(gsh_arena_overlaps(memory, size))) {
        gsh_coherence_pin(memory, size, write);
        gsh_coherence_unpin(memory, size, write);
    }
}
