/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost model's arithmetic.
 */
#include "cost_model.h"

/* bytes */
#define HOST_LINE 64
#define DEVICE_SECTOR 32

/* s */
#define HOST_ROW 8e-9 /* of NumPy's iterator, 5 to 20 ns measured */

/* flop/s */
#define HOST_TRANSFORM_FLOPS 3e9 /* of pocketfft, beyond a pass over the bytes */
#define HOST_PLAIN_FLOPS 1e9     /* of NumPy's plain loop */
/* Of NumPy's einsum: 0.2 to 0.5 ns a product where the innermost extent is long, 1.2 to 1.3 where it is 3 or 4 (2.4.6, EPYC). */
#define HOST_EINSUM_FLOPS 4e9
/* Of solve, inv, det, qr, eigh and svd, times the rows: 12 rows 1.3e9 to 1.7e9, 32 rows 4e9, 64 rows 6e9 to 7e9 (EPYC). */
#define HOST_SMALL_FLOPS 0.11e9
#define DEVICE_PLAIN_CORE_FLOPS 1e9 /* of a kernel of ours, times device_cores */

double gsh_cost_model_host(const struct gsh_rates *rates, double bytes, double elements,
                           double host_ns)
{
    double rate = bytes <= rates->host_cache_bytes ? rates->host_cached : rates->host_memory;
    return rates->host_call + bytes / rate + elements * host_ns * 1e-9;
}

double gsh_cost_model_device(const struct gsh_rates *rates, double bytes)
{
    return rates->device_call + bytes / rates->device_memory;
}

double gsh_cost_model_host_product(const struct gsh_rates *rates, double flops, double bytes,
                                   bool is_double)
{
    return gsh_cost_model_host(rates, bytes, 0, 0) + flops / rates->host_flops[is_double];
}

double gsh_cost_model_einsum_share(const struct gsh_rates *rates, bool is_double)
{
    return GSH_MIN(HOST_EINSUM_FLOPS / rates->host_flops[is_double], 1);
}

double gsh_cost_model_small_share(const struct gsh_rates *rates, double extent, double share,
                                  bool is_double)
{
    return GSH_MIN(HOST_SMALL_FLOPS * GSH_MAX(extent, 1) / rates->host_flops[is_double], share);
}

double gsh_cost_model_device_product(const struct gsh_rates *rates, double flops, double bytes,
                                     bool is_double)
{
    return gsh_cost_model_device(rates, bytes) + flops / rates->device_flops[is_double];
}

double gsh_cost_model_transfer(const struct gsh_rates *rates, double bytes, bool pinned,
                               bool pinnable)
{
    if (bytes <= 0)
        return 0;
    if (pinned)
        return rates->transfer_call + bytes / rates->transfer_pinned;
    if (pinnable)
        return rates->transfer_call + bytes / rates->transfer_pinned + bytes / rates->pin;
    return rates->transfer_call + bytes / rates->transfer_pageable;
}

double gsh_cost_model_unmanaged_transfer(const struct gsh_rates *rates, double bytes)
{
    return bytes <= 0 ? 0 : rates->transfer_call + bytes / rates->transfer_unmanaged;
}

double gsh_cost_model_moving(const struct gsh_rates *rates, double bytes)
{
    return bytes / rates->device_memory;
}

double gsh_cost_model_computing(const struct gsh_rates *rates, double host_ns)
{
    return host_ns * 1e-9 / rates->device_cores;
}

double gsh_cost_model_start(const struct gsh_rates *rates, int64_t wanted_ms)
{
    return wanted_ms >= 0 ? (double)wanted_ms * 1e-3 : rates->start;
}

static double clamp(double value, double low, double high)
{
    return GSH_MIN(GSH_MAX(value, low), GSH_MAX(low, high));
}

/* Bytes moved for the operand's elements in units of so many bytes. */
static double moved_bytes(const struct gsh_loop_operand *operand, double unit)
{
    double each = clamp(operand->step, operand->itemsize, unit);
    return GSH_MAX(operand->elements * operand->itemsize, operand->distinct * each);
}

void gsh_cost_model_add_operand(const struct gsh_rates *rates,
                                const struct gsh_loop_operand *operand, struct gsh_work *work)
{
    double dense = operand->elements * operand->itemsize, lines = moved_bytes(operand, HOST_LINE);
    bool is_apart = lines > dense && operand->span > rates->host_cache_bytes;
    work->bytes += moved_bytes(operand, DEVICE_SECTOR);
    work->near += is_apart ? 0 : dense;
    work->far += is_apart ? lines * (operand->is_written ? 2 : 1) : 0;
}

double gsh_cost_model_host_work(const struct gsh_rates *rates, const struct gsh_work *work)
{
    switch (work->kind) {
    case GSH_WORK_LOOP:
    case GSH_WORK_DRAW:
        return gsh_cost_model_host(rates, work->near, work->elements, work->host_ns) +
               work->far / rates->host_memory + work->rows * HOST_ROW;
    case GSH_WORK_PRODUCT:
        return gsh_cost_model_host_product(rates, work->flops / work->host_share, work->bytes,
                                           work->is_double);
    case GSH_WORK_PLAIN_PRODUCT:
        return gsh_cost_model_host(rates, work->bytes, 0, 0) + work->flops / HOST_PLAIN_FLOPS;
    case GSH_WORK_TRANSFORM:
        break;
    }
    return gsh_cost_model_host(rates, work->bytes, 0, 0) + work->flops / HOST_TRANSFORM_FLOPS;
}

double gsh_cost_model_device_work(const struct gsh_rates *rates, const struct gsh_work *work)
{
    switch (work->kind) {
    case GSH_WORK_LOOP:
        return gsh_cost_model_device(rates, work->bytes) + work->columns * work->device_column;
    case GSH_WORK_PRODUCT:
        return gsh_cost_model_device_product(rates, work->flops / work->device_share, work->bytes,
                                             work->is_double) +
               work->columns * work->device_column;
    case GSH_WORK_PLAIN_PRODUCT:
        return gsh_cost_model_device(rates, work->bytes) +
               work->flops / (DEVICE_PLAIN_CORE_FLOPS * rates->device_cores);
    case GSH_WORK_DRAW:
        return gsh_cost_model_device(rates, work->bytes) + work->columns * work->device_column +
               work->elements * gsh_cost_model_computing(rates, work->host_ns);
    case GSH_WORK_TRANSFORM:
        break;
    }
    return gsh_cost_model_device(rates, 2 * work->bytes);
}
