/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws in parts, by several threads, beside the same loop over all words of the stream at once.
 */
#include "host_random.h"

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { COUNT = 300007, WORDS = 2 * COUNT, THREADS = 3 };

struct work {
    struct gsh_host_random random;
    _Atomic int64_t next;
};

static void *run_parts(void *context)
{
    struct work *work = context;
    for (int64_t part; (part = atomic_fetch_add(&work->next, 1)) < work->random.parts;)
        gsh_host_random_part(&work->random, part);
    return NULL;
}

/* At most `parts` of the parts are made by the threads. */
static bool draw_parts(const struct gsh_random_draw *draw, enum gsh_dtype dtype, void *out,
                       struct gsh_random_stream *end, int64_t parts)
{
    struct work work = {.next = 0};
    pthread_t threads[THREADS];
    if (!gsh_host_random_begin(&work.random, draw, dtype, out, COUNT, THREADS))
        return false;
    work.random.parts = GSH_MIN(work.random.parts, parts);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_parts, &work);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    bool is_made = gsh_host_random_end(&work.random);
    *end = work.random.draw.stream;
    return is_made;
}

static bool draw(const struct gsh_random_draw *draw, enum gsh_dtype dtype, void *out,
                 struct gsh_random_stream *end)
{
    return draw_parts(draw, dtype, out, end, INT64_MAX);
}

/* The reference: all words lie in memory, the kept half before them. */
static bool draw_at_once(const struct gsh_random_draw *draw, enum gsh_dtype dtype, void *out,
                         struct gsh_random_stream *end)
{
    struct gsh_host_random_recipe recipe;
    struct gsh_random_stream stream = draw->stream;
    uint64_t *words = malloc((WORDS + 1) * sizeof(*words));
    if (!words || !gsh_host_random_values_find(draw, dtype, &recipe))
        return false;
    int64_t half = GSH_MAX(32 / (int64_t)recipe.bits, 1);
    int64_t lead = draw->stream.has_half && recipe.bits < 64 ? half : 0;
    words[0] = (uint64_t)draw->stream.half << 32;
    gsh_random_stream_fill(&stream, words + 1, WORDS);
    struct gsh_host_random_words from = {words + 1, -lead, WORDS * 64 / (int64_t)recipe.bits,
                                         WORDS * 64 / (int64_t)recipe.bits};
    bool is_made = recipe.loop(draw, &from, out, COUNT) == COUNT;
    if (draw->form != GSH_RANDOM_STANDARD)
        gsh_host_random_values_transform(draw, out, out, COUNT);
    *end = draw->stream;
    if (recipe.bits == 64)
        gsh_random_stream_skip(end, (uint64_t)from.position);
    else
        gsh_random_stream_skip_halves(end, (uint64_t)((from.position + lead + half - 1) / half));
    free(words);
    return is_made;
}

static void compare(const struct gsh_random_draw *request, enum gsh_dtype dtype, int64_t most)
{
    size_t bytes = COUNT * gsh_dtype_size(dtype);
    void *parts = calloc(COUNT, 8), *whole = calloc(COUNT, 8);
    struct gsh_random_stream end, expected;
    CHECK(draw_parts(request, dtype, parts, &end, most));
    CHECK(draw_at_once(request, dtype, whole, &expected));
    CHECK(memcmp(parts, whole, bytes) == 0);
    CHECK_INT(end.has_half, expected.has_half);
    CHECK_INT(end.half, expected.half);
    CHECK(end.generator == GSH_RANDOM_PHILOX
              ? memcmp(&end.philox.counter, &expected.philox.counter, 32) == 0 &&
                    end.philox.buffer_at == expected.philox.buffer_at
              : end.pcg.state == expected.pcg.state);
    free(parts);
    free(whole);
}

static void test_draw(struct gsh_random_draw request, enum gsh_dtype dtype)
{
    for (int generator = GSH_RANDOM_PCG64; generator <= GSH_RANDOM_PHILOX; generator++) {
        struct gsh_random_stream *stream = &request.stream;
        *stream = (struct gsh_random_stream){.generator = (enum gsh_random_generator)generator};
        stream->has_half = generator != GSH_RANDOM_PCG64DXSM;
        stream->half = 0xfedcba98;
        if (generator == GSH_RANDOM_PHILOX)
            stream->philox.buffer_at = 4;
        else
            stream->pcg.increment = 2 * (unsigned __int128)dtype + 1;
        gsh_random_stream_skip(stream, 1000);
        compare(&request, dtype, INT64_MAX);
    }
}

static void test_floats(void)
{
    for (int kind = GSH_RANDOM_UNIFORM; kind <= GSH_RANDOM_EXPONENTIAL; kind++) {
        struct gsh_random_draw draw = {.distribution = (enum gsh_random_distribution)kind};
        test_draw(draw, GSH_FLOAT32);
        for (int form = GSH_RANDOM_STANDARD; form <= GSH_RANDOM_EXP; form++) {
            draw.form = (enum gsh_random_form)form;
            draw.shift = -1.5;
            draw.scale = 0.75;
            test_draw(draw, GSH_FLOAT64);
        }
    }
}

