/* SPDX-License-Identifier: Apache-2.0
 *
 * A direct transcription of the standards: some 300 MB a second.
 */
#include "hmac.h"

#include <string.h>

#define BLOCK_BYTES 64U

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* The same of the square roots of the first 8 primes. */
static const uint32_t first_state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static void expand(const unsigned char *block, uint32_t words[64])
{
    for (unsigned t = 0; t < 16; t++, block += 4)
        words[t] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
                   block[3];
    for (unsigned t = 16; t < 64; t++) {
        uint32_t early = words[t - 15], late = words[t - 2];
        words[t] = words[t - 16] + (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) +
                   words[t - 7] + (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10);
    }
}

static void compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t words[64], s[8];
    expand(block, words);
    memcpy(s, state, sizeof s);
    for (unsigned t = 0; t < 64; t++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t first = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice +
                         round_constants[t] + words[t];
        uint32_t second = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += first;
        s[0] = first + second;
    }
    for (unsigned k = 0; k < 8; k++)
        state[k] += s[k];
}

static void begin_hash(struct gsh_hmac *hmac)
{
    memcpy(hmac->state, first_state, sizeof hmac->state);
    hmac->length = 0;
}

void gsh_hmac_add(struct gsh_hmac *hmac, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    while (size > 0) {
        size_t have = hmac->length % BLOCK_BYTES, part = GSH_MIN(size, BLOCK_BYTES - have);
        memcpy(hmac->block + have, from, part);
        hmac->length += part;
        from += part;
        size -= part;
        if (have + part == BLOCK_BYTES)
            compress(hmac->state, hmac->block);
    }
}

/* A 1 bit, zeros, and the message's length in bits end the last block. */
static void end_hash(struct gsh_hmac *hmac, unsigned char code[GSH_HMAC_BYTES])
{
    static const unsigned char padding[BLOCK_BYTES] = {0x80};
    unsigned char length[8];
    uint64_t bits = hmac->length * 8;
    size_t have = hmac->length % BLOCK_BYTES;
    for (unsigned k = 0; k < 8; k++)
        length[k] = (unsigned char)(bits >> (56 - 8 * k));
    gsh_hmac_add(hmac, padding, (have < 56 ? 56 : 120) - have);
    gsh_hmac_add(hmac, length, sizeof length);
    for (unsigned k = 0; k < GSH_HMAC_BYTES; k++)
        code[k] = (unsigned char)(hmac->state[k / 4] >> (24 - 8 * (k % 4)));
}

void gsh_hmac_begin(struct gsh_hmac *hmac, const void *key, size_t key_size)
{
    unsigned char inner_key[BLOCK_BYTES] = {0};
    begin_hash(hmac);
    if (key_size > BLOCK_BYTES) {
        gsh_hmac_add(hmac, key, key_size);
        end_hash(hmac, inner_key);
        begin_hash(hmac);
    } else {
        memcpy(inner_key, key, key_size);
    }
    for (unsigned k = 0; k < BLOCK_BYTES; k++) {
        hmac->outer_key[k] = inner_key[k] ^ 0x5c;
        inner_key[k] ^= 0x36;
    }
    gsh_hmac_add(hmac, inner_key, sizeof inner_key);
}

void gsh_hmac_end(struct gsh_hmac *hmac, unsigned char code[GSH_HMAC_BYTES])
{
    unsigned char inner[GSH_HMAC_BYTES];
    end_hash(hmac, inner);
    begin_hash(hmac);
    gsh_hmac_add(hmac, hmac->outer_key, sizeof hmac->outer_key);
    gsh_hmac_add(hmac, inner, sizeof inner);
    end_hash(hmac, code);
}
