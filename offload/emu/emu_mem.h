/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of the device "host", apart from the program's heap but for pieces below a page. Pieces that are given back
 * are kept for the next of about their size, as a first touch costs more than what most loops do with it; the kernel may
 * take the pages of large ones where memory is short. Under the DISPATCH lock.
 */
#pragma once

#include "base.h"

/* `size` > 0 bytes, aligned to 256, contents undefined; NULL: there is no memory. */
void *gsh_emu_mem_take(size_t size);
/* Gives back what was taken with this size. */
void gsh_emu_mem_give(void *memory, size_t size);
/* Gives the pieces that are kept back to the system. */
void gsh_emu_mem_trim(void);
/* The same for those that have not been used for so many calls of this; true where there are others. */
bool gsh_emu_mem_age(unsigned calls);
/* What the pieces that are kept may hold. */
size_t gsh_emu_mem_spare_bytes(void);
