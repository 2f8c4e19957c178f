/* SPDX-License-Identifier: Apache-2.0
 *
 * After each refusal in a row twice as many calls are left to the CPU; and which share of results is fetched.
 */
#include "back_off.h"

#include "check.h"
#include "fetch_share.h"

/* Calls until the device gets one again. */
static unsigned leave_all(struct gsh_back_off *state)
{
    unsigned count = 0;
    for (; gsh_back_off_is_due(*state) && count < 10000; count++)
        *state = gsh_back_off_after_left(*state);
    return count;
}

static void check_series(void)
{
    struct gsh_back_off state = {0, 0};
    CHECK_INT(leave_all(&state), 0);
    for (unsigned expected = 1; expected <= 1024; expected *= 2) {
        state = gsh_back_off_after_refused(state);
        CHECK_INT(leave_all(&state), expected);
    }
    state = gsh_back_off_after_refused(state);
    CHECK_INT(leave_all(&state), 1024); /* at most */
    state = gsh_back_off_after_refused(gsh_back_off_after_completed(state));
    CHECK_INT(leave_all(&state), 1);
}

/* A call that another thread completes does not end what is due. */
static void check_completed(void)
{
    struct gsh_back_off state = gsh_back_off_after_refused((struct gsh_back_off){3, 0});
    state = gsh_back_off_after_completed(state);
    CHECK_INT(state.refused, 0);
    CHECK_INT(leave_all(&state), 8);
}

static struct gsh_fetch_counts make(struct gsh_fetch_counts counts, unsigned made, bool is_fetched)
{
    for (unsigned k = 0; k < made; k++) {
        counts.made++;
        counts = gsh_fetch_share_after_made(counts);
        counts.fetched += is_fetched;
    }
    return counts;
}

static void check_share(void)
{
    struct gsh_fetch_counts counts = {0};
    CHECK(gsh_fetch_share(counts) == 0);
    counts = make(counts, 10, true);
    CHECK(gsh_fetch_share(counts) == 1);
    counts = make(counts, 10, false);
    CHECK(gsh_fetch_share(counts) == 0.5);
    counts = make(counts, 1000, false);
    CHECK(gsh_fetch_share(counts) < 0.01);
    counts = make(counts, 40, true);
    CHECK(gsh_fetch_share(counts) > 0.5);
    for (uint32_t fetched = 0; fetched < 100; fetched++) { /* more than were made: of some twice */
        double share = gsh_fetch_share((struct gsh_fetch_counts){.made = 30, .fetched = fetched});
        CHECK(share >= 0 && share <= 1);
    }
}

/* Calls that are left to the CPU because of the share, until one is priced without. */
static unsigned leave_until_trial(struct gsh_fetch_counts *counts)
{
    for (unsigned count = 0; count < 10000; count++) {
        bool is_trial = gsh_fetch_share(*counts) == 0;
        *counts = gsh_fetch_share_after_asked(*counts);
        if (is_trial)
            return count;
    }
    return UINT32_MAX;
}

static void check_trials(void)
{
    struct gsh_fetch_counts counts = make((struct gsh_fetch_counts){0}, 50, true);
    for (unsigned expected = 8; expected <= 1024; expected *= 2) {
        CHECK_INT(leave_until_trial(&counts), expected);
        counts = make(counts, 1, true);
        CHECK(gsh_fetch_share(counts) == 1);
    }
    CHECK_INT(leave_until_trial(&counts), 1024); /* at most */
    counts = make(counts, 1, false);
    CHECK(gsh_fetch_share(counts) == 0.5);
    counts = make(counts, 1, false);
    CHECK(gsh_fetch_share(counts) < 0.5);
    counts = make(counts, 10, true);
    CHECK_INT(leave_until_trial(&counts), 8);
}

/* The share of calls that the device gets: asking alone changes nothing. */
static void check_asked(void)
{
    struct gsh_fetch_counts counts = make((struct gsh_fetch_counts){0}, 50, true);
    for (unsigned k = 0; k < 100; k++) {
        counts = gsh_fetch_share_after_asked(counts);
        CHECK(gsh_fetch_share(counts) == 1);
        counts = make(counts, 1, true);
    }
}

int main(void)
{
    check_series();
    check_completed();
    check_share();
    check_trials();
    check_asked();
    return check_result();
}
