/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that was freed and that nobody has used for about a second goes back: host pages of the arena's pools to the
 * system, what the device's allocator keeps to the device. At once where the system is short of memory. A thread of its own
 * looks, several times a second while there is something to give back; it starts with the first block that is freed, sleeps
 * when all has been given back, and is gone while the process forks.
 */
#pragma once

#include "base.h"

#include <stdatomic.h>

extern _Atomic bool gsh_idle_is_noted;

/* From now on what is freed is noted, and the thread ends before each fork. After gsh_fork_init, whose handler takes
 * locks that the thread needs to end. */
void gsh_idle_init(void);
/* The process ends: returns once the thread has ended, and there is no other from then on. */
void gsh_idle_end(void);
void gsh_idle_wake(void);
/* Memory was freed, and the caller holds no lock. */
static inline void gsh_idle_note(void)
{
    if (GSH_UNLIKELY(!atomic_load_explicit(&gsh_idle_is_noted, memory_order_relaxed)))
        gsh_idle_wake();
}
/* How often the thread has looked; moves on under the ARENA lock. */
uint32_t gsh_idle_clock_locked(void);
/* Gives back the pages of blocks that have been free for so many looks; true where others have pages left. Any thread
 * without a lock. */
bool gsh_idle_trim_host(uint32_t looks);
