/* SPDX-License-Identifier: Apache-2.0
 *
 * The tree that joins the elements of a reduction on the CPU. It uses the elementwise loop that joins two partial
 * results. The caller passes the elements as accumulators (of gsh_host_loops_dtype of the loop's dtype), in one of
 * two schemes:
 *
 *   rows     one output at a time: its elements in blocks of 512; a block is folded in halves (a
 *            balanced tree)
 *   columns  neighbouring outputs side by side: blocks of 16 rows, joined one after the other
 *
 * An ordered reduction (gsh_reduction_is_ordered) is one block, joined one after the other from the beginning value.
 * In other reductions the blocks' results go up a cascade: level l holds the join of 2^l blocks. So the tree's depth
 * is logarithmic, and its form depends on the number of elements only. 2^l blocks, from a multiple of 2^l on, may be
 * joined separately and given back as one. Elements left out by a mask are replaced by a value that changes nothing.
 * An output without any element is its beginning, unchanged by a join (gcd and hypot would make it positive).
 */
#pragma once

#include "host_fp_check.h"
#include "host_loops.h"

#define GSH_HOST_TREE_ROW_BLOCK GSH_HOST_BLOCK /* elements */
#define GSH_HOST_TREE_COLUMN_BLOCK 16          /* rows */
#define GSH_HOST_TREE_COLUMN_BYTES 2048        /* of the outputs that are computed side by side */
#define GSH_HOST_TREE_LEVELS 44 /* 2^44 blocks are more than an address space holds */

/* What is reduced, the same for all outputs. */
struct gsh_host_tree_kind {
    enum gsh_reduction reduction; /* not an INDEX row */
    enum gsh_dtype loop;
    bool has_mask, has_initial;
    union gsh_scalar initial;
    struct gsh_error_sink errors;
};

struct gsh_host_tree {
    struct gsh_host_tree_kind kind;
    enum gsh_dtype array; /* dtype of the accumulators */
    int64_t size;         /* bytes of an accumulator */
    gsh_host_loop *loop;  /* joins two accumulators */
    int64_t width;        /* outputs computed at a time */
    int64_t rows;         /* rows joined in the current block of columns */
    bool begins;          /* a reduction starts with `beginning` */
    bool is_ordered;      /* elements are joined one after the other */
    _Alignas(16) char beginning[16],
        filler[16]; /* accumulators; masked elements are replaced by the filler */
    bool checks_errors;
    struct gsh_host_fp_check check;
    bool has_element[GSH_HOST_TREE_COLUMN_BYTES]; /* of each output, where there is a mask */
    uint64_t count;                               /* blocks in the cascade */
    _Alignas(64) char levels[GSH_HOST_TREE_LEVELS][GSH_HOST_TREE_COLUMN_BYTES];
    _Alignas(64) char block[GSH_HOST_TREE_COLUMN_BYTES];
    struct gsh_host_buffer row, joined;
};

/* The join of some blocks. */
struct gsh_host_tree_part {
    _Alignas(64) char values[GSH_HOST_TREE_COLUMN_BYTES];
    bool has_element[GSH_HOST_TREE_COLUMN_BYTES];
};

void gsh_host_tree_init(struct gsh_host_tree *tree, const struct gsh_host_tree_kind *kind);
/* Begins the next `width` outputs: 1 by rows; by columns, as many as the bytes allow. */
void gsh_host_tree_begin(struct gsh_host_tree *tree, int64_t width);
/* Rows: adds the next block of the output; only the last block may be short. `mask`, of `n` bytes, is given only
 * where there is one. `values` may be tree->row; otherwise it is not changed. */
void gsh_host_tree_push_row(struct gsh_host_tree *tree, const void *values, const void *mask,
                            int64_t n);
/* Columns: adds the next element of each output. */
void gsh_host_tree_push_column(struct gsh_host_tree *tree, const void *values, const void *mask);
/* Moves the join of the blocks since the tree began, exactly 2^level of them, into `part`. */
void gsh_host_tree_take(struct gsh_host_tree *tree, int level, struct gsh_host_tree_part *part);
/* Adds a part again. The blocks so far are a multiple of 2^level. Overwrites the part. */
void gsh_host_tree_give(struct gsh_host_tree *tree, int level, struct gsh_host_tree_part *part);
/* Writes the outputs, `stride` bytes apart, cast to the dtype. */
void gsh_host_tree_finish(struct gsh_host_tree *tree, void *out, enum gsh_dtype dtype,
                          int64_t stride);
