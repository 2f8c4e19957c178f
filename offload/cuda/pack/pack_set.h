/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of the kernels of pack_launches.h, each once. Used by one thread.
 */
#pragma once

#include "cuda_cache.h"
#include "source.h"

#define GSH_PACK_PREFIXES 16

struct gsh_pack_kernel {
    char name[GSH_SOURCE_KEY_SIZE]; /* gsh_source_stage.key */
    struct gsh_cuda_cache_key key;  /* gsh_cuda_compile_key */
    char *text;
};
struct gsh_pack_set {
    struct gsh_pack_kernel *kernels; /* live as long as the process */
    size_t count, room;
    const char *prefixes
        [GSH_PACK_PREFIXES]; /* only kernels whose names begin with one of them; none: all */
    size_t prefix_count;
};

/* Adds all kernels to an empty set. The texts are those that a backend would compile (cuda_module.h). FAILED: no memory. */
enum gsh_status gsh_pack_set_fill(struct gsh_pack_set *set);
