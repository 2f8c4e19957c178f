/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of several GPUs the process uses: GPUSHIM_GPU, among those that CUDA_VISIBLE_DEVICES leaves.
 */
#pragma once

#include "status.h"

#include <stddef.h>

/* The number, from 0, of the GPU to use of `count`: the first, the one that the option names, or, for `auto`, the one of the process's
 * local rank, which launchers of parallel programs put into the environment, modulo `count`. FAILED: one line in `why`. Any thread. */
enum gsh_status gsh_cuda_ordinal_choose(int count, int *ordinal, char *why, size_t why_size);
