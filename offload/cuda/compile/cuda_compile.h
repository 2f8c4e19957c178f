/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles kernel text to machine code: the disk cache, else NVRTC. Needs NVRTC loaded (cuda_libs.h), but no device
 * and no driver.
 */
#pragma once

#include "base.h"
#include "status.h"

/* The target of a compilation. */
struct gsh_cuda_target {
    int arch;    /* 90: sm_90, or compute_90 where is_ptx */
    bool is_ptx; /* translated by the driver when it is loaded */
};

/* Finds the image for cuModuleLoadData in the disk cache, in memory that the caller frees. Counts CACHE_HITS. False:
 * not found. Any thread. */
bool gsh_cuda_compile_find(const char *source, const struct gsh_cuda_target *target, void **image,
                           size_t *size);
/* Makes the image for cuModuleLoadData, in memory that the caller frees. Counts COMPILES or CACHE_HITS. FAILED: the
 * text does not compile (NVRTC's messages are in the log) or there is no memory. Any thread. */
enum gsh_status gsh_cuda_compile(const char *source, const struct gsh_cuda_target *target,
                                 void **image, size_t *size);
