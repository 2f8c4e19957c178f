/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of arrays that a CUDA call reads and writes. CUDA's addresses are unified: a parameter
 * typed as a device address may be a host address, so every address is checked. Each function adds
 * the parts in the arena and returns whether there are any. No memory of arrays is accessed.
 */
#pragma once

#include "cuda_layouts.h"

#include "arena.h"

#define GSH_CUDA_FEW_RANGES 4

struct gsh_cuda_range {
    const void *address;
    size_t size;
    bool is_written;
};

struct gsh_cuda_ranges {
    unsigned count, room; /* room: of `more` */
    bool is_short;        /* out of memory: the call must not be made */
    struct gsh_cuda_range few[GSH_CUDA_FEW_RANGES];
    struct gsh_cuda_range *more; /* ranges beyond `few`, from malloc */
};

/* Adds one range. */
void gsh_cuda_ranges_append(struct gsh_cuda_ranges *ranges, const void *address, size_t size,
                            bool is_written);
const struct gsh_cuda_range *gsh_cuda_ranges_at(const struct gsh_cuda_ranges *ranges,
                                                unsigned index);
void gsh_cuda_ranges_free(struct gsh_cuda_ranges *ranges);

static inline void gsh_cuda_ranges_add(struct gsh_cuda_ranges *ranges, uintptr_t address,
                                       size_t size, bool is_written)
{
    if (GSH_UNLIKELY(gsh_arena_overlaps((const void *)address, size)))
        gsh_cuda_ranges_append(ranges, (const void *)address, size, is_written);
}

/* `size` bytes from `src` to `dst`. */
static inline bool gsh_cuda_ranges_copy(struct gsh_cuda_ranges *ranges, uintptr_t dst,
                                        uintptr_t src, size_t size)
{
    gsh_cuda_ranges_add(ranges, dst, size, true);
    gsh_cuda_ranges_add(ranges, src, size, false);
    return ranges->count != 0;
}

/* A call that sets `rows` rows of `width` bytes. */
bool gsh_cuda_ranges_set(struct gsh_cuda_ranges *ranges, CUdeviceptr dst, size_t pitch,
                         size_t width, size_t rows);
bool gsh_cuda_ranges_copy2d(struct gsh_cuda_ranges *ranges, const struct gsh_cuda_copy2d *copy);
bool gsh_cuda_ranges_copy3d(struct gsh_cuda_ranges *ranges, const struct gsh_cuda_copy3d *copy);
/* Also adds the arrays of addresses and sizes, which the driver reads. */
bool gsh_cuda_ranges_batch(struct gsh_cuda_ranges *ranges, const CUdeviceptr *dsts,
                           const CUdeviceptr *srcs, const size_t *sizes, size_t count);
bool gsh_cuda_ranges_batch3d(struct gsh_cuda_ranges *ranges, const struct gsh_cuda_batch3d *list,
                             size_t count);
/* A copy that is a node of a graph. */
bool gsh_cuda_ranges_node(struct gsh_cuda_ranges *ranges, const struct gsh_cuda_node *node);
