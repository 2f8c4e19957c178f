/* SPDX-License-Identifier: Apache-2.0
 *
 * A rest: for some milliseconds the hooks leave calls of few elements, of all threads, to NumPy without describing them. What the program
 * does meanwhile, an allocation or a longer loop, ends a rest whose time is over. Any thread, no locks. Checked by
 * tests/unit/offload/dispatch/test_small_call_rest.c and tests/preload/test_small_call_trial.py.
 */
#pragma once

#include "base.h"

#include <stdatomic.h>

/* ns by gsh_clock_ns; 0: there is no rest. */
extern _Atomic uint64_t gsh_small_call_rest_until;

/* `least`: the fewest elements of a call that the hooks describe, where the facts decide about calls; NULL: there are no rests. Once. */
void gsh_small_call_rest_init(_Atomic int64_t *least);
/* Calls of up to so many elements are left alone for so many s. Nothing where a rest goes on. */
void gsh_small_call_rest_begin(int64_t elements, double seconds);
/* Ends the rest if its time is over. */
void gsh_small_call_rest_end_if_over(void);

static inline void gsh_small_call_rest_check(void)
{
    if (GSH_UNLIKELY(atomic_load_explicit(&gsh_small_call_rest_until, memory_order_relaxed) != 0))
        gsh_small_call_rest_end_if_over();
}
