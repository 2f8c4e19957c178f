/* SPDX-License-Identifier: Apache-2.0
 *
 * MT19937 (Matsumoto and Nishimura, 1998): words of 32 bits, in blocks of 624. NumPy's mt19937_state holds the words of the current
 * block before they are tempered, and how many of them are taken (NumPy 1.17 to 2.5). Pure functions.
 */
#pragma once

#include "base.h"

#define GSH_TWISTER_BLOCK 624

/* Writes the next `count` words of a stream that has taken `at` (0 .. 624) words of the block `key`. */
void gsh_twister_fill(const uint32_t *key, int at, uint32_t *out, int64_t count);
/* The block whose tempered words these are. The two may be one. */
void gsh_twister_block_of(const uint32_t *words, uint32_t *key);
