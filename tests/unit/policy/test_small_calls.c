/* SPDX-License-Identifier: Apache-2.0
 *
 * policy/small_calls on series of calls whose times are given.
 */
#include "check.h"
#include "small_calls.h"

#define HOST 10e-6
#define DEVICE 6e-6

struct program {
    struct gsh_small_calls state;
    double now;
    double rests_until;
    int unseen;    /* calls that were not looked at */
    bool is_there; /* the data is on the device */
};

static struct gsh_verdict verdict_of(bool is_there)
{
    return (struct gsh_verdict){.reason = is_there ? GSH_REASON_NONE : GSH_REASON_DATA_ON_HOST,
                                .gain = HOST - DEVICE,
                                .facts = {.host = HOST, .device = DEVICE}};
}

/* Makes calls that take so many seconds on the device and on the CPU. The share of those that the CPU did. */
static double run(struct program *program, int calls, double device, double host)
{
    int left = 0;
    for (int k = 0; k < calls; k++) {
        struct gsh_verdict verdict = verdict_of(program->is_there);
        if (program->now < program->rests_until) {
            CHECK(!program->is_there);
            program->now += host;
            program->unseen++;
            left++;
            continue;
        }
        program->state = gsh_small_calls_after(program->state, &verdict, 20000, program->now);
        program->is_there = gsh_small_calls_reason(&program->state, &verdict) == GSH_REASON_NONE;
        program->rests_until = program->now + program->state.rest;
        left += !program->is_there;
        program->now += program->is_there ? device : host;
    }
    return (double)left / calls;
}

static void check_slower_device(void)
{
    struct program program = {.now = 1, .is_there = true};
    run(&program, 2000, 20e-6, 10e-6);
    CHECK(run(&program, 100000, 20e-6, 10e-6) > 0.98);
}

static void check_faster_device(void)
{
    struct program program = {.now = 1, .is_there = true};
    CHECK(run(&program, 500, 4e-6, 10e-6) == 0); /* nothing is tried in a short program */
    run(&program, 5000, 4e-6, 10e-6);
    CHECK(program.is_there); /* the data has gone back */
    double share = run(&program, 200000, 4e-6, 10e-6);
    CHECK(share > 0 && share < 0.02);
}

/* A program whose facts leave all to the CPU is left alone. */
static void check_host_only(void)
{
    struct program program = {.now = 1};
    CHECK(run(&program, 100000, 1e-6, 10e-6) == 1);
}

/* Small calls between large ones are none of a series. */
static void check_others(void)
{
    struct program program = {.now = 1, .is_there = true};
    double left = 0;
    for (int k = 0; k < 10000; k++) {
        left += run(&program, 1, 20e-6, 10e-6);
        program.state = gsh_small_calls_after_other(program.state, 1e-3);
        program.now += 1e-4;
    }
    CHECK(left == 0);
}

static void check_which(void)
{
    struct gsh_verdict verdict = verdict_of(true);
    CHECK(gsh_small_calls_has(&verdict, 1e5));
    CHECK(!gsh_small_calls_has(&verdict, 1e7));
    verdict.facts.host = 9e-5;
    CHECK(!gsh_small_calls_has(&verdict, 1e5));
    verdict.facts.fetch = 1e-4;
    CHECK(gsh_small_calls_has(&verdict, 1e5));
    verdict.facts.host = 1e-3; /* the model can tell, whatever else there is */
    verdict.facts.fetch = 1e-3;
    CHECK(!gsh_small_calls_has(&verdict, 1e5));
    verdict.facts.host = 9e-5;
    verdict.is_forced = true;
    CHECK(!gsh_small_calls_has(&verdict, 1e5));
}

static void check_rests(void)
{
    struct program program = {.now = 1, .is_there = true};
    run(&program, 200000, 4e-6, 10e-6);
    CHECK(program.unseen < 2000); /* the device is quicker */
    program = (struct program){.now = 1, .is_there = true};
    run(&program, 200000, 20e-6, 10e-6);
    CHECK(program.unseen > 160000);
    run(&program, 600000, 4e-6, 10e-6); /* then the device is quicker after all */
    CHECK(program.is_there);
}

/* Calls that gain nothing rest, however long the program pauses between them; one that would gain if its data were there ends that. */
static void check_rests_of_host(void)
{
    struct gsh_small_calls state = {.others = 0};
    struct gsh_verdict verdict = verdict_of(false);
    double gain = verdict.gain;
    int rests = 0;
    for (int k = 0; k < 4000; k++) {
        verdict.gain = k % 100 == 0 ? gain : -gain;
        state = gsh_small_calls_after(state, &verdict, k % 100 == 0 ? 50000 : 20000, k * 1e-2);
        rests += state.rest > 0;
    }
    CHECK_INT(rests, 0);
    for (int k = 0; k < 4000; k++) {
        verdict.gain = -gain;
        state = gsh_small_calls_after(state, &verdict, 20000, 40 + k * 1e-2);
        rests += state.rest > 0;
        CHECK(state.rest == 0 || state.rest_elements == 20000);
    }
    CHECK(rests > 5 && rests < 20); /* 4 ms of calls of 10 us */
}

int main(void)
{
    check_slower_device();
    check_faster_device();
    check_host_only();
    check_others();
    check_which();
    check_rests();
    check_rests_of_host();
    return check_result();
}
