/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUs differ most in float64: graphics GPUs have 1/64 of their float32 arithmetic.
 */
#include "cuda_rates.h"

/* One H200 on PCIe 5 x16 beside a Sapphire Rapids core, rounded towards the CPU's favour (docs/results/archive.md). */
const struct gsh_rates gsh_cuda_rates = {
    .host_call = 0.4e-6,
    .host_cached = 30e9,
    .host_memory = 15e9,
    .host_cache_bytes = 4e6,
    .host_flops = {1.2e12, 0.6e12},
    .device_call = 6e-6,
    .device_memory = 2.5e12,
    .device_cores = 1000,
    .device_flops = {30e12, 30e12},
    .transfer_call = 25e-6,
    .transfer_pinned = 45e9,
    .transfer_pageable = 6e9,
    .transfer_unmanaged = 1.5e9, /* malloc's, in scipy.linalg.solve and inv */
    .pin = 30e9,
    .start = 0.25,
    .compile = 0.1,
};

/* Results of float32 and float64 arithmetic per multiprocessor and clock: CUDA C++ Programming Guide, "Throughput of
 * Native Arithmetic Instructions", rows of additions and multiplications. */
struct throughput {
    int arch;
    double results[2];
};
static const struct throughput throughputs[] = {
    {60, {64, 32}},  {61, {128, 4}},   {62, {128, 4}},  {70, {64, 32}},  {72, {64, 32}},
    {75, {64, 2}},   {80, {64, 32}},   {86, {128, 2}},  {87, {128, 2}},  {89, {128, 2}},
    {90, {128, 64}}, {100, {128, 64}}, {101, {128, 2}}, {103, {128, 2}}, {120, {128, 2}},
};
static const struct throughput unknown = {0, {128, 2}}; /* a newer graphics GPU */

/* The properties that the driver (580.159) reports of that H200. Its memory has 6144 bits by datasheet. */
static const struct gsh_cuda_context measured = {.arch = 90,
                                                 .multiprocessors = 132,
                                                 .clock = 1980000,
                                                 .memory_clock = 3201000,
                                                 .memory_bus = 6016};

static const struct throughput *throughput_of(int arch)
{
    for (size_t i = 0; i < GSH_COUNT(throughputs); i++)
        if (throughputs[i].arch == arch)
            return &throughputs[i];
    return &unknown;
}

/* Thousands of results per second; 0: not known. */
static double arithmetic(const struct gsh_cuda_context *gpu, bool is_double)
{
    return (double)gpu->multiprocessors * gpu->clock * throughput_of(gpu->arch)->results[is_double];
}

static double memory(const struct gsh_cuda_context *gpu)
{
    return (double)gpu->memory_clock * gpu->memory_bus;
}

static void lower(double *rate, double of_gpu, double of_measured)
{
    if (of_gpu > 0 && of_gpu < of_measured)
        *rate *= of_gpu / of_measured;
}

void gsh_cuda_rates_adapt(const struct gsh_cuda_context *gpu, struct gsh_rates *rates)
{
    lower(&rates->device_memory, memory(gpu), memory(&measured));
    lower(&rates->device_cores, arithmetic(gpu, false), arithmetic(&measured, false));
    for (int is_double = 0; is_double < 2; is_double++)
        lower(&rates->device_flops[is_double], arithmetic(gpu, is_double),
              arithmetic(&measured, is_double));
}
