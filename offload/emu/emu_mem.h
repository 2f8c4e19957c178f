/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of the emulated device, apart from the program's heap except for pieces smaller than a page. Freed
 * pieces are kept for the next request of about their size, as first touch costs more than most loops. The kernel may
 * take the pages of large ones where memory is short. Under the DISPATCH lock.
 */
#pragma once

#include "base.h"

/* Allocates `size` > 0 bytes, aligned to 256, contents undefined; NULL: there is no memory. */
void *gsh_emu_mem_take(size_t size);
/* Frees what was allocated with this size. */
void gsh_emu_mem_give(void *memory, size_t size);
/* Gives all kept pieces back to the system. */
void gsh_emu_mem_trim(void);
/* Gives back pieces that were unused for so many calls of this function; true where it keeps others. */
bool gsh_emu_mem_age(unsigned calls);
/* Bytes of the kept pieces that may have pages. */
size_t gsh_emu_mem_spare_bytes(void);
