/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "random_stream.h"

typedef unsigned __int128 wide;

#define CHEAP_MULTIPLIER UINT64_C(0xda942042e4dd58b5)
enum { LANES = 4, PHILOX_WORDS = 4, PHILOX_ROUNDS = 10 };

static wide multiplier_of(enum gsh_random_generator generator)
{
    if (generator == GSH_RANDOM_PCG64DXSM)
        return CHEAP_MULTIPLIER;
    return (wide)UINT64_C(0x2360ed051fc65da4) << 64 | UINT64_C(0x4385df649fccf645);
}

/* ---- PCG: x -> a * x + c ---- */

struct map {
    wide a, c;
};

/* The map applied so many times. */
static struct map repeat(struct map map, uint64_t times)
{
    struct map all = {1, 0};
    for (; times != 0; times >>= 1) {
        if (times & 1)
            all = (struct map){all.a * map.a, all.c * map.a + map.c};
        map = (struct map){map.a * map.a, (map.a + 1) * map.c};
    }
    return all;
}

static struct map step_of(const struct gsh_random_stream *stream)
{
    return (struct map){multiplier_of(stream->generator), stream->pcg.increment};
}

/* Of the state behind the step. */
static inline uint64_t word_xsl_rr(wide state)
{
    uint64_t folded = (uint64_t)(state >> 64) ^ (uint64_t)state;
    unsigned turn = (unsigned)(state >> 122);
    return folded >> turn | folded << (-turn & 63);
}

/* Of the state before the step. */
static inline uint64_t word_dxsm(wide state)
{
    uint64_t high = (uint64_t)(state >> 64), low = (uint64_t)state | 1;
    high ^= high >> 32;
    high *= CHEAP_MULTIPLIER;
    high ^= high >> 48;
    return high * low;
}

/* Words of `first` and the states behind it. Four lanes of every fourth state hide the latency of the products. */
static inline __attribute__((always_inline)) void
fill_lanes(wide first, struct map step, uint64_t (*word)(wide), uint64_t *words, size_t count)
{
    struct map far = repeat(step, LANES);
    wide x[LANES] = {first};
    for (int i = 1; i < LANES; i++)
        x[i] = step.a * x[i - 1] + step.c;
    for (; count >= LANES; count -= LANES, words += LANES)
#pragma GCC unroll 4
        for (int i = 0; i < LANES; i++) {
            words[i] = word(x[i]);
            x[i] = far.a * x[i] + far.c;
        }
    for (size_t i = 0; i < count; i++)
        words[i] = word(x[i]);
}

static void fill_pcg(struct gsh_random_stream *stream, uint64_t *words, size_t count)
{
    struct map step = step_of(stream);
    if (stream->generator == GSH_RANDOM_PCG64)
        fill_lanes(step.a * stream->pcg.state + step.c, step, word_xsl_rr, words, count);
    else
        fill_lanes(stream->pcg.state, step, word_dxsm, words, count);
    gsh_random_stream_skip(stream, count);
}

/* ---- Philox ---- */

static void add_to_counter(uint64_t *counter, uint64_t blocks)
{
    for (int i = 0; i < PHILOX_WORDS && blocks != 0; i++)
        blocks = __builtin_add_overflow(counter[i], blocks, &counter[i]);
}

static inline void make_block(const struct gsh_random_stream *stream, const uint64_t *counter,
                              uint64_t *block)
{
    uint64_t key0 = stream->philox.key[0], key1 = stream->philox.key[1];
    uint64_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        wide left = (wide)UINT64_C(0xd2e7470ee14c6c93) * x0;
        wide right = (wide)UINT64_C(0xca5a826395121157) * x2;
        x0 = (uint64_t)(right >> 64) ^ x1 ^ key0;
        x1 = (uint64_t)right;
        x2 = (uint64_t)(left >> 64) ^ x3 ^ key1;
        x3 = (uint64_t)left;
        key0 += UINT64_C(0x9e3779b97f4a7c15);
        key1 += UINT64_C(0xbb67ae8584caa73b);
    }
    block[0] = x0;
    block[1] = x1;
    block[2] = x2;
    block[3] = x3;
}

/* The block of the buffer is that of the counter, once one was made. */
static void skip_philox(struct gsh_random_stream *stream, uint64_t words)
{
    uint64_t left = (uint64_t)(PHILOX_WORDS - stream->philox.buffer_at);
    if (words <= left) {
        stream->philox.buffer_at += (int)words;
        return;
    }
    uint64_t blocks = (words - left - 1) / PHILOX_WORDS + 1;
    add_to_counter(stream->philox.counter, blocks);
    make_block(stream, stream->philox.counter, stream->philox.buffer);
    stream->philox.buffer_at = (int)(words - left - (blocks - 1) * PHILOX_WORDS);
}

static void fill_philox(struct gsh_random_stream *stream, uint64_t *words, size_t count)
{
    size_t made = 0;
    while (made < count && stream->philox.buffer_at < PHILOX_WORDS)
        words[made++] = stream->philox.buffer[stream->philox.buffer_at++];
    for (; count - made > PHILOX_WORDS; made += PHILOX_WORDS) {
        add_to_counter(stream->philox.counter, 1);
        make_block(stream, stream->philox.counter, &words[made]);
    }
    if (made == count)
        return;
    skip_philox(stream, 1);
    stream->philox.buffer_at = 0;
    while (made < count)
        words[made++] = stream->philox.buffer[stream->philox.buffer_at++];
}

/* ---- all ---- */

void gsh_random_stream_skip(struct gsh_random_stream *stream, uint64_t words)
{
    if (stream->generator == GSH_RANDOM_PHILOX) {
        skip_philox(stream, words);
        return;
    }
    struct map map = repeat(step_of(stream), words);
    stream->pcg.state = map.a * stream->pcg.state + map.c;
}

void gsh_random_stream_fill(struct gsh_random_stream *stream, uint64_t *words, size_t count)
{
    if (stream->generator == GSH_RANDOM_PHILOX)
        fill_philox(stream, words, count);
    else
        fill_pcg(stream, words, count);
}

void gsh_random_stream_skip_halves(struct gsh_random_stream *stream, uint64_t halves)
{
    uint64_t last;
    if (halves != 0 && stream->has_half) {
        stream->has_half = false;
        halves--;
    }
    if (halves == 0)
        return;
    gsh_random_stream_skip(stream, (halves - 1) / 2);
    gsh_random_stream_fill(stream, &last, 1);
    stream->half = (uint32_t)(last >> 32);
    stream->has_half = halves % 2 != 0;
}
