/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "memory_yield.h"

#include "backend.h"
#include "coherence_events.h"
#include "device.h"
#include "dispatch_lock.h"
#include "eviction.h"
#include "lock.h"
#include "value.h"

/* Others allocate whole pages of the device, and the driver needs some itself. */
#define SLACK_BYTES ((size_t)32 << 20)
#define LATER_SHARE 8 /* the share of the missing bytes that each later round evicts */

static size_t find_missing(size_t wanted)
{
    size_t available = gsh_backend_get()->available();
    return wanted > available ? wanted - available : 0;
}

/* Gives back unused memory; true where there was any. */
static bool trim_locked(void)
{
    size_t before = gsh_backend_get()->available();
    gsh_coherence_events.forget_dead_locked();
    gsh_value_reap_locked();
    gsh_backend_get()->trim();
    return gsh_backend_get()->available() > before;
}

/* Whether so many bytes can fit beside other users at all. Nothing is evicted otherwise. */
static bool could_fit(size_t bytes)
{
    size_t free_bytes = 0, limit_bytes = 0;
    gsh_backend_get()->memory(&free_bytes, &limit_bytes);
    return bytes <= gsh_backend_get()->available() + (limit_bytes - free_bytes);
}

/* The backend gives memory back in pieces that several arrays share, so the first round may not free enough. Later
 * rounds evict less at a time, so as not to evict much too much. False: nothing can be evicted. */
static bool evict_for_locked(size_t missing, bool is_first)
{
    return gsh_eviction_evict_locked(is_first ? missing
                                              : GSH_MAX(missing / LATER_SHARE, (size_t)1));
}

/* What pending nodes hold can be freed or evicted once they have run. */
static bool yield_locked(size_t bytes)
{
    bool is_given = trim_locked();
    if (!could_fit(bytes) || find_missing(bytes + SLACK_BYTES) == 0)
        return is_given;
    gsh_coherence_events.run_for_memory_locked();
    is_given |= trim_locked();
    bool is_first = true;
    for (size_t missing;
         (missing = find_missing(bytes + SLACK_BYTES)) != 0 && evict_for_locked(missing, is_first);
         is_first = false)
        is_given |= trim_locked();
    return is_given;
}

bool gsh_memory_yield(size_t bytes)
{
    if (gsh_device_get_state() != GSH_DEVICE_READY || gsh_lock_is_any_held())
        return false;
    gsh_dispatch_lock_acquire();
    bool is_given = yield_locked(bytes);
    gsh_dispatch_lock_release();
    return is_given;
}

static bool age_locked(unsigned looks)
{
    gsh_coherence_events.forget_dead_locked();
    gsh_value_reap_locked();
    return gsh_backend_get()->age(looks);
}

/* There is another look soon: it keeps nobody waiting for a launch in flight. */
bool gsh_memory_yield_unused(unsigned looks)
{
    if (gsh_device_get_state() != GSH_DEVICE_READY)
        return false;
    gsh_dispatch_lock_acquire_beside_launch();
    bool has_left = gsh_dispatch_lock_is_launching() || age_locked(looks);
    gsh_dispatch_lock_release();
    return has_left;
}
