/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost model's arithmetic.
 */
#include "cost_model.h"

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

double gsh_cost_foreign_transfer(const struct gsh_rates *rates, double bytes)
{
    return bytes <= 0 ? 0 : rates->transfer_call + bytes / rates->transfer_foreign;
}
