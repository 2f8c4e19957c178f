/* SPDX-License-Identifier: Apache-2.0
 *
 * policy/sharing_phases on loops whose times are given.
 */
#include "check.h"
#include "sharing_phases.h"

#define MODELLED 40e-6

struct program {
    struct gsh_ab_trial state;
    double now;
};

/* Runs loops that take so many seconds, and a `pause` between them. The share of those that were left to one core. */
static double run(struct program *program, int loops, double shared, double alone, double pause)
{
    int left = 0;
    for (int k = 0; k < loops; k++) {
        program->state =
            gsh_ab_trial_after(program->state, &gsh_sharing_phases, MODELLED, program->now);
        left += program->state.is_b;
        program->now += pause + (program->state.is_b ? alone : shared);
    }
    return (double)left / loops;
}

static void check_quicker_way(void)
{
    struct program program = {.now = 1};
    CHECK(run(&program, 300, 20e-6, 40e-6, 5e-6) == 0); /* nothing is tried in a short program */
    double share = run(&program, 100000, 20e-6, 40e-6, 5e-6);
    CHECK(share > 0 && share < 0.02);
    share = run(&program, 100000, 20e-6, 40e-6, 5e-6);
    CHECK(share > 0 && share < 0.006);                    /* tried less and less often */
    CHECK(run(&program, 5000, 50e-6, 40e-6, 5e-6) > 0.4); /* another process has taken the core */
    share = run(&program, 100000, 50e-6, 40e-6, 5e-6);
    CHECK(share > 0.95 && share < 1);
    CHECK(run(&program, 20000, 20e-6, 40e-6, 5e-6) < 0.9); /* and has given it back */
    CHECK(run(&program, 100000, 20e-6, 40e-6, 5e-6) < 0.05);
}

/* Little gain is none: the other core may have better to do. */
static void check_little_gain(void)
{
    struct program program = {.now = 1};
    run(&program, 5000, 39e-6, 40e-6, 0);
    CHECK(run(&program, 100000, 39e-6, 40e-6, 0) > 0.95);
}

/* Loops far apart form no series, and are shared. */
static void check_loops_apart(void)
{
    struct program program = {.now = 1};
    CHECK(run(&program, 100000, 50e-6, 40e-6, 1e-3) == 0);
}

int main(void)
{
    check_quicker_way();
    check_little_gain();
    check_loops_apart();
    return check_result();
}
