/* SPDX-License-Identifier: Apache-2.0
 *
 * What source.c (elementwise) and source_reduce.c share. An argument struct is a sequence of 8-byte
 * words, so that C builds it word by word and CUDA C++ declares it without padding.
 */
#pragma once

#include "source.h"

#include <string.h>

#define GSH_SOURCE_BLOCK 256 /* threads */

/* Appends a word to the stage's arguments; DECLINED where they are full. */
static inline enum gsh_status gsh_source_put(struct gsh_source_stage *stage, uint64_t word)
{
    if (stage->argument_bytes + sizeof(word) > sizeof(stage->arguments))
        return GSH_DECLINED;
    memcpy(stage->arguments + stage->argument_bytes, &word, sizeof(word));
    stage->argument_bytes += sizeof(word);
    return GSH_OK;
}

/* Appends `count` words and a 0 for each up to `room`. */
static inline enum gsh_status gsh_source_put_many(struct gsh_source_stage *stage,
                                                  const int64_t *words, int count, int room)
{
    for (int i = 0; i < room; i++)
        GSH_TRY(gsh_source_put(stage, i < count ? (uint64_t)words[i] : 0));
    return GSH_OK;
}

/* Appends "_part" to a key. */
static inline void gsh_source_key_part(struct gsh_fmt *key, const char *part)
{
    gsh_fmt_text(key, "_");
    gsh_fmt_text(key, part);
}

/* The type of an element in memory, in the prelude's terms. */
static inline const char *gsh_source_stored(enum gsh_dtype dtype)
{
    return dtype == GSH_BOOL ? "Bool" : gsh_dtype_cuda_type(dtype);
}

/* Sets a one-dimensional grid; DECLINED where it is larger than CUDA allows. */
static inline enum gsh_status gsh_source_set_grid(struct gsh_source_stage *stage, int64_t blocks)
{
    if (blocks > INT32_MAX)
        return GSH_DECLINED;
    stage->grid[0] = (unsigned)blocks;
    stage->grid[1] = stage->grid[2] = stage->block[1] = stage->block[2] = 1;
    stage->block[0] = GSH_SOURCE_BLOCK;
    return GSH_OK;
}

size_t gsh_source_reduce_scratch(const struct gsh_launch *launch);
enum gsh_status gsh_source_reduce_plan(const struct gsh_launch *launch, uint64_t scratch,
                                       struct gsh_source_plan *plan);
void gsh_source_reduce_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);
