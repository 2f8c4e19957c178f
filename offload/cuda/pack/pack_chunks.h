/* SPDX-License-Identifier: Apache-2.0
 *
 * Deduplicates the images of kernels (cuda_pack.h): equal chunks are kept once. Used by one thread.
 */
#pragma once

#include "cuda_pack.h"
#include "status.h"

struct gsh_pack_chunks {
    unsigned char (*chunks)[GSH_CUDA_PACK_CHUNK];
    uint32_t *extents;
    size_t chunk_count, extent_count;
    size_t chunk_room, extent_room;
    uint32_t *slots;   /* of a hash table with linear probing: a chunk's number plus 1; 0: free */
    size_t slot_count; /* a power of two */
};

/* Adds an image to a store that was zeros; *extent is its first extent. FAILED: no memory, or more chunks than a file can hold. */
enum gsh_status gsh_pack_chunks_add(struct gsh_pack_chunks *store, const void *image, size_t bytes,
                                    uint64_t *extent);
void gsh_pack_chunks_free(struct gsh_pack_chunks *store);
