/* SPDX-License-Identifier: Apache-2.0
 *
 * A small input outside the arena is uploaded twice, then used as it is until its bytes change. Results are always those of the
 * present bytes.
 */
#include "recent_uploads.h"

#include "dispatch_lock.h"
#include "live.h"

enum { COUNT = 1000 };

static double *whole, *out;

/* out = whole + input on the device; returns how many uploads that took. */
static uint64_t uploads_of(const double *input)
{
    uint64_t before = gsh_stats_get(GSH_COUNTER_UPLOADS);
    CHECK_INT(live_add(whole, input, 0, out, COUNT), GSH_REASON_NONE);
    uint64_t uploads = gsh_stats_get(GSH_COUNTER_UPLOADS) - before;
    bool is_right = true;
    for (unsigned k = 0; k < COUNT; k++)
        is_right &= out[k] == whole[k] + input[k];
    CHECK(is_right);
    (void)gsh_coherence_fetch(out, COUNT * sizeof *out,
                              true); /* the next call overwrites it on the host's side */
    return uploads;
}

/* A new array: it is kept from its second upload on. */
static void check_kept(const double *input)
{
    CHECK_INT(uploads_of(input), 1);
    CHECK_INT(uploads_of(input), 1);
    CHECK_INT(uploads_of(input), 0);
}

static void check_unchanged(void)
{
    static double input[COUNT] = {1, 2, 3};
    (void)uploads_of(input); /* `whole` too */
    CHECK_INT(uploads_of(input), 1);
    for (unsigned k = 0; k < 5; k++)
        CHECK_INT(uploads_of(input), 0);
}

static void check_changed(void)
{
    static double input[COUNT] = {4};
    check_kept(input);
    input[COUNT - 1] = 5;
    CHECK_INT(uploads_of(input), 1);
    CHECK_INT(uploads_of(input), 0);
    for (unsigned k = 0; k < 5; k++) { /* once more, and it is no longer kept */
        input[k] = 6;
        CHECK_INT(uploads_of(input), 1);
    }
    CHECK_INT(uploads_of(input), 1);
}

static void check_drop(void)
{
    static double input[COUNT] = {7};
    check_kept(input);
    gsh_dispatch_lock_acquire();
    gsh_recent_uploads_drop_locked();
    gsh_dispatch_lock_release();
    CHECK_INT(uploads_of(input), 1);
}

static void check_expectation(void)
{
    static double input[COUNT] = {8};
    CHECK(!gsh_recent_uploads_expects((uint64_t)input, sizeof input));
    CHECK(gsh_recent_uploads_expects((uint64_t)input, sizeof input));
    input[0] = 9;
    CHECK(!gsh_recent_uploads_expects((uint64_t)input, sizeof input));
    CHECK(gsh_recent_uploads_expects((uint64_t)input, sizeof input));
    CHECK(!gsh_recent_uploads_expects((uint64_t)input, sizeof input - 8));
    CHECK(!gsh_recent_uploads_expects((uint64_t)input, 0));
    CHECK(!gsh_recent_uploads_expects((uint64_t)input, GSH_RECENT_UPLOADS_BYTES + 1));
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    whole = gsh_arena_allocate(COUNT * sizeof *whole, GSH_ARENA_HOST);
    out = gsh_arena_allocate(COUNT * sizeof *out, GSH_ARENA_HOST);
    for (unsigned k = 0; k < COUNT; k++)
        whole[k] = out[k] = k;
    check_unchanged();
    check_changed();
    check_drop();
    check_expectation();
    return live_end();
}
