/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: words made at once, in pieces and passed over; kept halves; NumPy's first words of PCG64, PCG64DXSM and Philox.
 */
#include "random_stream.h"

#include "check.h"

enum { WORDS = 1003 };

/* PCG64(1).state, PCG64DXSM(1).state, Philox(1).state of NumPy 2.4. */
static struct gsh_random_stream make_stream(enum gsh_random_generator generator)
{
    struct gsh_random_stream stream = {.generator = generator};
    if (generator == GSH_RANDOM_PHILOX) {
        stream.philox.key[0] = UINT64_C(0x672d8ee56d6791ff);
        stream.philox.key[1] = UINT64_C(0x8ae19ca14eb1072c);
        stream.philox.buffer_at = 4;
        return stream;
    }
    stream.pcg.state =
        (unsigned __int128)UINT64_C(0x9c5b484bfedb756c) << 64 | UINT64_C(0x2a6e7d6f320fbc7e);
    stream.pcg.increment =
        (unsigned __int128)UINT64_C(0x922af2da2645f895) << 64 | UINT64_C(0xa19857b95740937b);
    return stream;
}

/* Words 0, 1, 4 and 1000 of random_raw. */
static const uint64_t first_words[][4] = {
    [GSH_RANDOM_PCG64] = {UINT64_C(0x8306bdf37922e4ff), UINT64_C(0xf35196bbc152a866),
                          UINT64_C(0x4fd42fa03fcd72a9), UINT64_C(0x8ad5e8dba0e5f5d5)},
    [GSH_RANDOM_PCG64DXSM] = {UINT64_C(0x4569de53b956589f), UINT64_C(0x47838278a68528bf),
                              UINT64_C(0x7889b65c37a19362), UINT64_C(0x93a5e219ed2bd810)},
    [GSH_RANDOM_PHILOX] = {UINT64_C(0x1119efbd6bc0ce3a), UINT64_C(0x143a31df2c79cf7e),
                           UINT64_C(0x3ebf40fd74b4b457), UINT64_C(0x83501938eceb5412)}};

static void test_words(enum gsh_random_generator generator, const uint64_t *words)
{
    CHECK(words[0] == first_words[generator][0]);
    CHECK(words[1] == first_words[generator][1]);
    CHECK(words[4] == first_words[generator][2]);
    CHECK(words[1000] == first_words[generator][3]);
}

static void test_pieces(enum gsh_random_generator generator, const uint64_t *words)
{
    struct gsh_random_stream stream = make_stream(generator);
    uint64_t piece[WORDS];
    size_t at = 0;
    for (size_t count = 0; at + count + 3 <= WORDS; at += count + 3, count++) {
        gsh_random_stream_fill(&stream, piece, count);
        CHECK(memcmp(piece, words + at, count * 8) == 0);
        gsh_random_stream_skip(&stream, 3);
    }
    CHECK(at > WORDS / 2);
}

static void test_halves(enum gsh_random_generator generator, const uint64_t *words)
{
    for (unsigned count = 0; count < 20; count++) {
        struct gsh_random_stream stream = make_stream(generator);
        uint64_t next;
        gsh_random_stream_skip_halves(&stream, count % 3);
        gsh_random_stream_skip_halves(&stream, count);
        unsigned all = count % 3 + count;
        CHECK_INT(stream.has_half, all % 2);
        if (all != 0)
            CHECK_INT(stream.half, words[(all - 1) / 2] >> 32);
        gsh_random_stream_fill(&stream, &next, 1);
        CHECK(next == words[(all + 1) / 2]);
    }
}

int main(void)
{
    for (int generator = GSH_RANDOM_PCG64; generator <= GSH_RANDOM_PHILOX; generator++) {
        uint64_t words[WORDS];
        struct gsh_random_stream stream = make_stream((enum gsh_random_generator)generator);
        gsh_random_stream_fill(&stream, words, WORDS);
        test_words((enum gsh_random_generator)generator, words);
        test_pieces((enum gsh_random_generator)generator, words);
        test_halves((enum gsh_random_generator)generator, words);
    }
    return check_result();
}
