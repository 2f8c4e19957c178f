/* SPDX-License-Identifier: Apache-2.0
 *
 * FNV-1a (Fowler, Noll, Vo), 64 bits: part by part, each part being a byte or, where it need not match anybody else's, a word.
 */
#pragma once

#include <stdint.h>

#define GSH_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t gsh_hash_add(uint64_t hash, uint64_t part)
{
    return (hash ^ part) * UINT64_C(0x100000001b3);
}
