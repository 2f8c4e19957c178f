/* SPDX-License-Identifier: Apache-2.0 */
#include "pack_chunks.h"

#include "hash.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK GSH_CUDA_PACK_CHUNK

/* The elements with room for one more; NULL: no memory, and the elements stay where they are. */
static void *reserve(void *elements, size_t count, size_t *room, size_t element_bytes)
{
    if (count < *room)
        return elements;
    size_t larger = GSH_MAX(2 * *room, 1024);
    void *moved = realloc(elements, larger * element_bytes);
    if (moved != NULL)
        *room = larger;
    return moved;
}

static enum gsh_status append_chunk(struct gsh_pack_chunks *store, const unsigned char chunk[CHUNK])
{
    void *chunks = reserve(store->chunks, store->chunk_count, &store->chunk_room, CHUNK);
    if (chunks == NULL)
        return GSH_FAILED;
    store->chunks = chunks;
    if (store->chunk_count == GSH_CUDA_PACK_MAX_CHUNKS)
        return GSH_FAILED;
    memcpy(store->chunks[store->chunk_count++], chunk, CHUNK);
    return GSH_OK;
}

static enum gsh_status append_extent(struct gsh_pack_chunks *store, uint32_t chunk)
{
    void *extents =
        reserve(store->extents, store->extent_count, &store->extent_room, sizeof *store->extents);
    if (extents == NULL)
        return GSH_FAILED;
    store->extents = extents;
    store->extents[store->extent_count++] = gsh_cuda_pack_extent(chunk, 1);
    return GSH_OK;
}

/* The slot that holds the chunk, or the free one where it belongs. */
static uint32_t *find_slot(const struct gsh_pack_chunks *store, const unsigned char chunk[CHUNK])
{
    struct gsh_hash_pair hash = GSH_HASH_PAIR_BEGIN;
    gsh_hash_pair_add_bytes(&hash, chunk, CHUNK);
    size_t slot = hash.second & (store->slot_count - 1);
    while (store->slots[slot] != 0 &&
           memcmp(store->chunks[store->slots[slot] - 1], chunk, CHUNK) != 0)
        slot = (slot + 1) & (store->slot_count - 1);
    return &store->slots[slot];
}

/* Keeps half of the slots free. */
static enum gsh_status reserve_slot(struct gsh_pack_chunks *store)
{
    if (2 * store->chunk_count < store->slot_count)
        return GSH_OK;
    free(store->slots);
    store->slot_count = GSH_MAX(2 * store->slot_count, 4096);
    store->slots = calloc(store->slot_count, sizeof *store->slots);
    if (store->slots == NULL)
        return GSH_FAILED;
    for (size_t i = 0; i < store->chunk_count; i++)
        *find_slot(store, store->chunks[i]) = (uint32_t)i + 1;
    return GSH_OK;
}

/* The number of the chunk, which is added where it is new. */
static enum gsh_status number(struct gsh_pack_chunks *store, const unsigned char chunk[CHUNK],
                              uint32_t *found)
{
    GSH_TRY(reserve_slot(store));
    uint32_t *slot = find_slot(store, chunk);
    if (*slot == 0) {
        GSH_TRY(append_chunk(store, chunk));
        *slot = (uint32_t)store->chunk_count;
    }
    *found = *slot - 1;
    return GSH_OK;
}

/* Makes the last extent one chunk longer, if that chunk is its next one. `begin`: the image's first extent. */
static bool extend(struct gsh_pack_chunks *store, uint64_t begin, uint32_t chunk)
{
    if (store->extent_count == begin)
        return false;
    uint32_t *last = &store->extents[store->extent_count - 1];
    uint32_t first = *last % GSH_CUDA_PACK_MAX_CHUNKS, count = *last >> 24;
    if (count == GSH_CUDA_PACK_MAX_EXTENT || chunk != first + count)
        return false;
    *last = gsh_cuda_pack_extent(first, count + 1);
    return true;
}

enum gsh_status gsh_pack_chunks_add(struct gsh_pack_chunks *store, const void *image, size_t bytes,
                                    uint64_t *extent)
{
    *extent = store->extent_count;
    for (size_t at = 0; at < bytes; at += CHUNK) {
        unsigned char chunk[CHUNK] = {0};
        uint32_t found;
        memcpy(chunk, (const char *)image + at, GSH_MIN(bytes - at, (size_t)CHUNK));
        GSH_TRY(number(store, chunk, &found));
        if (!extend(store, *extent, found))
            GSH_TRY(append_extent(store, found));
    }
    return GSH_OK;
}

void gsh_pack_chunks_free(struct gsh_pack_chunks *store)
{
    free(store->chunks);
    free(store->extents);
    free(store->slots);
    *store = (struct gsh_pack_chunks){0};
}
