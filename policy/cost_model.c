/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost model's arithmetic and its default rates.
 */
#include "cost_model.h"

/* One H200 on PCIe 5 x16 beside a Sapphire Rapids core, rounded towards the CPU's favour. */
const struct gsh_rates gsh_rates_cuda = {
    .host_call = 0.4e-6,
    .host_cached = 30e9,
    .host_memory = 15e9,
    .host_cache_bytes = 4e6,
    .host_flops = {1.2e12, 0.6e12},
    .device_call = 6e-6,
    .device_memory = 2.5e12,
    .device_flops = {30e12, 30e12},
    .transfer_call = 25e-6,
    .transfer_pinned = 45e9,
    .transfer_pageable = 6e9,
    .pin = 30e9,
    .start = 0.6,
};

/* The CPU twice: nothing is gained but what the library does better than NumPy, so transfers
 * decide. */
const struct gsh_rates gsh_rates_host = {
    .host_call = 0.4e-6,
    .host_cached = 30e9,
    .host_memory = 15e9,
    .host_cache_bytes = 4e6,
    .host_flops = {0.1e12, 0.05e12},
    .device_call = 2e-6,
    .device_memory = 10e9,
    .device_flops = {0.1e12, 0.05e12},
    .transfer_call = 5e-6,
    .transfer_pinned = 8e9,
    .transfer_pageable = 8e9,
    .pin = 1e12,
    .start = 0.0,
};

double gsh_cost_host(const struct gsh_rates *rates, double bytes, double elements, double host_ns)
{
    double rate = bytes <= rates->host_cache_bytes ? rates->host_cached : rates->host_memory;
    return rates->host_call + bytes / rate + elements * host_ns * 1e-9;
}

double gsh_cost_device(const struct gsh_rates *rates, double bytes)
{
    return rates->device_call + bytes / rates->device_memory;
}

double gsh_cost_host_product(const struct gsh_rates *rates, double flops, double bytes,
                             bool is_double)
{
    return gsh_cost_host(rates, bytes, 0, 0) + flops / rates->host_flops[is_double];
}

double gsh_cost_device_product(const struct gsh_rates *rates, double flops, double bytes,
                               bool is_double)
{
    return gsh_cost_device(rates, bytes) + flops / rates->device_flops[is_double];
}

double gsh_cost_transfer(const struct gsh_rates *rates, double bytes, bool pinned, bool pinnable)
{
    if (bytes <= 0)
        return 0;
    if (pinned)
        return rates->transfer_call + bytes / rates->transfer_pinned;
    if (pinnable)
        return rates->transfer_call + bytes / rates->transfer_pinned + bytes / rates->pin;
    return rates->transfer_call + bytes / rates->transfer_pageable;
}
