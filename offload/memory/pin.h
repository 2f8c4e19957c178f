/* SPDX-License-Identifier: Apache-2.0
 *
 * Page-locked host memory: the backend's registration within the budget of PIN_LIMIT. The arena knows which ranges
 * are registered. Lock-free; any thread, not in the fault handler.
 */
#pragma once

#include "base.h"

struct gsh_pin_state {
    size_t bytes, limit; /* registered now; at most */
    size_t refusals;     /* registrations that the backend refused so far */
};

/* Sets the largest number of bytes registered at a time. */
void gsh_pin_set_limit(size_t bytes);
/* True where the device is ready and takes registrations. */
bool gsh_pin_is_possible(void);
/* Registers [base, base + size), whose pages must be readable and writeable; false where that is not possible, the
 * budget is spent or the system refuses. */
bool gsh_pin_try(uintptr_t base, size_t size);
/* As it is now. */
struct gsh_pin_state gsh_pin_get_state(void);
/* Ends a registration made with the same arguments. */
void gsh_pin_release(uintptr_t base, size_t size);
