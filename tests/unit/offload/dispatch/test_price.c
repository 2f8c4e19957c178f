/* SPDX-License-Identifier: Apache-2.0
 *
 * What blocks of the arena cost a call, and earn by it: bytes that the device is about to overwrite are not moved
 * there, what is only written pays its way like what is read, and parts that move together are one upload. A call gains
 * a second on the device of this file.
 */
#include "price.h"

#include "backend.h"
#include "block.h"
#include "decision_file.h"
#include "launch_work.h"
#include "live.h"

#include <string.h>

#define COUNT ((int64_t)1 << 22)
#define FREE_OF_CHARGE 1e30
#define ROUNDS 40

static struct gsh_rates rates;
static struct gsh_backend backend;

static void replace_backend(void)
{
    backend = *gsh_backend_get();
    backend.calibrates_host = false;
    rates = (struct gsh_rates){.host_call = 1,
                               .host_cached = FREE_OF_CHARGE,
                               .host_memory = FREE_OF_CHARGE,
                               .device_memory = FREE_OF_CHARGE,
                               .device_cores = FREE_OF_CHARGE,
                               .pin = FREE_OF_CHARGE};
    backend.rates = &rates;
    gsh_backend_replace(&backend);
}

/* Of a chunk that moves. */
static void set_seconds(const double *array, double seconds)
{
    size_t bytes = (size_t)1 << gsh_arena_find_block(array)->chunk_shift;
    rates.transfer_pinned = rates.transfer_pageable =
        seconds > 0 ? (double)bytes / seconds : FREE_OF_CHARGE;
}

/* A new array that the host has written. */
static double *new_array(void)
{
    double *array = live_doubles(COUNT, GSH_ARENA_HOST);
    for (int64_t i = 0; i < COUNT; i++)
        array[i] = 1;
    return array;
}

/* A new array that the device has a copy of, for good. */
static double *new_resident(void)
{
    double *array = new_array(), *out = new_array();
    set_seconds(array, 0);
    CHECK_INT(live_add(array, NULL, 1, out, COUNT), GSH_REASON_NONE);
    gsh_arena_free(out);
    return array;
}

/* Of 16 chunks that the host holds the first and the last one are kept in part: they move, and no others. */
static void test_mapping_budget(const double *x)
{
    double *out = new_array();
    CHECK_INT(gsh_arena_find_block(out)->chunks, 16);
    set_seconds(out, 0.3);
    CHECK_INT(live_add(x, NULL, 1, out + 1, COUNT - 2), GSH_REASON_NONE);
    CHECK_INT((long)out[0], 1);
    CHECK_INT((long)out[1], 2);
    CHECK_INT((long)out[COUNT - 1], 1);
    gsh_arena_free(out);
}

/* Views of one array are uploaded once: the input and output of x += 1, and x[:-1] + x[1:]. The call gains a second, and all
 * chunks take 0.8. */
static void test_views_of_one_array(void)
{
    double *x = new_array(), *y = new_array(), *out = new_array();
    set_seconds(x, 0.05);
    CHECK_INT(live_add(x, NULL, 1, x, COUNT), GSH_REASON_NONE);
    struct gsh_call call = live_call(GSH_OP_ADD, y, y + 1, 0, out, COUNT - 1);
    CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_NONE);
    struct gsh_call two = live_call(GSH_OP_ADD, y, out, 0, new_array(), COUNT);
    CHECK_INT(gsh_dispatch_decide(&two), GSH_REASON_DATA_ON_HOST);
    gsh_arena_free((void *)(uintptr_t)two.launch.operands[2].address);
    gsh_arena_free(x);
    gsh_arena_free(y);
    gsh_arena_free(out);
}

/* Elements between those that are written are kept: all moves, once that much has been lost by leaving it. */
static void test_debt(const double *x)
{
    double *out = new_array();
    struct gsh_call call = live_call(GSH_OP_ADD, x, NULL, 1, out, COUNT / 2);
    call.launch.strides[call.launch.nin][0] = 2 * (int64_t)sizeof(double);
    set_seconds(out, 0.4);
    int left = 0;
    while (gsh_dispatch_decide(&call) == GSH_REASON_DATA_ON_HOST && left < ROUNDS)
        left++;
    CHECK(left >= 5 && left <= 7); /* 6.4 s, a second each time */
    gsh_arena_free(out);
}

/* Calls that the CPU would do a tenth of a second sooner stay with their data, which only the device has, until they have lost
 * what fetching it takes. */
static void test_rent(const double *x)
{
    double *away = live_doubles(COUNT, GSH_ARENA_HOST), *out = new_array();
    CHECK_INT(live_add(x, NULL, 1, away, COUNT), GSH_REASON_NONE);
    struct gsh_call call = live_call(GSH_OP_ADD, away, NULL, 1, out, COUNT);
    set_seconds(away, 0.05); /* 0.8 in all */
    rates.device_call = rates.host_call + 0.1;
    int accepted = 0;
    while (gsh_dispatch_decide(&call) == GSH_REASON_NONE && accepted < ROUNDS)
        accepted++;
    CHECK(accepted >= 7 && accepted <= 9);
    rates.device_call = 0;
    gsh_arena_free(away);
    gsh_arena_free(out);
}

