/* SPDX-License-Identifier: Apache-2.0
 *
 * Several threads may end a rest at the same time. The last of them may then set the usual threshold back in the next rest, which leaves
 * no calls alone.
 */
#include "small_call_rest.h"

#include "clock.h"
#include "decide.h"

_Atomic uint64_t gsh_small_call_rest_until;

static _Atomic int64_t *least_elements;

void gsh_small_call_rest_init(_Atomic int64_t *least)
{
    least_elements = least;
}

void gsh_small_call_rest_begin(int64_t elements, double seconds)
{
    uint64_t none = 0, until = gsh_clock_ns() + (uint64_t)(seconds * 1e9);
    if (least_elements == NULL || elements < GSH_DECIDE_LEAST_ELEMENTS)
        return;
    if (atomic_compare_exchange_strong(&gsh_small_call_rest_until, &none, until))
        *least_elements = elements + 1;
}

void gsh_small_call_rest_end_if_over(void)
{
    uint64_t until = atomic_load(&gsh_small_call_rest_until);
    if (until == 0 || gsh_clock_ns() < until)
        return;
    *least_elements = GSH_DECIDE_LEAST_ELEMENTS;
    atomic_compare_exchange_strong(&gsh_small_call_rest_until, &until, 0);
}
