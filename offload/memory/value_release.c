/* SPDX-License-Identifier: Apache-2.0
 *
 * The queue is a lock-free stack. All values are taken from it at once, so no value can be removed and pushed again
 * between a pusher's load and its exchange.
 */
#include "value_release.h"

static struct gsh_value *_Atomic dead_values;

void gsh_value_release_sigsafe(struct gsh_value *value)
{
    if (value == NULL ||
        atomic_fetch_sub_explicit(&value->references, 1, memory_order_acq_rel) != 1)
        return;
    struct gsh_value *head = atomic_load_explicit(&dead_values, memory_order_relaxed);
    do
        value->next_dead = head;
    while (!atomic_compare_exchange_weak_explicit(&dead_values, &head, value, memory_order_release,
                                                  memory_order_relaxed));
}

struct gsh_value *gsh_value_release_take_locked(void)
{
    if (atomic_load_explicit(&dead_values, memory_order_relaxed) == NULL)
        return NULL;
    return atomic_exchange_explicit(&dead_values, NULL, memory_order_acquire);
}
