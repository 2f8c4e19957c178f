/* SPDX-License-Identifier: Apache-2.0
 *
 * MT19937: the reference's words for its seed 5489, streams entered anywhere in a block, and blocks found again from their words.
 */
#include "twister.h"

#include "check.h"

#include <string.h>

enum { WORDS = 10000 };

static void seed(uint32_t *key, uint32_t word)
{
    for (uint32_t i = 0; i < GSH_TWISTER_BLOCK; i++) {
        key[i] = word;
        word = 1812433253u * (word ^ word >> 30) + i + 1;
    }
}

/* The first and the ten thousandth word, as the C++ standard has it for std::mt19937. */
static void test_reference(void)
{
    static uint32_t key[GSH_TWISTER_BLOCK], words[WORDS];
    seed(key, 5489);
    gsh_twister_fill(key, GSH_TWISTER_BLOCK, words, WORDS);
    CHECK_INT(words[0], 3499211612u);
    CHECK_INT(words[WORDS - 1], 4123659995u);
}

static void test_blocks(void)
{
    static uint32_t key[GSH_TWISTER_BLOCK], words[WORDS], again[WORDS], found[GSH_TWISTER_BLOCK];
    seed(key, 77);
    gsh_twister_fill(key, 0, words, WORDS);
    gsh_twister_block_of(words, found);
    CHECK(memcmp(found, key, sizeof key) == 0);
    for (int at = 0; at <= GSH_TWISTER_BLOCK; at += 39) {
        gsh_twister_fill(key, at, again, WORDS - at);
        CHECK(memcmp(again, words + at, (WORDS - (size_t)at) * sizeof *words) == 0);
    }
    gsh_twister_block_of(words + 3 * GSH_TWISTER_BLOCK, found);
    gsh_twister_fill(found, 100, again, 1000);
    CHECK(memcmp(again, words + 3 * GSH_TWISTER_BLOCK + 100, 1000 * sizeof *words) == 0);
}

int main(void)
{
    test_reference();
    test_blocks();
    return check_result();
}
