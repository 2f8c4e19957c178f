/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of one element that the host reads next: they lie where it sees them, so that reading one
 * takes no transfer.
 */
#include "backend.h"
#include "block.h"
#include "check.h"
#include "host_word.h"
#include "live.h"
#include "node.h"

#include <string.h>

#define COUNT ((int64_t)5000)
#define MANY 100 /* more than there are words */

static const struct gsh_backend *real;
static struct gsh_backend watched;
static unsigned downloads, waits;

static enum gsh_status count_download(void *dst, uint64_t src, size_t size, bool registered)
{
    downloads++;
    return real->download(dst, src, size, registered);
}

static enum gsh_status count_wait(void)
{
    waits++;
    return real->finish();
}

static void check_words(void)
{
    uint64_t addresses[MANY];
    const char *words[MANY];
    unsigned taken = 0;
    while (taken < MANY && gsh_host_word_take_locked(&addresses[taken], &words[taken]))
        taken++;
    CHECK(taken > 1 && taken < MANY);
    CHECK(words[1] - words[0] == GSH_HOST_WORD_BYTES);
    CHECK_INT(addresses[1] - addresses[0], GSH_HOST_WORD_BYTES);
    gsh_host_word_give_locked(words[5]);
    uint64_t address;
    const char *word;
    CHECK(gsh_host_word_take_locked(&address, &word) && word == words[5] &&
          address == addresses[5]);
    for (unsigned i = 0; i < taken; i++)
        gsh_host_word_give_locked(words[i]);
}

/* The sum of a[0 .. COUNT), in fresh memory. */
static double *sum(const double *a, bool is_read_next)
{
    double *out = live_doubles(1, GSH_ARENA_DEVICE);
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_REDUCE,
                                       .reduction = GSH_REDUCE_SUM,
                                       .loop = GSH_FLOAT64,
                                       .nin = 1,
                                       .nout = 1,
                                       .ndim = 1,
                                       .nreduce = 1,
                                       .shape = {COUNT},
                                       .strides = {{sizeof(double)}}},
                            .fresh = {true},
                            .is_read_next = is_read_next};
    call.launch.operands[0] = (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)a};
    call.launch.operands[1] = (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)out};
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    return out;
}

static void check_peek(const double *a, double expected)
{
    double element = 0;
    downloads = waits = 0;
    double *out = sum(a, true);
    CHECK(gsh_coherence_peek(&element, out, sizeof element) && element == expected);
    CHECK(waits == 1 && downloads == 0);
    gsh_arena_free(out);
    out = sum(a, false);
    CHECK(gsh_coherence_peek(&element, out, sizeof element) && element == expected);
    CHECK(waits == 1 && downloads == 1);
    gsh_arena_free(out);
}

/* Read by the way of all arrays, or by the device. */
static void check_other_reads(const double *a, double expected)
{
    double *out = sum(a, true), *next = live_doubles(1, GSH_ARENA_DEVICE);
    CHECK_INT(live_add(out, NULL, 1, next, 1), GSH_REASON_NONE);
    CHECK(*next == expected + 1);
    CHECK(*out == expected);
    gsh_arena_free(out);
    gsh_arena_free(next);
}

/* The rest has memory like any other. */
static void check_many(const double *a, double expected)
{
    double *outs[MANY];
    unsigned with_word = 0;
    for (unsigned i = 0; i < MANY; i++)
        outs[i] = sum(a, true);
    gsh_node_flush(GSH_FLUSH_WAIT);
    for (unsigned i = 0; i < MANY; i++) {
        double element = 0;
        with_word += gsh_arena_find_block(outs[i])->value->word != NULL;
        CHECK(gsh_coherence_peek(&element, outs[i], sizeof element) && element == expected);
        gsh_arena_free(outs[i]);
    }
    CHECK(with_word > 1 && with_word < MANY);
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    double *a = live_doubles(COUNT, GSH_ARENA_HOST), expected = 0;
    for (int64_t i = 0; i < COUNT; i++)
        expected += a[i] = (double)(i % 100);
    real = gsh_backend_get();
    watched = *real;
    watched.download = count_download;
    watched.finish = count_wait;
    gsh_backend_replace(&watched);
    check_words();
    check_peek(a, expected);
    check_other_reads(a, expected);
    for (int round = 0; round < 3; round++) /* words are given back */
        check_many(a, expected);
    return check_result();
}
