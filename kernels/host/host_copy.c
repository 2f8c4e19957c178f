/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "host_copy.h"

#include "host_casts.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE = 64,         /* bytes of a cache line */
    TILE = 256,        /* bytes of a side: the lines of a tile fit the first-level cache */
    BLOCK_ALONG = 256, /* elements of a transposed block: its lines stay in the cache */
    LEAST_PLANE = 64,  /* elements */
    PAGE = 4096,       /* bytes */
    STRETCH = 1024,    /* bytes, of which memcpy makes no string instruction */
    LEAST_SLOW = 2048  /* bytes of a run of which it makes one */
};

/* ---- the plane ---- */

static bool is_less(int64_t stride, int64_t other)
{
    return stride != 0 && (other == 0 || llabs(stride) < llabs(other));
}

/* The dimension in which the source steps least. */
static int find_least(const struct gsh_host_copy *copy)
{
    int least = copy->ndim - 1;
    for (int d = copy->ndim - 2; d >= 0; d--)
        if (is_less(copy->dims[d].src, copy->dims[least].src))
            least = d;
    return least;
}

static int find_longest(const struct gsh_host_copy *copy, int count)
{
    int longest = count - 1;
    for (int d = 0; d < count; d++)
        if (copy->dims[d].extent > copy->dims[longest].extent)
            longest = d;
    return longest;
}

/* The dimension `across` of a copy whose source steps least along: the next one, so that lines are read and written in order, but
 * for short ones. */
static int find_next(const struct gsh_host_copy *copy)
{
    int last = copy->ndim - 1;
    bool is_short = copy->dims[last].extent * copy->dims[last - 1].extent < LEAST_PLANE;
    return is_short ? find_longest(copy, last) : last - 1;
}

static struct gsh_host_copy_dim take_dim(struct gsh_host_copy *copy, int d)
{
    struct gsh_host_copy_dim taken = copy->dims[d];
    copy->ndim--;
    memmove(&copy->dims[d], &copy->dims[d + 1], (size_t)(copy->ndim - d) * sizeof(copy->dims[0]));
    return taken;
}

static void find_plane(struct gsh_host_copy *copy)
{
    int last = copy->ndim - 1, least = find_least(copy);
    copy->across = (struct gsh_host_copy_dim){.extent = 1};
    copy->is_transposed = least != last;
    if (last > 0)
        copy->across = take_dim(copy, copy->is_transposed ? least : find_next(copy));
    copy->along = take_dim(copy, copy->ndim - 1);
}

/* Dimensions ordered by the destination's strides and joined where both step as one; at least one. */
static void read_dims(struct gsh_host_copy *copy, const struct gsh_launch *launch)
{
    struct gsh_launch walk = *launch;
    gsh_launch_collapse(&walk);
    copy->ndim = GSH_MAX(walk.ndim, 1);
    copy->dims[0] = (struct gsh_host_copy_dim){.extent = 1};
    for (int d = 0; d < walk.ndim; d++)
        copy->dims[d] =
            (struct gsh_host_copy_dim){walk.shape[d], walk.strides[1][d], walk.strides[0][d]};
}

void gsh_host_copy_init(struct gsh_host_copy *copy, const struct gsh_launch *launch)
{
    copy->src = (const char *)(uintptr_t)launch->operands[0].address;
    copy->dst = (char *)(uintptr_t)launch->operands[1].address;
    copy->dtype = launch->operands[1].dtype;
    copy->src_dtype = launch->operands[0].dtype;
    copy->size = gsh_dtype_size(copy->dtype);
    copy->src_size = gsh_dtype_size(copy->src_dtype);
    read_dims(copy, launch);
    find_plane(copy);
}

static size_t lines_of(int64_t stride, size_t size)
{
    return GSH_MAX(GSH_MIN((size_t)llabs(stride), LINE), size);
}

size_t gsh_host_copy_traffic(const struct gsh_host_copy *copy)
{
    int64_t src = copy->is_transposed ? copy->across.src : copy->along.src;
    return lines_of(copy->along.dst, copy->size) + (src == 0 ? 0 : lines_of(src, copy->src_size));
}

bool gsh_host_copy_has_runs(const struct gsh_host_copy *copy)
{
    return copy->along.dst == (int64_t)copy->size && copy->along.src == (int64_t)copy->src_size;
}

/* glibc copies by `rep movsb`, which takes ten times as long where the destination lies a little behind the source within a page.
 * In `a[:, 1:] = b[:, :-1]` it does if the arrays begin at one place of a page, as large arrays do. */
static bool is_behind(const char *dst, const char *src)
{
    size_t behind = ((uintptr_t)dst - (uintptr_t)src) % PAGE;
    return behind > 0 && behind < LINE;
}

bool gsh_host_copy_is_slow(const struct gsh_host_copy *copy)
{
    return copy->dtype == copy->src_dtype && gsh_host_copy_has_runs(copy) &&
           (size_t)copy->along.extent * copy->size > LEAST_SLOW && is_behind(copy->dst, copy->src);
}

