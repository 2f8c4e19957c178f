/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of strided arrays on the CPU, in blocks that several threads may copy at once and in any order. The bytes of each element
 * are kept, or cast (host_casts.h). No state, no lock, no allocation.
 *
 * A block lies in the plane of two dimensions: `along`, in which the destination steps least, and `across`, in which the source
 * steps least. Where these are the same dimension, `across` is another one. If they differ, the plane is copied in tiles of a few
 * cache lines, so that a line that was read or written for one element is still in the cache for the next.
 */
#pragma once

#include "launch.h"

struct gsh_host_copy_dim {
    int64_t extent;   /* elements, > 0 */
    int64_t dst, src; /* strides in bytes, any sign */
};

struct gsh_host_copy {
    char *dst;
    const char *src;
    size_t size, src_size; /* of an element: 1, 2, 4, 8 or 16 */
    enum gsh_dtype dtype, src_dtype;
    bool is_transposed;                          /* the source steps least across */
    struct gsh_host_copy_dim along, across;      /* the plane */
    struct gsh_host_copy_dim dims[GSH_MAX_DIMS]; /* the other dimensions */
    int ndim;                                    /* of these */
    int64_t block_along, block_across;           /* elements; the last ones may have fewer */
    int64_t blocks_along, blocks_across;         /* of one plane */
};

/* Describes the COPY of one array to another. Its elements are distinct in the destination, there is at least one, and the two
 * arrays share no byte. The addresses may be set later. */
void gsh_host_copy_init(struct gsh_host_copy *copy, const struct gsh_launch *launch);
/* Bytes of the cache lines that an element takes from memory, and to it, on average. */
size_t gsh_host_copy_traffic(const struct gsh_host_copy *copy);
/* Whether both arrays are contiguous along. */
bool gsh_host_copy_has_runs(const struct gsh_host_copy *copy);
/* Whether memcpy, and with it NumPy, is slow at it, and gsh_host_copy_block is not. */
bool gsh_host_copy_is_slow(const struct gsh_host_copy *copy);

/* Divides the work into blocks of about `piece` elements, or of one plane if that has fewer. Returns their number. */
int64_t gsh_host_copy_divide(struct gsh_host_copy *copy, int64_t piece);
/* Copies one of them. */
void gsh_host_copy_block(const struct gsh_host_copy *copy, int64_t number);
