/* SPDX-License-Identifier: Apache-2.0
 *
 * What work on a GPU costs: as measured on one H200, and for other GPUs as far as their properties tell that they are
 * slower.
 */
#pragma once

#include "cost_model.h"
#include "cuda_context.h"

/* On an H200. */
extern const struct gsh_rates gsh_cuda_rates;

/* Lowers rates of an H200's memory and arithmetic to those of the GPU in proportion of what the two can do at most. They
 * are never raised, nor changed by properties that the driver does not tell. */
void gsh_cuda_rates_adapt(const struct gsh_cuda_context *gpu, struct gsh_rates *rates);
