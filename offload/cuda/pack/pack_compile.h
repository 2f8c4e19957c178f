/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles kernels in several processes: NVRTC's threads wait for each other. Needs NVRTC loaded (cuda_libs.h).
 */
#pragma once

#include "cuda_compile.h"
#include "pack_set.h"

struct gsh_pack_image {
    void *bytes; /* NULL: it does not compile */
    size_t size;
};

/* Compiles every kernel for every target, in `workers` processes at a time. The image of kernel k for target t is
 * images[k * target_count + t], whose bytes are allocated. FAILED: a process failed, or there is no memory. */
enum gsh_status gsh_pack_compile_run(const struct gsh_pack_set *set,
                                     const struct gsh_cuda_target *targets, size_t target_count,
                                     unsigned workers, struct gsh_pack_image *images);
