/* SPDX-License-Identifier: Apache-2.0
 *
 * What NumPy alone takes: near the times of single calls that were measured beside the H200 (docs/results/archive.md, "Single
 * operations", NumPy's column), and what each of the call's properties adds.
 */
#include "plain_time.h"

#include "check.h"
#include "cuda_rates.h"

#include <math.h>

enum { CORES = 16 };

static const struct gsh_rates *const rates = &gsh_cuda_rates;

/* A loop that moves so many bytes for each element, and computes for host_ns; it makes a new array of 8 bytes each. */
static double loop(double elements, double bytes, double host_ns, double result)
{
    double made = elements * result;
    const struct gsh_plain_call call = {.work = {.kind = GSH_WORK_LOOP,
                                                 .near = elements * bytes,
                                                 .elements = elements,
                                                 .host_ns = host_ns},
                                        .mapped = made >= GSH_PLAIN_TIME_MAPPED ? made : 0,
                                        .cores = CORES};
    return gsh_plain_time(rates, &call);
}

static struct gsh_plain_call product(double n)
{
    return (struct gsh_plain_call){.work = {.kind = GSH_WORK_PRODUCT,
                                            .bytes = 3 * n * n * 8,
                                            .flops = 2 * n * n * n,
                                            .is_double = true,
                                            .host_share = 1,
                                            .device_share = 1},
                                   .mapped = n * n * 8,
                                   .cores = CORES};
}

static void check_near(const char *name, double seconds, double measured)
{
    if (!CHECK(fabs(seconds / measured - 1) < 0.3))
        printf("%s: %g s, measured %g s\n", name, seconds, measured);
}

static void test_measured_calls(void)
{
    const struct gsh_plain_call matmul = product(8192);
    check_near("add 1e8", loop(1e8, 24, 0.1, 8), 0.341);
    check_near("add 1e7", loop(1e7, 24, 0.1, 8), 0.032);
    check_near("add 1e6", loop(1e6, 24, 0.1, 8), 0.00134);
    check_near("copy 1e8", loop(1e8, 16, 0.1, 8), 0.292);
    check_near("exp 1e8", loop(1e8, 16, 1.5, 8), 0.318);
    check_near("astype float32 1e8", loop(1e8, 12, 0.1, 4), 0.19);
    check_near("sum 1e8", loop(1e8, 8, GSH_COST_REDUCE_NS, 0), 0.097);
    check_near("matmul 8192", gsh_plain_time(rates, &matmul), 1.75);
}

static void test_mask(void)
{
    struct gsh_plain_call call = {
        .work = {.kind = GSH_WORK_LOOP, .near = 25e6, .elements = 1e6, .host_ns = 0.3}};
    double without = gsh_plain_time(rates, &call);
    CHECK(without == gsh_cost_model_host_work(rates, &call.work));
    call.is_masked = true;
    CHECK(gsh_plain_time(rates, &call) > without + 1e-3);
}

/* On fewer cores a product takes longer, on more ones it does not take less; a routine takes longer than its share says. */
static void test_products(void)
{
    struct gsh_plain_call call = product(1000);
    double many = gsh_plain_time(rates, &call);
    call.cores = 2;
    double few = gsh_plain_time(rates, &call);
    CHECK(few > 4 * many);
    call.cores = 1000;
    CHECK(gsh_plain_time(rates, &call) == many);
    call.work.host_share = 0.5;
    CHECK(gsh_plain_time(rates, &call) > 2.5 * many);
}

/* What was measured on this machine stands above the rates, but for the pages of results. */
static void test_measured_machine(void)
{
    struct gsh_plain_call call = product(1000);
    call.measured = 7;
    call.mapped = 0;
    call.cores = 1;
    double expected = 7 * gsh_cost_model_host_work(rates, &call.work);
    CHECK(fabs(gsh_plain_time(rates, &call) - expected) < 1e-12);
    call.mapped = 1e9;
    CHECK(gsh_plain_time(rates, &call) > expected + 0.1);
}

int main(void)
{
    test_measured_calls();
    test_mask();
    test_products();
    test_measured_machine();
    return check_result();
}
