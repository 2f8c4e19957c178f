/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives back memory that has been free for about a second: host pages of the arena's pools to the system, and memory
 * that the device's allocator keeps to the device. At once where the system is short of memory. A thread of its own
 * looks several times a second while there is something to give back. It starts when a block is first freed, sleeps
 * when everything has been given back, and ends before each fork.
 */
#pragma once

#include "base.h"

#include <stdatomic.h>

extern _Atomic bool gsh_idle_is_noted;

/* From now on freed memory is noted, and the thread ends before each fork. Call it after gsh_fork_init: the fork
 * handler takes locks that the thread needs in order to end. */
void gsh_idle_init(void);
/* At process exit: returns once the thread has ended; none starts afterwards. */
void gsh_idle_end(void);
void gsh_idle_wake(void);
/* Notes that memory was freed. The caller holds no lock. */
static inline void gsh_idle_note(void)
{
    if (GSH_UNLIKELY(!atomic_load_explicit(&gsh_idle_is_noted, memory_order_relaxed)))
        gsh_idle_wake();
}
/* How often the thread has looked. Changes under the ARENA lock. */
uint32_t gsh_idle_clock_locked(void);
/* Gives back the pages of blocks that have been free for so many looks; true where other free blocks have pages left.
 * Any thread that holds no lock. */
bool gsh_idle_trim_host(uint32_t looks);
