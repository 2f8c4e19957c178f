/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUs by name, with the peak rates of NVIDIA's data sheets: what work would cost on a GPU that is not there.
 */
#pragma once

#include "cost_model.h"
#include "fmt.h"

struct gsh_cuda_named {
    const char *name, *title; /* "h100", "NVIDIA H100 SXM" */
    double memory;            /* bytes */
    double bandwidth;         /* of memory, bytes/s */
    double flops
        [2]; /* float32 and float64, flop/s, of matrix products as gpushim asks for them (no TF32) */
    double loops; /* float64 flop/s outside of matrix products */
    double bus;   /* bytes/s one way: PCIe */
};

/* The GPU of that name, in any case; NULL: none. */
const struct gsh_cuda_named *gsh_cuda_named_find(const char *name);
/* Appends all names: "h200, h100, ...". */
void gsh_cuda_named_list(struct gsh_fmt *fmt);
/* By which rates gpushim decides there: those of cuda_rates.h, lowered in proportion to the peaks. */
struct gsh_rates gsh_cuda_named_rates(const struct gsh_cuda_named *gpu);
/* What work takes there, without the favour for the CPU: shares of the peaks that were measured on an H200 and an H100. */
struct gsh_rates gsh_cuda_named_speed(const struct gsh_cuda_named *gpu);
