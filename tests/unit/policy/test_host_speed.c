/* SPDX-License-Identifier: Apache-2.0
 *
 * The factor on the CPU's seconds: a fast call is believed at once, slow ones after three, by half and not for ever; the state
 * follows from its observations alone.
 */
#include "host_speed.h"

#include "check.h"

static double factor(struct gsh_host_speed state)
{
    return gsh_host_speed_factor(&state, NULL, NULL);
}

static struct gsh_host_speed after(struct gsh_host_speed state, double ratio, unsigned calls)
{
    for (unsigned k = 0; k < calls; k++)
        state = gsh_host_speed_after_call(state, ratio);
    return state;
}

static void check_classes(void)
{
    CHECK_INT(gsh_host_speed_class(0), -1);
    CHECK_INT(gsh_host_speed_class(9.9e-5), -1);
    CHECK_INT(gsh_host_speed_class(1e-4), 0);
    CHECK_INT(gsh_host_speed_class(1e9), GSH_HOST_SPEED_CLASSES - 1);
    int last = 0;
    for (double seconds = 1e-4; seconds < 1e4; seconds *= 1.1) {
        int class = gsh_host_speed_class(seconds);
        CHECK(class == last || class == last + 1);
        last = class;
        double four_times = gsh_host_speed_class(4.0001 * seconds);
        CHECK(four_times == GSH_MIN(class + 1, GSH_HOST_SPEED_CLASSES - 1));
    }
}

static void check_factors(void)
{
    const struct gsh_host_speed none = {.next = 0};
    CHECK(factor(none) == 1);
    for (double ratio = 0.125; ratio <= 8; ratio *= 2)
        for (unsigned calls = 1; calls <= 5; calls++) {
            double expected = ratio <= 1 ? ratio : ratio > 2 && calls >= 3 ? ratio / 2 : 1;
            CHECK(factor(after(none, ratio, calls)) == expected);
        }
    /* one fast call among the last three counts, the fourth last does not */
    struct gsh_host_speed mixed = after(after(none, 0.5, 1), 8, 2);
    CHECK(factor(mixed) == 0.5);
    CHECK(factor(after(mixed, 8, 1)) == 4);
}

/* Neighbours speak only where nothing is known, and only of a faster CPU. */
static void check_neighbours(void)
{
    const struct gsh_host_speed none = {.next = 0};
    const struct gsh_host_speed fast = after(none, 0.25, 1), faster = after(none, 0.125, 1);
    const struct gsh_host_speed slow = after(none, 8, 3), usual = after(none, 1, 1);
    CHECK(gsh_host_speed_factor(&none, &fast, NULL) == 0.25);
    CHECK(gsh_host_speed_factor(&none, NULL, &fast) == 0.25);
    CHECK(gsh_host_speed_factor(&none, &fast, &faster) == 0.125);
    CHECK(gsh_host_speed_factor(&none, &slow, &slow) == 1);
    CHECK(gsh_host_speed_factor(&usual, &fast, &faster) == 1);
}

/* Prices that are raised until a call runs on the CPU again. */
static unsigned count_raised(struct gsh_host_speed *state)
{
    unsigned count = 0;
    for (; factor(*state) > 1 && count < 10000; count++)
        *state = gsh_host_speed_after_raise(*state);
    return count;
}

static void check_raises(void)
{
    struct gsh_host_speed state = after((struct gsh_host_speed){.next = 0}, 10, 3);
    for (unsigned expected = 8; expected <= 256; expected *= 2) {
        CHECK_INT(count_raised(&state), expected);
        state = after(state, 10, 1);
    }
    CHECK_INT(count_raised(&state), 256); /* at most */
    state = after(state, 10, 1);
    state = after(after(state, 1, 1), 10, 3);
    CHECK_INT(count_raised(&state), 8);
}

int main(void)
{
    check_classes();
    check_factors();
    check_neighbours();
    check_raises();
    return check_result();
}
