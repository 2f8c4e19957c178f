/* SPDX-License-Identifier: Apache-2.0
 *
 * Mapped scalars: words of host memory that kernels write, for a result of one element that the host reads next.
 * Reading one needs a wait but no transfer. Under the DISPATCH lock.
 */
#pragma once

#include "base.h"

#define GSH_MAPPED_SCALAR_BYTES 64

/* Takes a free word: its address for kernels and its address for the host. False: none is free. */
bool gsh_mapped_scalar_take_locked(uint64_t *address, const char **word);
/* Gives the word back. Work submitted before may still write it. */
void gsh_mapped_scalar_give_locked(const char *word);
