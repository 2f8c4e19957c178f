/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of host memory that kernels write: the place of a result of one element that the host reads
 * next. Reading it takes a wait and no transfer. Under the DISPATCH lock.
 */
#pragma once

#include "base.h"

#define GSH_MAPPED_SCALAR_BYTES 64

/* A free word: the address that kernels use, and the one that the host reads. False: there is none. */
bool gsh_mapped_scalar_take_locked(uint64_t *address, const char **word);
/* Work submitted before may still write it. */
void gsh_mapped_scalar_give_locked(const char *word);