/* ---- blocks ---- */

int64_t gsh_host_copy_divide(struct gsh_host_copy *copy, int64_t piece)
{
    int64_t most = copy->is_transposed ? GSH_MIN(piece, BLOCK_ALONG) : piece;
    copy->block_along = GSH_MIN(copy->along.extent, most);
    copy->block_across = GSH_MIN(copy->across.extent, GSH_MAX(piece / copy->block_along, 1));
    copy->blocks_along = (copy->along.extent - 1) / copy->block_along + 1;
    copy->blocks_across = (copy->across.extent - 1) / copy->block_across + 1;
    int64_t blocks = copy->blocks_along * copy->blocks_across;
    for (int d = 0; d < copy->ndim; d++)
        blocks *= copy->dims[d].extent;
    return blocks;
}

/* Part of a plane. */
struct part {
    char *dst;
    const char *src;
    struct gsh_host_copy_dim along, across;
};

/* Begins a part at element `first` of the dimension. */
static struct gsh_host_copy_dim cut(struct part *part, struct gsh_host_copy_dim dim, int64_t first,
                                    int64_t count)
{
    part->dst += first * dim.dst;
    part->src += first * dim.src;
    dim.extent = GSH_MIN(count, dim.extent - first);
    return dim;
}

static void cast_elements(const struct gsh_host_copy *copy, const struct part *part)
{
    for (int64_t i = 0; i < part->across.extent; i++)
        gsh_host_casts_run(part->dst + i * part->across.dst, copy->dtype, part->along.dst,
                           part->src + i * part->across.src, copy->src_dtype, part->along.src,
                           part->along.extent);
}

#define ELEMENTS(size)                                                                             \
    static void copy_##size(const struct part *part)                                               \
    {                                                                                              \
        const int64_t dst_step = part->along.dst, src_step = part->along.src;                      \
        for (int64_t i = 0; i < part->across.extent; i++) {                                        \
            char *dst = part->dst + i * part->across.dst;                                          \
            const char *src = part->src + i * part->across.src;                                    \
            for (int64_t j = 0; j < part->along.extent; j++)                                       \
                memcpy(dst + j * dst_step, src + j * src_step, size);                              \
        }                                                                                          \
    }
ELEMENTS(1)
ELEMENTS(2)
ELEMENTS(4)
ELEMENTS(8)
ELEMENTS(16)

static void (*const copies[])(const struct part *part) = {copy_1, copy_2, copy_4, copy_8, copy_16};

static void copy_run(char *dst, const char *src, size_t bytes)
{
    size_t stretch = is_behind(dst, src) ? STRETCH : bytes;
    for (size_t done = 0; done < bytes; done += stretch)
        memcpy(dst + done, src + done, GSH_MIN(stretch, bytes - done));
}

static void copy_runs(const struct part *part, size_t size)
{
    size_t bytes = (size_t)part->along.extent * size;
    for (int64_t i = 0; i < part->across.extent; i++)
        copy_run(part->dst + i * part->across.dst, part->src + i * part->across.src, bytes);
}

static void copy_elements(const struct gsh_host_copy *copy, const struct part *part)
{
    if (copy->dtype == copy->src_dtype)
        copies[__builtin_ctzl(copy->size)](part);
    else
        cast_elements(copy, part);
}

static void copy_tiles(const struct gsh_host_copy *copy, const struct part *part)
{
    int64_t tile = TILE / (int64_t)GSH_MAX(copy->size, copy->src_size);
    for (int64_t i = 0; i < part->across.extent; i += tile)
        for (int64_t j = 0; j < part->along.extent; j += tile) {
            struct part piece = {.dst = part->dst, .src = part->src};
            piece.across = cut(&piece, part->across, i, tile);
            piece.along = cut(&piece, part->along, j, tile);
            copy_elements(copy, &piece);
        }
}

static void copy_part(const struct gsh_host_copy *copy, const struct part *part)
{
    if (gsh_host_copy_has_runs(copy) && copy->dtype == copy->src_dtype)
        copy_runs(part, copy->size);
    else if (copy->is_transposed)
        copy_tiles(copy, part);
    else
        copy_elements(copy, part);
}

void gsh_host_copy_block(const struct gsh_host_copy *copy, int64_t number)
{
    struct part part = {.dst = copy->dst, .src = copy->src};
    int64_t along = number % copy->blocks_along;
    number /= copy->blocks_along;
    int64_t across = number % copy->blocks_across;
    number /= copy->blocks_across;
    part.along = cut(&part, copy->along, along * copy->block_along, copy->block_along);
    part.across = cut(&part, copy->across, across * copy->block_across, copy->block_across);
    for (int d = copy->ndim - 1; d >= 0; d--) {
        cut(&part, copy->dims[d], number % copy->dims[d].extent, 1);
        number /= copy->dims[d].extent;
    }
    copy_part(copy, &part);
}
