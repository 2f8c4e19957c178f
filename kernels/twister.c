/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A block is computed in its own place: a word of the next block takes the place of the word 624 before it.
 */
#include "twister.h"

#include <string.h>

enum { BLOCK = GSH_TWISTER_BLOCK, FAR = 397, NEAR = BLOCK - FAR };

static uint32_t twist(uint32_t word, uint32_t next)
{
    const uint32_t mixed = (word & 0x80000000u) | (next & 0x7fffffffu);
    return mixed >> 1 ^ (-(mixed & 1) & 0x9908b0dfu);
}

static void advance(uint32_t *block)
{
    for (int i = 0; i < NEAR; i++)
        block[i] = block[i + FAR] ^ twist(block[i], block[i + 1]);
    for (int i = NEAR; i < BLOCK - 1; i++)
        block[i] = block[i - NEAR] ^ twist(block[i], block[i + 1]);
    block[BLOCK - 1] = block[FAR - 1] ^ twist(block[BLOCK - 1], block[0]);
}

static uint32_t temper(uint32_t word)
{
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680u;
    word ^= word << 15 & 0xefc60000u;
    return word ^ word >> 18;
}

/* The inverse: each step is repeated until no bit depends on a wrong one. */
static uint32_t untemper(uint32_t word)
{
    word ^= word >> 18;
    word ^= word << 15 & 0xefc60000u;
    uint32_t left = word;
    for (int i = 0; i < 4; i++)
        left = word ^ (left << 7 & 0x9d2c5680u);
    uint32_t right = left;
    for (int i = 0; i < 2; i++)
        right = left ^ right >> 11;
    return right;
}

void gsh_twister_fill(const uint32_t *key, int at, uint32_t *out, int64_t count)
{
    uint32_t block[BLOCK];
    memcpy(block, key, sizeof block);
    while (count > 0) {
        if (at == BLOCK) {
            advance(block);
            at = 0;
        }
        const int64_t some = GSH_MIN(count, (int64_t)(BLOCK - at));
        for (int64_t i = 0; i < some; i++)
            out[i] = temper(block[at + i]);
        at += (int)some;
        out += some;
        count -= some;
    }
}

void gsh_twister_block_of(const uint32_t *words, uint32_t *key)
{
    for (int i = 0; i < BLOCK; i++)
        key[i] = untemper(words[i]);
}
