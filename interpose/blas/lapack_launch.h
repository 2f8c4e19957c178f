/* SPDX-License-Identifier: Apache-2.0
 *
 * What the routines of LAPACK have in common on their way to a launch: matrices stored by columns, pivots of either width,
 * workspaces that nobody needs, `info`. Any thread; never calls Python.
 */
#pragma once

#include "blas_entry.h"

/* The call becomes a launch of this routine, whose operands are placed afterwards. */
void gsh_lapack_launch_begin(struct gsh_blas_entry_call *call, enum gsh_lapack_routine routine,
                             unsigned options);
/* Operand k: a matrix whose columns are `leading` elements apart. */
void gsh_lapack_launch_matrix(struct gsh_blas_entry_call *call, unsigned k, const void *address,
                              int64_t rows, int64_t columns, int64_t leading);
/* The same of the transpose of such a matrix of `columns` rows. */
void gsh_lapack_launch_transpose(struct gsh_blas_entry_call *call, unsigned k, const void *address,
                                 int64_t rows, int64_t columns, int64_t leading);
void gsh_lapack_launch_vector(struct gsh_blas_entry_call *call, unsigned k, const void *address,
                              int64_t length);

/* Memory for results that the caller does not get as they are; NULL, with call->why. free(3) gives it back. */
void *gsh_lapack_launch_memory(struct gsh_blas_entry_call *call, int64_t count, size_t size);
/* Argument k, an array of integers of the caller's width, as or from int32_t. */
void gsh_lapack_launch_write_integers(const struct gsh_blas_entry_call *call, unsigned k,
                                      const int32_t *from, int64_t count);
/* False: some are not within 1..most. */
bool gsh_lapack_launch_read_pivots(const struct gsh_blas_entry_call *call, unsigned k, int32_t *to,
                                   int64_t count, int64_t most);
/* The pivots of ?sytrf: two equal ones of -count..-1 stand for a block of two rows. False: there are others. */
bool gsh_lapack_launch_read_block_pivots(const struct gsh_blas_entry_call *call, unsigned k,
                                         int32_t *to, int64_t count);

/* A workspace: its argument, that of its length, and the least length that LAPACK's documentation asks for. */
struct gsh_lapack_workspace {
    unsigned argument, length;
    int64_t least;
    char kind; /* 'T': of the call's dtype, 'R': of its real one, 'I': integers */
};
enum { GSH_LAPACK_WORKSPACES = 3 }; /* of one routine */
/* Whether all are long enough, by LAPACK's documentation or the original's own word: not so where the call asks for a
 * length (-1), which the original says. */
bool gsh_lapack_launch_has_space(const struct gsh_blas_entry_call *call,
                                 const struct gsh_lapack_workspace *spaces, unsigned count);
/* The end of a call that went well: info, and as the lengths that would do, those that were given. True. */
bool gsh_lapack_launch_end(const struct gsh_blas_entry_call *call,
                           const struct gsh_lapack_workspace *spaces, unsigned count);
/* True, with GSH_REASON_KEYWORDS noted where it is not: a variant that no device computes. */
bool gsh_lapack_launch_expect(struct gsh_blas_entry_call *call, bool is_understood);

/* LAPACK's letters: 0 where they are none of them. */
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
/* Of "N", "T", "C", of "U", "L" and of "U", "N": options of lapack.h. */
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
