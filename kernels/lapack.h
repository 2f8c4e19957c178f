/* SPDX-License-Identifier: Apache-2.0
 *
 * The routines of linear algebra that a launch may run, each a generalised ufunc of numpy.linalg or a routine of
 * LAPACK: operands and cost. The table is lapack.def. Conventions (what is written where a matrix is not square,
 * which triangle is read) are those of NumPy's gufunc, or LAPACK's.
 */
#pragma once

#include "dtypes.h"

#define GSH_LAPACK_OPERANDS 4 /* of one routine, at most */

/* SOLVE_CONDITIONED, INV_CONDITIONED: the least 1 / (|A| |A^-1|), in units in the last place of 1; a matrix A with
 * at most this is declined. |A| is the larger of the 1-norm and the infinity norm, |A^-1| the 1-norm. SciPy warns
 * below 1. It estimates
 * A^-1| by ?gecon and, in versions up to 1.18 at least, takes the infinity norm of A (norm1_ of
 * scipy/linalg/src/_common_array_utils.hh). */
#define GSH_LAPACK_CONDITION 10

enum gsh_lapack_routine {
#define X(routine, ...) GSH_LAPACK_##routine,
#include "lapack.def"
#undef X
    GSH_LAPACK_COUNT
};

/* Routines from GETRF on: which variant of LAPACK's is meant. */
enum gsh_lapack_option {
    GSH_LAPACK_UPPER = 1U << 0, /* the upper triangle is read and written; else the lower one */
    GSH_LAPACK_TRANSPOSED =
        1U << 1, /* GETRS, TRTRS, SOLVE_CONDITIONED: solves with A's transpose; ORMQR: uses Q's */
    GSH_LAPACK_CONJUGATED = 1U << 2, /* and conjugated; only with TRANSPOSED */
    GSH_LAPACK_UNIT = 1U << 3,       /* TRTRS, TRTRI: the diagonal is taken for ones and not read */
    GSH_LAPACK_RIGHT = 1U << 4,      /* ORMQR: Q stands to the right of C; else to the left */
    /* SOLVE_CONDITIONED, INV_CONDITIONED: the structure of a matrix counts, as in SciPy. A triangular one is
     * declined, by SOLVE_CONDITIONED also a tridiagonal one of more than 3 rows. The inverse of a symmetric or
     * Hermitian one is made exactly symmetric or Hermitian. */
    GSH_LAPACK_DENSE = 1U << 5
};

struct gsh_lapack_operand {
    char dtype;   /* 'T', 'R', 'C' or 'I' */
    char dims[2]; /* letters of lapack.def; 0: none */
    int ndim;
};

struct gsh_lapack_info {
    const char *name;
    unsigned nin, nout;
    struct gsh_lapack_operand operands[GSH_LAPACK_OPERANDS]; /* inputs, then outputs */
    double host_share, device_share;                         /* of the rate of a matrix product */
    double device_column;                                    /* least seconds for each column */
    int64_t together; /* most rows and columns of matrices that may be computed side by side */
};

const struct gsh_lapack_info *gsh_lapack_info(enum gsh_lapack_routine routine);
/* The routine of a gufunc of numpy.linalg._umath_linalg, by its name in any version of NumPy; -1: not supported. */
int gsh_lapack_find(const char *gufunc);
/* The dtype of an operand, where `loop` is float32, float64, complex64 or complex128. */
enum gsh_dtype gsh_lapack_dtype(const struct gsh_lapack_operand *operand, enum gsh_dtype loop);
/* LSTSQ: singular values count as 0 up to this share of the largest one. `rcond` is ?gelsd's; a value that is not
 * between 0 and 1 stands for machine epsilon. */
double gsh_lapack_tolerance(double rcond, enum gsh_dtype loop);
/* LSTSQ: how many of `count` > 0 singular values of the loop's precision, in falling order, do not count as 0; the
 * same rule as in divide_rows of kernels/cuda/lapack.cuh. */
int64_t gsh_lapack_rank(const void *values, int64_t count, double rcond, enum gsh_dtype loop);
/* For one matrix of extents a[0] x a[1] (the first input) and right-hand sides of b[0] x b[1] (the last input), in
 * real arithmetic. */
double gsh_lapack_flops(enum gsh_lapack_routine routine, const int64_t *a, const int64_t *b);
/* Whether computing the matrices of a batch side by side, where a routine can, is faster than one after another.
 * The matrices have at most `longest` rows and columns. */
static inline bool gsh_lapack_is_many(int64_t batch, int64_t longest)
{
    return batch > 1 && longest <= 512 && longest <= 32 * batch;
}
