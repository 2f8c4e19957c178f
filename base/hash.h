/* SPDX-License-Identifier: Apache-2.0
 *
 * The hashes of this library. FNV-1a (Fowler, Noll, Vo), 64 bits: part by part, each part being a byte or, where it need not
 * match anybody else's, a word; the same of 128 bits for names of files, byte by byte; and one of 128 bits for words.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GSH_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t gsh_hash_add(uint64_t hash, uint64_t part)
{
    return (hash ^ part) * UINT64_C(0x100000001b3);
}

/* Its published offset basis and prime of 128 bits. */
#define GSH_HASH_WIDE_BEGIN                                                                        \
    ((unsigned __int128)UINT64_C(0x6c62272e07bb0142) << 64 | UINT64_C(0x62b821756295c58d))

static inline unsigned __int128 gsh_hash_wide_add(unsigned __int128 hash, unsigned char byte)
{
    return (hash ^ byte) * ((unsigned __int128)1 << 88 | 0x13b);
}

/* Spreads what words were added to over all bits: FNV mixes bytes, not what lies further up. The finaliser of SplitMix64
 * (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t gsh_hash_spread(uint64_t hash)
{
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

/* 128 bits of words, for names of kernels: two multiplicative hashes, of which the first is also mixed into the second. FNV of
 * words is too weak to tell kernels apart, and FNV of 128 bits, byte by byte, takes several times as long. */
struct gsh_hash_pair {
    uint64_t first, second;
};

/* Digits of pi. */
#define GSH_HASH_PAIR_BEGIN                                                                        \
    (struct gsh_hash_pair)                                                                         \
    {                                                                                              \
        UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344)                                 \
    }

static inline void gsh_hash_pair_add(struct gsh_hash_pair *hash, uint64_t word)
{
    hash->first = (hash->first ^ word) * UINT64_C(0x9fb21c651e98df25);
    hash->first ^= hash->first >> 32;
    hash->second = (hash->second + word) * UINT64_C(0xd6e8feb86659fd93) + hash->first;
    hash->second ^= hash->second >> 29;
}

/* Adds a text of bytes: its length, then its words, the last one filled up by zeros. */
static inline void gsh_hash_pair_add_bytes(struct gsh_hash_pair *hash, const void *bytes,
                                           size_t size)
{
    gsh_hash_pair_add(hash, size);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at, size - at < sizeof word ? size - at : sizeof word);
        gsh_hash_pair_add(hash, word);
    }
}
