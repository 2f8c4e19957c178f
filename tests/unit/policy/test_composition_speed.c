/* SPDX-License-Identifier: Apache-2.0
 *
 * A function of which nothing is known takes no time that can be told; else the faster of its last two calls counts, by bytes. The
 * device's time has a part for launches, and one that grows with the CPU's.
 */
#include "composition_speed.h"

#include "check.h"

#include <math.h>

/* The state has float32 numbers. */
static bool is_near(double seconds, double expected)
{
    return fabs(seconds - expected) <= 1e-6 * expected;
}

static void check_host(void)
{
    struct gsh_composition_speed state = {0};
    CHECK(gsh_composition_speed_host(state, 1e6) == 0);
    state = gsh_composition_speed_after(state, 1e6, 0.5);
    CHECK(is_near(gsh_composition_speed_host(state, 1e6), 0.5));
    CHECK(is_near(gsh_composition_speed_host(state, 4e6), 2));
    state = gsh_composition_speed_after(state, 1e6, 0.75); /* slower: the one before counts */
    CHECK(is_near(gsh_composition_speed_host(state, 1e6), 0.5));
    state = gsh_composition_speed_after(state, 2e6, 0.5); /* faster */
    CHECK(is_near(gsh_composition_speed_host(state, 1e6), 0.25));
    state = gsh_composition_speed_after(state, 1e6, 0.75);
    state = gsh_composition_speed_after(state, 1e6, 0.75); /* the faster one is too long ago */
    CHECK(is_near(gsh_composition_speed_host(state, 1e6), 0.75));
}

static void check_device(void)
{
    const struct gsh_rates rates = {.device_call = 1e-5};
    CHECK(gsh_composition_speed_device(&rates, 0) >= 1e-4);
    CHECK(gsh_composition_speed_device(&rates, 1) < 0.1);
    CHECK(gsh_composition_speed_device(&rates, 2) > gsh_composition_speed_device(&rates, 1));
}

int main(void)
{
    check_host();
    check_device();
    return check_result();
}
