/* SPDX-License-Identifier: Apache-2.0
 *
 * What is begun and who waits for it, over grids of gains and costs: more gain never undoes a start or a wait, a call waits only
 * for what it outweighs, and nothing is begun before its price has been foregone.
 */
#include "one_time_cost.h"

#include "check.h"

static const double seconds[] = {0, 1e-6, 1e-4, 3e-3, 0.02, 0.1, 0.4, 0.6, 2, 5, 50};
enum { STEPS = GSH_COUNT(seconds) };

static struct gsh_verdict gaining(double gain)
{
    return (struct gsh_verdict){.gain = gain};
}

/* A quarter of what was saved pays up to three quarters. */
static void check_saved(double foregone, double saved, double price)
{
    const struct gsh_verdict call = gaining(0);
    const struct gsh_start_facts facts = {.foregone = foregone, .saved = saved, .price = price},
                                 more = {foregone, 2 * saved, price, 0};
    const struct gsh_start_verdict verdict = gsh_one_time_cost_start(&call, &facts);
    CHECK(verdict.begins || foregone + saved / 4 < price || foregone < price / 4);
    CHECK(!verdict.begins || (foregone + saved / 4 >= price && foregone >= price / 4));
    CHECK(verdict.opens || (foregone + saved / 4 < 0.7 * price || foregone < 0.7 * price / 4));
    CHECK(gsh_one_time_cost_start(&call, &more).begins || !verdict.begins);
}

static void check_start(double gain, double foregone, double price, double wait)
{
    const struct gsh_verdict call = gaining(gain), longer = gaining(2 * gain + 1e-3),
                             forced = {.is_forced = true};
    const struct gsh_start_facts facts = {foregone, 0, price, wait};
    const struct gsh_start_verdict verdict = gsh_one_time_cost_start(&call, &facts),
                                   next = gsh_one_time_cost_start(&longer, &facts),
                                   asked = gsh_one_time_cost_start(&forced, &facts);
    CHECK(verdict.begins || !verdict.waits);
    CHECK(verdict.opens == (verdict.begins || foregone >= 0.7 * price));
    CHECK(!verdict.waits || (gain >= 5 * wait && foregone + gain >= price));
    CHECK(!verdict.begins || foregone + gain >= price);
    CHECK(verdict.begins || foregone < price);
    CHECK(next.begins || !verdict.begins);
    CHECK(next.waits || !verdict.waits);
    CHECK(asked.begins && asked.waits);
}

static struct gsh_library_verdict ask(const struct gsh_verdict *call, double foregone, double price,
                                      double left)
{
    const struct gsh_library_facts facts = {foregone, price, left};
    return gsh_one_time_cost_library(call, &facts);
}

static void check_library(double gain, double foregone, double load_seconds)
{
    const struct gsh_verdict call = gaining(gain), forced = {.is_forced = true};
    double price = gsh_one_time_cost_load_price(load_seconds, true);
    const struct gsh_library_verdict verdict = ask(&call, foregone, price, load_seconds);
    CHECK(price == 0.4 * load_seconds);
    CHECK(verdict.is_ready == (load_seconds == 0 || gain >= 5 * load_seconds));
    CHECK(verdict.opens == (!verdict.is_ready && foregone + gain >= price));
    CHECK(ask(&forced, foregone, price, load_seconds).is_ready);
}

/* A program of equal calls: the library opens after two fifths of its time have been foregone, a quarter beside loops. */
static void check_program(bool is_blas, unsigned expected)
{
    const struct gsh_verdict call = gaining(4e-3);
    double price = gsh_one_time_cost_load_price(1, is_blas);
    unsigned calls = 1;
    while (!ask(&call, calls * call.gain - call.gain, price, 1).opens && calls < 1000)
        calls++;
    CHECK(calls >= expected && calls <= expected + 1);
}

/* An upload is paid by the call that causes it, and does not make its gain a loss. */
static void check_net_gain(void)
{
    struct gsh_verdict call = gaining(4e-3);
    CHECK(gsh_one_time_cost_net_gain(&call) == 4e-3);
    call.facts.upload = 1e-3;
    CHECK(gsh_one_time_cost_net_gain(&call) == 3e-3);
    call.facts.upload = 5e-3;
    CHECK(gsh_one_time_cost_net_gain(&call) == 0);
}

static void check_expectation(void)
{
    for (int reason = 0; reason < GSH_REASON_COUNT; reason++) {
        CHECK(gsh_one_time_cost_expects_residency((enum gsh_reason)reason, false) ==
              (reason == GSH_REASON_NOT_STARTED));
        CHECK(!gsh_one_time_cost_expects_residency((enum gsh_reason)reason, true));
    }
}

static void check_blas_threads(void)
{
    for (int count = 1; count <= 64; count++) {
        CHECK_INT(gsh_one_time_cost_blas_threads(count, (unsigned)count),
                  count < 4 ? count : count - 1);
        CHECK_INT(gsh_one_time_cost_blas_threads(count, (unsigned)count + 1), count);
        CHECK_INT(gsh_one_time_cost_blas_threads(count, (unsigned)count - 1), count);
    }
}

/* A quarter of the time for loops, two fifths of it for products, and between them in proportion. */
static void check_start_price(void)
{
    CHECK(gsh_one_time_cost_start_price(0.4, 0, 0) == 0.1);
    CHECK(gsh_one_time_cost_start_price(0.4, 2, 0) == 0.1);
    double products = gsh_one_time_cost_start_price(0.4, 2, 2);
    double both = gsh_one_time_cost_start_price(0.4, 2, 1);
    CHECK(products > 0.159 && products < 0.161);
    CHECK(both > 0.129 && both < 0.131);
}

static void check_measured(void)
{
    CHECK(gsh_one_time_cost_measured(3, 4, 4) == 3);
    CHECK(gsh_one_time_cost_measured(3, 4, 10) == 9);
    CHECK(gsh_one_time_cost_measured(3, 4, 2) == 1 && gsh_one_time_cost_measured(3, 4, 0) == 0);
    CHECK(gsh_one_time_cost_measured(3, 4, 1e6) == 3 + 7 * 4);
}

int main(void)
{
    check_measured();
    for (unsigned point = 0; point < STEPS * STEPS * STEPS * STEPS; point++) {
        const double at[4] = {seconds[point % STEPS], seconds[point / STEPS % STEPS],
                              seconds[point / STEPS / STEPS % STEPS],
                              seconds[point / STEPS / STEPS / STEPS]};
        check_start(at[0], at[1], at[2], at[3]);
        check_library(at[0], at[1], at[2]);
        check_saved(at[0], at[1], at[2]);
    }
    check_program(true, 100);
    check_program(false, 63);
    check_net_gain();
    check_expectation();
    check_blas_threads();
    check_start_price();
    CHECK(!gsh_one_time_cost_pays_loading(100, 0));
    return check_result();
}
