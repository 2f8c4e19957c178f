/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers that turn LAPACK calls into launches: matrices stored by columns, pivots of either
 * integer width, workspaces (checked, but not used), `info`. Any thread; never calls Python.
 */
#pragma once

#include "blas_entry.h"

/* Makes the call a launch of this routine. The operands are placed afterwards. */
void gsh_lapack_launch_begin(struct gsh_blas_entry_call *call, enum gsh_lapack_routine routine,
                             unsigned options);
/* Operand k: a matrix whose columns are `leading` elements apart. */
void gsh_lapack_launch_matrix(struct gsh_blas_entry_call *call, unsigned k, const void *address,
                              int64_t rows, int64_t columns, int64_t leading);
/* The same for the transpose of a matrix with `columns` rows. */
void gsh_lapack_launch_transpose(struct gsh_blas_entry_call *call, unsigned k, const void *address,
                                 int64_t rows, int64_t columns, int64_t leading);
void gsh_lapack_launch_vector(struct gsh_blas_entry_call *call, unsigned k, const void *address,
                              int64_t length);

/* Memory for results that are converted before the caller gets them. Free with free(3). NULL, with
 * call->why. */
void *gsh_lapack_launch_memory(struct gsh_blas_entry_call *call, int64_t count, size_t size);
/* Argument k, an array of integers of the caller's width, written from int32_t. */
void gsh_lapack_launch_write_integers(const struct gsh_blas_entry_call *call, unsigned k,
                                      const int32_t *from, int64_t count);
/* Reads pivots. False: one is not within 1..most. */
bool gsh_lapack_launch_read_pivots(const struct gsh_blas_entry_call *call, unsigned k, int32_t *to,
                                   int64_t count, int64_t most);
/* Reads the pivots of ?sytrf: two equal pivots in -count..-1 represent a block of two rows. False:
 * another pivot occurs. */
bool gsh_lapack_launch_read_block_pivots(const struct gsh_blas_entry_call *call, unsigned k,
                                         int32_t *to, int64_t count);

/* A workspace: its argument, its length's argument, and the minimum length that LAPACK documents.
 */
struct gsh_lapack_workspace {
    unsigned argument, length;
    int64_t least;
    char kind; /* 'T': of the call's dtype, 'R': of its real one, 'I': integers */
};
enum { GSH_LAPACK_WORKSPACES = 3 }; /* of one routine */
/* Whether all workspaces are long enough by LAPACK's documentation or the original's answer to a
 * query. False if the call itself is a query (length -1), which the original answers. */
bool gsh_lapack_launch_has_space(const struct gsh_blas_entry_call *call,
                                 const struct gsh_lapack_workspace *spaces, unsigned count);
/* Ends a successful call: sets info to 0 and, as required lengths, returns the lengths that were
 * given. True. */
bool gsh_lapack_launch_end(const struct gsh_blas_entry_call *call,
                           const struct gsh_lapack_workspace *spaces, unsigned count);
/* Returns is_understood. If it is false, sets call->why to GSH_REASON_KEYWORDS: no device computes
 * the variant. */
bool gsh_lapack_launch_expect(struct gsh_blas_entry_call *call, bool is_understood);

/* LAPACK's letters. The option functions return 0 for an unknown letter. */
static inline bool gsh_lapack_launch_is_triangle(char letter)
{
    return letter == 'U' || letter == 'L';
}
static inline bool gsh_lapack_launch_is_transposition(char letter)
{
    return letter == 'N' || letter == 'T' || letter == 'C';
}
static inline bool gsh_lapack_launch_is_diagonal(char letter)
{
    return letter == 'U' || letter == 'N';
}
/* Options of lapack.h for "N", "T", "C", for "U", "L" and for "U", "N". */
static inline unsigned gsh_lapack_launch_transposition(char letter)
{
    return letter == 'N'   ? 0
           : letter == 'T' ? GSH_LAPACK_TRANSPOSED
                           : GSH_LAPACK_TRANSPOSED | GSH_LAPACK_CONJUGATED;
}
static inline unsigned gsh_lapack_launch_triangle(char letter)
{
    return letter == 'U' ? GSH_LAPACK_UPPER : 0;
}
static inline unsigned gsh_lapack_launch_diagonal(char letter)
{
    return letter == 'U' ? GSH_LAPACK_UNIT : 0;
}
