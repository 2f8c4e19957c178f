/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Null pointers, which the driver refuses, are not read.
 */
#include "cuda_ranges.h"

#include "base.h"

#include <stdlib.h>

const struct gsh_cuda_range *gsh_cuda_ranges_at(const struct gsh_cuda_ranges *ranges,
                                                unsigned index)
{
    return index < GSH_CUDA_FEW_RANGES ? &ranges->few[index]
                                       : &ranges->more[index - GSH_CUDA_FEW_RANGES];
}

void gsh_cuda_ranges_free(struct gsh_cuda_ranges *ranges)
{
    free(ranges->more);
    ranges->more = NULL;
}

static bool make_room(struct gsh_cuda_ranges *ranges)
{
    if (ranges->count < GSH_CUDA_FEW_RANGES + ranges->room)
        return true;
    unsigned room = GSH_MAX(ranges->room * 2, 16U);
    struct gsh_cuda_range *more = realloc(ranges->more, room * sizeof *more);
    if (more == NULL)
        return false;
    ranges->more = more;
    ranges->room = room;
    return true;
}

void gsh_cuda_ranges_append(struct gsh_cuda_ranges *ranges, const void *address, size_t size,
                            bool is_written)
{
    if (!make_room(ranges)) {
        ranges->is_short = true;
        return;
    }
    struct gsh_cuda_range *range = ranges->count < GSH_CUDA_FEW_RANGES
                                       ? &ranges->few[ranges->count]
                                       : &ranges->more[ranges->count - GSH_CUDA_FEW_RANGES];
    *range = (struct gsh_cuda_range){address, size, is_written};
    ranges->count++;
}

/* The bytes from the first to the last one of rows whose starts are `pitch` bytes apart. */
static size_t span(size_t pitch, size_t width, size_t rows)
{
    return rows == 0 || width == 0 ? 0 : (rows - 1) * GSH_MAX(pitch, width) + width;
}

bool gsh_cuda_ranges_set(struct gsh_cuda_ranges *ranges, CUdeviceptr dst, size_t pitch,
                         size_t width, size_t rows)
{
    gsh_cuda_ranges_add(ranges, (uintptr_t)dst, span(pitch, width, rows), true);
    return ranges->count != 0;
}

static uintptr_t base_of(gsh_cuda_enum type, const void *host, CUdeviceptr device)
{
    if (type == GSH_CUDA_MEMORY_ARRAY)
        return 0;
    return type == GSH_CUDA_MEMORY_HOST ? (uintptr_t)host : (uintptr_t)device;
}

static void add_side2d(struct gsh_cuda_ranges *ranges, const struct gsh_cuda_side2d *side,
                       size_t width, size_t rows, bool is_written)
{
    uintptr_t base = base_of(side->type, side->host, side->device);
    if (base != 0)
        gsh_cuda_ranges_add(ranges, base + side->y * side->pitch + side->x,
                            span(side->pitch, width, rows), is_written);
}

bool gsh_cuda_ranges_copy2d(struct gsh_cuda_ranges *ranges, const struct gsh_cuda_copy2d *copy)
{
    if (copy == NULL)
        return false;
    add_side2d(ranges, &copy->dst, copy->width, copy->height, true);
    add_side2d(ranges, &copy->src, copy->width, copy->height, false);
    return ranges->count != 0;
}

static void add_side3d(struct gsh_cuda_ranges *ranges, const struct gsh_cuda_side3d *side,
                       const struct gsh_cuda_copy3d *copy, bool is_written)
{
    uintptr_t base = base_of(side->type, side->host, side->device);
    size_t layer_rows = GSH_MAX(side->height, copy->height);
    size_t rows = copy->depth == 0 ? 0 : (copy->depth - 1) * layer_rows + copy->height;
    if (base != 0)
        gsh_cuda_ranges_add(ranges,
                            base + (side->z * side->height + side->y) * side->pitch + side->x,
                            span(side->pitch, copy->width, rows), is_written);
}

bool gsh_cuda_ranges_copy3d(struct gsh_cuda_ranges *ranges, const struct gsh_cuda_copy3d *copy)
{
    if (copy == NULL)
        return false;
    add_side3d(ranges, &copy->dst, copy, true);
    add_side3d(ranges, &copy->src, copy, false);
    return ranges->count != 0;
}

bool gsh_cuda_ranges_batch(struct gsh_cuda_ranges *ranges, const CUdeviceptr *dsts,
                           const CUdeviceptr *srcs, const size_t *sizes, size_t count)
{
    if (gsh_arena_end == 0 || dsts == NULL || srcs == NULL || sizes == NULL)
        return false;
    gsh_cuda_ranges_add(ranges, (uintptr_t)dsts, count * sizeof *dsts, false);
    gsh_cuda_ranges_add(ranges, (uintptr_t)srcs, count * sizeof *srcs, false);
    gsh_cuda_ranges_add(ranges, (uintptr_t)sizes, count * sizeof *sizes, false);
    for (size_t i = 0; i < count; i++)
        (void)gsh_cuda_ranges_copy(ranges, (uintptr_t)dsts[i], (uintptr_t)srcs[i], sizes[i]);
    return ranges->count != 0;
}

/* Lengths are in elements, whose size may be known only from the other operand. Therefore the range
 * extends to the end of the array. */
static void add_operand(struct gsh_cuda_ranges *ranges, const struct gsh_cuda_operand *operand,
                        bool is_written)
{
    uintptr_t address = (uintptr_t)operand->pointer.address;
    if (operand->type == GSH_CUDA_OPERAND_POINTER && gsh_arena_contains((const void *)address))
        gsh_cuda_ranges_append(ranges, (const void *)address,
                               GSH_MAX(gsh_arena_usable((void *)address), 1), is_written);
}

bool gsh_cuda_ranges_batch3d(struct gsh_cuda_ranges *ranges, const struct gsh_cuda_batch3d *list,
                             size_t count)
{
    if (gsh_arena_end == 0 || list == NULL)
        return false;
    gsh_cuda_ranges_add(ranges, (uintptr_t)list, count * sizeof *list, false);
    for (size_t i = 0; i < count; i++) {
        add_operand(ranges, &list[i].dst, true);
        add_operand(ranges, &list[i].src, false);
    }
    return ranges->count != 0;
}

bool gsh_cuda_ranges_node(struct gsh_cuda_ranges *ranges, const struct gsh_cuda_node *node)
{
    return node != NULL && node->type == GSH_CUDA_NODE_MEMCPY &&
           gsh_cuda_ranges_copy3d(ranges, &node->copy);
}
