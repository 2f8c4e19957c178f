/* SPDX-License-Identifier: Apache-2.0
 *
 * Page-locked host memory: the backend's registration within the budget of PIN_LIMIT. The arena knows which ranges
 * are registered. Lock-free; any thread, not in the fault handler.
 */
#pragma once

#include "base.h"

/* Sets the largest number of bytes registered at a time. */
void gsh_pin_set_limit(size_t bytes);
/* True where the device is ready and takes registrations. */
bool gsh_pin_is_possible(void);
/* Registers [base, base + size), whose pages must be readable and writeable; false where that is not possible, the
 * budget is spent or the system refuses. */
bool gsh_pin_try(uintptr_t base, size_t size);
/* Ends a registration made with the same arguments. */
void gsh_pin_release(uintptr_t base, size_t size);