/* How often the sum of both stays on the device, of ROUNDS. `is_new`: one of them is made there anew each time. */
static int count_sums(const double *x, bool is_new)
{
    double *kept = live_doubles(COUNT, GSH_ARENA_HOST);
    double *other = live_doubles(COUNT, GSH_ARENA_HOST);
    rates.device_call = 0;
    CHECK_INT(live_add(x, NULL, 1, kept, COUNT), GSH_REASON_NONE);
    CHECK_INT(live_add(x, NULL, 1, other, COUNT), GSH_REASON_NONE);
    int accepted = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (is_new) {
            gsh_arena_free(other);
            other = live_doubles(COUNT, GSH_ARENA_HOST);
            rates.device_call = 0;
            CHECK_INT(live_add(x, NULL, 1, other, COUNT), GSH_REASON_NONE);
        }
        struct gsh_call call = live_call(GSH_OP_ADD, kept, other, 0, kept, COUNT);
        rates.device_call = rates.host_call + 0.1;
        accepted += gsh_dispatch_decide(&call) == GSH_REASON_NONE;
    }
    rates.device_call = 0;
    gsh_arena_free(kept);
    gsh_arena_free(other);
    return accepted;
}

/* What is made on the device anew for each call had to be fetched each time, were the other operand at home. */
static void test_rent_beside_new(const double *x)
{
    set_seconds(x, 0.05); /* 0.8 in all */
    CHECK_INT(count_sums(x, true), ROUNDS);
    int accepted = count_sums(x, false);
    CHECK(accepted >= 12 && accepted <= 30);
}

/* The host writes a number of an output, again and again. */
static void test_earning(const double *x)
{
    double *out = new_array();
    set_seconds(out, 0.01);
    int accepted = 0;
    for (int round = 0; round < ROUNDS; round++) {
        ((volatile double *)out)[0] = round;
        accepted += live_add(x, NULL, 1, out + 1, COUNT - 1) == GSH_REASON_NONE;
    }
    CHECK_INT(accepted, ROUNDS);
    gsh_arena_free(out);
}

/* The host writes into eight chunks, which move together. */
static void test_parts(void)
{
    double *a = new_resident();
    set_seconds(a, 0.01);
    int accepted = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int64_t part = 0; part < 8; part++)
            ((volatile double *)a)[part * (COUNT / 8)] = 0;
        accepted += live_add(a, NULL, 1, a, COUNT) == GSH_REASON_NONE;
    }
    CHECK_INT(accepted, ROUNDS);
    gsh_arena_free(a);
}

/* A view whose elements lie apart, one that is broadcast along the rows, and a dense output; then one column, whose output is written apart. */
static void test_steps(const double *x)
{
    double *out = new_array();
    struct gsh_call call = live_call(GSH_OP_ADD, x, x, 0, out, 0);
    struct gsh_launch *launch = &call.launch;
    const int64_t strides[3][2] = {{8000, 800}, {0, 800}, {80, 8}};
    launch->ndim = 2;
    launch->shape[0] = 100;
    launch->shape[1] = 10;
    memcpy(launch->strides[0], strides[0], sizeof strides[0]);
    memcpy(launch->strides[1], strides[1], sizeof strides[1]);
    memcpy(launch->strides[2], strides[2], sizeof strides[2]);
    struct gsh_work work = gsh_launch_work(launch);
    CHECK(work.far == 64000 && work.near == 16000 && work.bytes == 48000 && work.rows == 99);
    launch->shape[1] = 1;
    launch->strides[0][0] = -8;
    work = gsh_launch_work(launch);
    CHECK(work.far == 12800 && work.near == 1600 && work.bytes == 4800 && work.rows == 0);
    call = live_call(GSH_OP_ADD, x, x, 0, out, 1000);
    CHECK(gsh_launch_work(launch).rows == 0);
    call = live_sum(x, 3, 1000, out); /* in three rows, whatever is reduced */
    CHECK(gsh_launch_work(launch).rows == 2);
    call = live_sum(x, 1000, 3, out);
    CHECK(gsh_launch_work(launch).rows == 2);
    gsh_arena_free(out);
}

/* A decision that is written to the file is made of what was gathered, whatever another thread does to the blocks meanwhile. */
static void test_gathered(void)
{
    double *away = new_array(), *out = new_array();
    struct gsh_call call = live_call(GSH_OP_ADD, away, NULL, 1, out, COUNT);
    struct gsh_decision_inputs inputs;
    set_seconds(away, 0.3);
    gsh_decision_file_gather(&call, &inputs);
    struct gsh_facts facts = gsh_price_call(&call, NULL).facts;
    gsh_price_note_declined(&call, 0.5);
    CHECK(gsh_price_call(&call, &inputs.price).facts.debt == facts.debt);
    CHECK(gsh_price_call(&call, NULL).facts.debt > facts.debt);
    gsh_arena_free(away);
    gsh_arena_free(out);
}

int main(void)
{
    setenv("GPUSHIM_DEVICE", "host", 1);
    setenv("GPUSHIM_MODE", "auto", 1);
    if (!live_start())
        return CHECK_SKIP;
    gsh_device_start(true);
    replace_backend();
    double *x = new_resident();
    test_rent_beside_new(x);
    test_rent(x); /* these before results are fetched, which is priced as well */
    test_debt(x);
    test_mapping_budget(x);
    test_views_of_one_array();
    test_earning(x);
    test_parts();
    test_steps(x);
    test_gathered();
    gsh_arena_free(x);
    return live_end();
}
