/* SPDX-License-Identifier: Apache-2.0
 *
 * Mapped scalars: results of one element that the host reads next are in host memory, so that reading one takes no
 * transfer. On the emulated device, transfers to registered pages ignore their protection, as a GPU's do.
 */
#include "arena_internal.h"
#include "backend.h"
#include "block.h"
#include "check.h"
#include "dispatch_lock.h"
#include "live.h"
#include "mapped_scalar.h"
#include "node.h"
#include "value.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define COUNT ((int64_t)5000)
#define MANY 100 /* more than there are words */

static const struct gsh_backend *real;
static struct gsh_backend counting;
static _Atomic unsigned downloads, waits; /* the thread that serves faults counts too */

static enum gsh_status accept_pages(void *base, size_t size)
{
    (void)base;
    (void)size;
    return GSH_OK;
}

static void forget_pages(void *base, size_t size)
{
    (void)base;
    (void)size;
}

/* Whatever the protection of the pages is. */
static enum gsh_status download_through(void *dst, uint64_t src, size_t size)
{
    char bytes[4096];
    int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    bool done = size <= sizeof bytes && real->download(bytes, src, size, false) == GSH_OK &&
                pwrite(memory, bytes, size, (off_t)(uintptr_t)dst) == (ssize_t)size;
    close(memory);
    return done ? GSH_OK : GSH_FAILED;
}

static enum gsh_status count_download(void *dst, uint64_t src, size_t size, bool registered)
{
    downloads++;
    return registered && !real->ignores_protection ? download_through(dst, src, size)
                                                   : real->download(dst, src, size, registered);
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
    while (taken < MANY && gsh_mapped_scalar_take_locked(&addresses[taken], &words[taken]))
        taken++;
    CHECK(taken > 1 && taken < MANY);
    CHECK(words[1] - words[0] == GSH_MAPPED_SCALAR_BYTES);
    CHECK_INT(addresses[1] - addresses[0], GSH_MAPPED_SCALAR_BYTES);
    gsh_mapped_scalar_give_locked(words[5]);
    uint64_t address;
    const char *word;
    CHECK(gsh_mapped_scalar_take_locked(&address, &word) && word == words[5] &&
          address == addresses[5]);
    for (unsigned i = 0; i < taken; i++)
        gsh_mapped_scalar_give_locked(words[i]);
}

/* The sum of a[0 .. COUNT), in fresh memory. */
static double *sum(const double *a, bool is_read_next)
{
    double *out = live_doubles(1, GSH_ARENA_DEVICE);
    struct gsh_call call = live_sum(a, COUNT, 1, out);
    call.is_read_next = is_read_next;
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

/* Read by the way of all arrays, into pages that are closed, or by the device. */
static void check_other_reads(const double *a, double expected)
{
    double *out = sum(a, true), *next = live_doubles(1, GSH_ARENA_DEVICE);
    CHECK_INT(live_add(out, NULL, 1, next, 1), GSH_REASON_NONE);
    CHECK(gsh_arena_is_registered(gsh_arena_find_block(out), 0, sizeof *out));
    CHECK(*next == expected + 1);
    CHECK(*out == expected);
    gsh_arena_free(out);
    double *again = sum(a, false); /* transfers still reach these pages */
    CHECK(again == out);
    downloads = 0;
    CHECK(*again == expected);
    CHECK(downloads == 1);
    gsh_arena_free(again);
    gsh_arena_free(next);
}

/* The rest has memory like any other. */
static void check_many(const double *a, double expected)
{
    double *outs[MANY];
    unsigned with_word = 0;
    for (unsigned i = 0; i < MANY; i++)
        outs[i] = sum(a, true);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    for (unsigned i = 0; i < MANY; i++) {
        double element = 0;
        with_word += gsh_arena_find_block(outs[i])->value->word != NULL;
        CHECK(gsh_coherence_peek(&element, outs[i], sizeof element) && element == expected);
        gsh_arena_free(outs[i]);
    }
    CHECK(with_word > 1 && with_word < MANY);
}

/* Contents that wait on the host for the device's memory are more than a word. */
static void check_spill(void)
{
    struct gsh_value *value;
    char byte = 0;
    gsh_dispatch_lock_acquire();
    if (CHECK_INT(gsh_value_create_locked(sizeof(double), 0, &value), GSH_OK)) {
        value->is_read_next = true;
        value->spill = malloc(value->size);
        memset(value->spill, 7, value->size);
        CHECK(gsh_value_make_resident_locked(value) == GSH_OK && value->word == NULL);
        CHECK(gsh_value_read(value, &byte, value->size - 1, 1, false) == GSH_OK && byte == 7);
        gsh_value_release_sigsafe(value);
    }
    gsh_dispatch_lock_release();
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    double *a = live_doubles(COUNT, GSH_ARENA_HOST), expected = 0;
    for (int64_t i = 0; i < COUNT; i++)
        expected += a[i] = (double)(i % 100);
    real = gsh_backend_get();
    counting = *real;
    counting.download = count_download;
    counting.finish = count_wait;
    if (!real->ignores_protection) {
        counting.ignores_protection = true;
        counting.register_host = accept_pages;
        counting.unregister_host = forget_pages;
    }
    gsh_backend_replace(&counting);
    check_words();
    check_peek(a, expected);
    check_other_reads(a, expected);
    for (int round = 0; round < 3; round++) /* words are given back */
        check_many(a, expected);
    check_spill();
    return check_result();
}
