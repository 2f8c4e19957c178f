/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of the device "host". Large pieces that are given back are kept for the next of their size, as a first
 * touch costs more than what most loops do with it; the kernel may take their pages where memory is short. Under the
 * DISPATCH lock.
 */
#pragma once

#include "base.h"

/* `size` > 0 bytes, aligned to 256, contents undefined; NULL: there is no memory. */
void *gsh_hostemu_mem_take(size_t size);
/* Gives back what was taken with this size. */
void gsh_hostemu_mem_give(void *memory, size_t size);
/* Gives the pieces that are kept back to the system. */
void gsh_hostemu_mem_trim(void);
/* The same once they have not been used for so many calls of this; true where there are any then. */
bool gsh_hostemu_mem_age(unsigned calls);
/* What they hold. */
size_t gsh_hostemu_mem_spare_bytes(void);
