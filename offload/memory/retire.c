/* SPDX-License-Identifier: Apache-2.0
 *
 * First refuses calls, then waits for a call in progress, then fetches everything to the host. Checked by
 * tests/unit/offload/memory/test_retire.c.
 */
#include "retire.h"

#include "arena_internal.h"
#include "coherence.h"
#include "device.h"
#include "dispatch_lock.h"
#include "lock.h"
#include "log.h"

#include <errno.h>
#include <stdatomic.h>

static const char *_Atomic reason;

const char *gsh_retire_reason(void)
{
    return atomic_load_explicit(&reason, memory_order_acquire);
}

static void fetch_all(void)
{
    uint32_t end = gsh_arena_block_end_sigsafe();
    for (uint32_t index = 1; index < end; index++) {
        const struct gsh_block *block = gsh_block_at(index);
        if (atomic_load_explicit(&block->live, memory_order_acquire))
            gsh_coherence_fetch((void *)block->base, block->size, true);
    }
}

void gsh_retire(const char *why)
{
    const char *none = NULL;
    int keep = errno;
    if (!atomic_compare_exchange_strong(&reason, &none, why))
        return;
    gsh_device_retire_silently();
    if (gsh_arena_end != 0) {
        gsh_log(GSH_LOG_INFO,
                "the program uses %s, which writes memory unseen: all arrays are fetched, and "
                "NumPy "
                "computes on the CPU",
                why);
        if (!gsh_lock_is_any_held()) {
            gsh_dispatch_lock_acquire();
            gsh_dispatch_lock_release();
            fetch_all();
        }
    }
    errno = keep;
}
