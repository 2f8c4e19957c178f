/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates of GPUs that differ from the one they were measured on, and who gets to see them.
 */
#include "backend.h"
#include "check.h"
#include "cuda_rates.h"

#include <math.h>
#include <string.h>

static struct gsh_rates adapted(struct gsh_cuda_context gpu)
{
    struct gsh_rates rates = gsh_cuda_rates;
    gsh_cuda_rates_adapt(&gpu, &rates);
    return rates;
}

static bool is_near(double x, double y)
{
    return fabs(x - y) < 0.01 * y;
}

static void test_same_or_better(void)
{
    static const struct gsh_cuda_context gpus[] = {
        {.arch = 90,
         .multiprocessors = 132,
         .clock = 1980000,
         .memory_clock = 3201000,
         .memory_bus = 6016}, /* an H200 as its driver tells of it */
        {.arch = 100,
         .multiprocessors = 148,
         .clock = 1965000,
         .memory_clock = 3996000,
         .memory_bus = 8192},
        {.arch = 90}, /* whose driver tells nothing */
        {.arch = 90, .multiprocessors = 132, .memory_clock = 3201000}, /* or part of it */
    };
    for (size_t i = 0; i < GSH_COUNT(gpus); i++) {
        struct gsh_rates rates = adapted(gpus[i]);
        CHECK(memcmp(&rates, &gsh_cuda_rates, sizeof rates) == 0);
    }
}

/* GeForce RTX 4090: 1.3 Tflop/s of float64, 1 TB/s. */
static void test_graphics(void)
{
    struct gsh_rates rates = adapted((struct gsh_cuda_context){.arch = 89,
                                                               .multiprocessors = 128,
                                                               .clock = 2520000,
                                                               .memory_clock = 10501000,
                                                               .memory_bus = 384});
    CHECK(is_near(rates.device_flops[1], gsh_cuda_rates.device_flops[1] * 0.03857));
    CHECK(rates.device_flops[0] == gsh_cuda_rates.device_flops[0]);
    CHECK(is_near(rates.device_memory, gsh_cuda_rates.device_memory * 0.2094));
    CHECK(rates.transfer_pinned == gsh_cuda_rates.transfer_pinned &&
          rates.device_call == gsh_cuda_rates.device_call);
    CHECK(gsh_cost_model_device_product(&rates, 1e12, 1e9, true) >
          20 * gsh_cost_model_device_product(&gsh_cuda_rates, 1e12, 1e9, true));
}

static void test_unknown(void)
{
    struct gsh_rates rates =
        adapted((struct gsh_cuda_context){.arch = 999, .multiprocessors = 132, .clock = 1980000});
    CHECK(is_near(rates.device_flops[1], gsh_cuda_rates.device_flops[1] / 32));
    CHECK(rates.device_flops[0] == gsh_cuda_rates.device_flops[0]);
}

static void halve(struct gsh_rates *rates)
{
    rates->device_memory /= 2;
}

/* A backend's own rates hold until its device is open. */
static void test_backend(void)
{
    const struct gsh_backend adapting = {.rates = &gsh_cuda_rates, .rate = halve};
    const struct gsh_backend plain = {.rates = &gsh_cuda_rates};
    gsh_backend_replace(&adapting);
    CHECK(gsh_backend_rates() == &gsh_cuda_rates);
    gsh_backend_rate();
    CHECK(gsh_backend_rates()->device_memory == gsh_cuda_rates.device_memory / 2);
    CHECK(gsh_backend_rates()->device_call == gsh_cuda_rates.device_call);
    gsh_backend_replace(&plain);
    gsh_backend_rate();
    CHECK(gsh_backend_rates() == &gsh_cuda_rates);
}

int main(void)
{
    test_same_or_better();
    test_graphics();
    test_unknown();
    test_backend();
    return check_result();
}
