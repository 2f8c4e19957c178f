/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts that the source_*.c files share. An argument struct is a sequence of 8-byte words: C builds it word by word
 * and CUDA C++ declares it without padding. A text is a prelude (types, casts, the helpers that its expressions
 * name), the definitions that the launch decides, and the kernel itself.
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

static inline int64_t gsh_source_divide_up(int64_t x, int64_t unit)
{
    return x / unit + (x % unit != 0);
}

/* The least power of two that is at least x, but at most `limit`, which is a power of two. */
static inline int64_t gsh_source_power_of_two(int64_t x, int64_t limit)
{
    int64_t power = 1;
    while (power < x && power < limit)
        power *= 2;
    return power;
}

/* Appends "_part" to a key. */
static inline void gsh_source_key_part(struct gsh_fmt *key, const char *part)
{
    gsh_fmt_text(key, "_");
    gsh_fmt_text(key, part);
}

/* Appends NumPy's letter of a dtype to a key. */
static inline void gsh_source_key_dtype(struct gsh_fmt *key, enum gsh_dtype dtype)
{
    gsh_fmt_text(key, (const char[]){gsh_dtype_numpy_char(dtype), '\0'});
}

/* Sets a one-dimensional grid that is launched once; DECLINED where it is larger than CUDA allows. */
static inline enum gsh_status gsh_source_set_grid(struct gsh_source_stage *stage, int64_t blocks)
{
    if (blocks > INT32_MAX)
        return GSH_DECLINED;
    stage->grid[0] = (unsigned)blocks;
    stage->grid[1] = stage->grid[2] = stage->block[1] = stage->block[2] = 1;
    stage->block[0] = GSH_SOURCE_BLOCK;
    stage->runs = 1;
    return GSH_OK;
}

/* What a text's prelude depends on. */
struct gsh_source_prelude {
    unsigned dtypes;            /* bit set: every dtype that occurs */
    const char *expressions[3]; /* the gsh_ helpers that they call are defined; NULL: none */
    bool is_half;               /* the loop is float16's; values are floats */
    bool propagates_nan;        /* NaN results are x86-64's; reductions do not need it */
    bool errors;                /* cuda/math/errors.cuh is needed */
    bool collective;            /* cuda/collective.cuh is needed */
};

/* Writes the constants is_half and PROPAGATES_NAN, the macro ERRORS and the sections of kernels/cuda/ that
 * the prelude asks for. */
void gsh_source_text_write_prelude(struct gsh_fmt *fmt, const struct gsh_source_prelude *prelude);
/* Appends the launch's error sink: the members of a Sink. */
enum gsh_status gsh_source_text_put_sink(struct gsh_source_stage *stage,
                                         const struct gsh_launch *launch);
/* The magic number by which divide() of cuda/memory.cuh divides by d, 0 < d < 2^31. Undefined for other d. */
uint64_t gsh_source_text_magic(int64_t d);
/* The same for each of `count` divisors, and a 0 for each up to `room`. */
enum gsh_status gsh_source_text_put_magic(struct gsh_source_stage *stage, const int64_t *divisors,
                                          int count, int room);

/* Whether a launch has a kernel, apart from the size of its grid. */
bool gsh_source_elementwise_is_made(const struct gsh_launch *launch);
enum gsh_status gsh_source_elementwise_plan(const struct gsh_launch *launch, uint64_t scratch,
                                            struct gsh_source_plan *plan);
void gsh_source_elementwise_text(const struct gsh_launch *launch, unsigned stage,
                                 struct gsh_fmt *fmt);

size_t gsh_source_reduce_scratch(const struct gsh_launch *launch);
bool gsh_source_reduce_is_made(const struct gsh_launch *launch);
enum gsh_status gsh_source_reduce_plan(const struct gsh_launch *launch, uint64_t scratch,
                                       struct gsh_source_plan *plan);
void gsh_source_reduce_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);

/* Of products that BLAS computes too: narrow ones. */
bool gsh_source_product_is_made(const struct gsh_launch *launch);
size_t gsh_source_product_scratch(const struct gsh_launch *launch);
enum gsh_status gsh_source_product_plan(const struct gsh_launch *launch, uint64_t scratch,
                                        struct gsh_source_plan *plan);
void gsh_source_product_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);

enum gsh_status gsh_source_spmv_plan(const struct gsh_launch *launch, uint64_t scratch,
                                     struct gsh_source_plan *plan);
void gsh_source_spmv_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);

bool gsh_source_filter_is_made(const struct gsh_launch *launch);
enum gsh_status gsh_source_filter_plan(const struct gsh_launch *launch, uint64_t scratch,
                                       struct gsh_source_plan *plan);
void gsh_source_filter_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);

enum gsh_status gsh_source_selection_plan(const struct gsh_launch *launch, uint64_t scratch,
                                          struct gsh_source_plan *plan);
void gsh_source_selection_text(const struct gsh_launch *launch, unsigned stage,
                               struct gsh_fmt *fmt);

enum gsh_status gsh_source_search_plan(const struct gsh_launch *launch, uint64_t scratch,
                                       struct gsh_source_plan *plan);
void gsh_source_search_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);
