/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "cuda_named.h"

#include "cuda_rates.h"

#include <strings.h>

#define GIB (1024.0 * 1024 * 1024)

/* NVIDIA's data sheets: of the H200, H100 (SXM, PCIe), A100 80GB (SXM), L4, L40S, T4, V100 (SXM2), and the architecture papers of
 * the GeForce cards. float64 products of H and A cards: tensor cores. Bus: PCIe of 16 lanes (8: L4's are 16 of PCIe 4). */
static const struct gsh_cuda_named gpus[] = {
    {"h200", "NVIDIA H200", 141e9, 4.8e12, {67e12, 67e12}, 34e12, 63e9},
    {"h100", "NVIDIA H100 SXM", 80e9, 3.35e12, {67e12, 67e12}, 34e12, 63e9},
    {"h100-pcie", "NVIDIA H100 PCIe", 80e9, 2.0e12, {51e12, 51e12}, 26e12, 63e9},
    {"a100", "NVIDIA A100 80GB SXM", 80e9, 2.039e12, {19.5e12, 19.5e12}, 9.7e12, 31.5e9},
    {"v100", "NVIDIA V100 SXM2", 32e9, 0.9e12, {15.7e12, 7.8e12}, 7.8e12, 15.75e9},
    {"l40s", "NVIDIA L40S", 48e9, 0.864e12, {91.6e12, 1.43e12}, 1.43e12, 31.5e9},
    {"l4", "NVIDIA L4", 24e9, 0.3e12, {30.3e12, 0.47e12}, 0.47e12, 31.5e9},
    {"t4", "NVIDIA T4", 16e9, 0.32e12, {8.1e12, 0.25e12}, 0.25e12, 15.75e9},
    {"rtx3090", "NVIDIA GeForce RTX 3090", 24e9, 0.936e12, {35.6e12, 0.56e12}, 0.56e12, 31.5e9},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 24e9, 1.008e12, {82.6e12, 1.29e12}, 1.29e12, 31.5e9},
};
static const struct gsh_cuda_named *const measured = &gpus[0];

/* Shares of the peaks: a + b of 1e8, 4.2 of 4.8 TB/s; products of 4096, 51 and 60 Tflop/s; transfers of 1 GiB, 54 GB/s
 * (docs/results/performance.md). */
#define MEMORY_SHARE 0.87
#define PRODUCT_SHARE 0.8
#define LOOP_SHARE                                                                                 \
    0.5 /* of device_cores: chains of float64 functions (docs/results/performance.md) */
#define BUS_SHARE 0.85
#define LAUNCH 4e-6    /* s of a short kernel in a queue */
#define TRANSFER 15e-6 /* s, of a few bytes */

const struct gsh_cuda_named *gsh_cuda_named_find(const char *name)
{
    for (size_t i = 0; i < GSH_COUNT(gpus); i++)
        if (strcasecmp(gpus[i].name, name) == 0)
            return &gpus[i];
    return NULL;
}

void gsh_cuda_named_list(struct gsh_fmt *fmt)
{
    for (size_t i = 0; i < GSH_COUNT(gpus); i++)
        gsh_fmt_printf(fmt, "%s%s", i > 0 ? ", " : "", gpus[i].name);
}

static double share(double of_gpu, double of_measured)
{
    return GSH_MIN(of_gpu / of_measured, 1);
}

struct gsh_rates gsh_cuda_named_rates(const struct gsh_cuda_named *gpu)
{
    struct gsh_rates rates = gsh_cuda_rates;
    rates.device_memory *= share(gpu->bandwidth, measured->bandwidth);
    rates.device_cores *= share(gpu->loops, measured->loops);
    for (int is_double = 0; is_double < 2; is_double++)
        rates.device_flops[is_double] *= share(gpu->flops[is_double], measured->flops[is_double]);
    rates.transfer_pinned *= share(gpu->bus, measured->bus);
    return rates;
}

struct gsh_rates gsh_cuda_named_speed(const struct gsh_cuda_named *gpu)
{
    struct gsh_rates rates = gsh_cuda_named_rates(gpu);
    rates.device_call = LAUNCH;
    rates.device_memory = MEMORY_SHARE * gpu->bandwidth;
    rates.device_cores *= LOOP_SHARE;
    for (int is_double = 0; is_double < 2; is_double++)
        rates.device_flops[is_double] = PRODUCT_SHARE * gpu->flops[is_double];
    rates.transfer_call = TRANSFER;
    rates.transfer_pinned = BUS_SHARE * gpu->bus;
    return rates;
}
