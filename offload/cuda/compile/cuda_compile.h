/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes machine code of kernel text: the kernels compiled ahead (cuda_pack.h), the disk cache, else NVRTC. Needs NVRTC
 * loaded (cuda_libs.h), but no device and no driver.
 */
#pragma once

#include "base.h"
#include "status.h"

/* The target of a compilation. */
struct gsh_cuda_target {
    int arch;    /* 90: sm_90, or compute_90 where is_ptx */
    bool is_ptx; /* translated by the driver when it is loaded */
};

struct gsh_cuda_cache_key;

/* What names a kernel that is compiled ahead: its text, and the options that change its results. Machine code is valid
 * whatever NVRTC made it, so NVRTC's version is no part of it, nor is the target. */
void gsh_cuda_compile_key(const char *source, struct gsh_cuda_cache_key *key);
/* Finds the image for cuModuleLoadData, in memory that the caller frees, among the kernels compiled ahead or in the disk
 * cache. Counts PACK_HITS or CACHE_HITS. False: not found. Any thread. */
bool gsh_cuda_compile_find(const char *source, const struct gsh_cuda_target *target, void **image,
                           size_t *size);
/* Makes the image for cuModuleLoadData, in memory that the caller frees. Counts COMPILES or a hit. `name`: of the kernel, for the log and
 * the trace. FAILED: the text does not compile (NVRTC's messages are in the log) or there is no memory. Any thread. */
enum gsh_status gsh_cuda_compile(const char *name, const char *source,
                                 const struct gsh_cuda_target *target, void **image, size_t *size);