static void test_integers(void)
{
    static const uint64_t ranges[] = {1,
                                      9,
                                      63,
                                      200,
                                      255,
                                      40000,
                                      65535,
                                      UINT32_MAX,
                                      UINT32_MAX - 1,
                                      UINT64_C(1) << 33,
                                      UINT64_MAX / 4 * 3,
                                      UINT64_MAX};
    static const enum gsh_dtype dtypes[] = {GSH_INT8, GSH_UINT16, GSH_INT32, GSH_UINT64};
    struct gsh_random_draw draw = {.distribution = GSH_RANDOM_BOUNDED, .low = 3, .range = 1};
    test_draw(draw, GSH_BOOL);
    for (size_t d = 0; d < GSH_COUNT(dtypes); d++)
        for (size_t i = 0; i < GSH_COUNT(ranges); i++) {
            draw.range = ranges[i];
            if (draw.range <= UINT64_MAX >> (64 - 8 * gsh_dtype_size(dtypes[d])))
                test_draw(draw, dtypes[d]);
        }
}

/* ---- wrong guesses ---- */

/* The first beginning of a value at `until` or behind it, where one begins at `at`. */
static int64_t follow(const struct gsh_random_draw *draw, enum gsh_dtype dtype,
                      const uint64_t *words, int64_t at, int64_t until)
{
    struct gsh_host_random_recipe recipe;
    struct gsh_host_random_words from = {words, at, INT64_MAX, INT64_MAX};
    CHECK(gsh_host_random_values_find(draw, dtype, &recipe));
    for (double value; from.position < until;)
        (void)recipe.loop(draw, &from, &value, 1);
    return from.position;
}

/* Whether the guess that a value begins with the second part leads past the beginning of its first value. */
static bool is_wrong_guess(const struct gsh_random_draw *draw, enum gsh_dtype dtype)
{
    enum { MADE = GSH_HOST_RANDOM_PART_WORDS + 1000 };
    struct gsh_random_stream stream = draw->stream;
    uint64_t *words = malloc(MADE * sizeof *words);
    int64_t origin = GSH_HOST_RANDOM_PART_WORDS * (dtype == GSH_FLOAT32 ? 2 : 1);
    gsh_random_stream_fill(&stream, words, MADE);
    int64_t entry = follow(draw, dtype, words, 0, origin);
    int64_t guess = follow(draw, dtype, words, origin, entry);
    free(words);
    return guess != entry;
}

/* Places of PCG64 with state 0 and increment 1, from which the second part is made again: one place of some thousand is such a one. */
static const struct wrong_guess {
    enum gsh_random_distribution distribution;
    enum gsh_dtype dtype;
    uint64_t place; /* of the part before */
} wrong_guesses[] = {
    {GSH_RANDOM_NORMAL, GSH_FLOAT64, 22094},
    {GSH_RANDOM_NORMAL, GSH_FLOAT32, 7943},
    {GSH_RANDOM_EXPONENTIAL, GSH_FLOAT64, 6300},
    {GSH_RANDOM_EXPONENTIAL, GSH_FLOAT32, 4106},
};

static struct gsh_random_draw wrong_draw(const struct wrong_guess *wrong)
{
    struct gsh_random_draw draw = {.distribution = wrong->distribution};
    draw.stream.pcg.increment = 1;
    gsh_random_stream_skip(&draw.stream, wrong->place);
    return draw;
}

static void test_wrong_guesses(void)
{
    for (size_t i = 0; i < GSH_COUNT(wrong_guesses); i++) {
        const struct gsh_random_draw draw = wrong_draw(&wrong_guesses[i]);
        CHECK(is_wrong_guess(&draw, wrong_guesses[i].dtype));
        compare(&draw, wrong_guesses[i].dtype, INT64_MAX);
    }
}

/* Fewer parts than the draw takes were guessed. */
static void test_few_parts(void)
{
    struct gsh_random_draw draw = wrong_draw(&wrong_guesses[0]);
    for (int64_t parts = 0; parts < 3; parts++)
        compare(&draw, GSH_FLOAT64, parts);
}

/* A stream of zeros only: each word is left out. */
static void test_no_stream(void)
{
    struct gsh_random_draw draw_of_zeros = {.distribution = GSH_RANDOM_BOUNDED, .range = 9};
    struct gsh_random_stream end;
    int32_t *out = calloc(COUNT, sizeof(*out));
    CHECK(!draw(&draw_of_zeros, GSH_INT32, out, &end));
    free(out);
}

int main(void)
{
    test_floats();
    test_integers();
    test_wrong_guesses();
    test_few_parts();
    test_no_stream();
    return check_result();
}
