/* SPDX-License-Identifier: Apache-2.0
 *
 * What work on a GPU costs: measured on one H200, and adapted to GPUs whose properties show that they are slower.
 */
#pragma once

#include "cost_model.h"
#include "cuda_context.h"

/* On an H200. */
extern const struct gsh_rates gsh_cuda_rates;

/* Lowers the rates of an H200's memory and arithmetic to those of the GPU, in proportion to the peak rates of both.
 * Rates are never raised, nor changed by properties that the driver does not report. */
void gsh_cuda_rates_adapt(const struct gsh_cuda_context *gpu, struct gsh_rates *rates);
