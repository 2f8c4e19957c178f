/* SPDX-License-Identifier: Apache-2.0
 *
 * The routines of linear algebra that a launch may ask for, each a generalised ufunc of
 * numpy.linalg or a routine of LAPACK: what it takes and gives, and what it costs. The table is lapack.def; conventions
 * (what is written where a matrix is no square, which triangle is read) are those of NumPy's gufunc, or LAPACK's.
 */
#pragma once

#include "dtypes.h"

#define GSH_LAPACK_OPERANDS 4 /* of one routine, at most */

/* SOLVE_CONDITIONED, INV_CONDITIONED: a matrix A is declined if 1 / (|A| |A^-1|) is found to be at most so many units in the last
 * place of 1, where |A| is the larger one of the 1-norm and of the infinity norm, and |A^-1| the 1-norm. SciPy warns below 1,
 * by ?gecon's estimate of |A^-1| and, in versions up to 1.18 at least, the infinity norm of A (norm1_ of
 * scipy/linalg/src/_common_array_utils.hh). */
#define GSH_LAPACK_CONDITION 10

enum gsh_lapack_routine {
#define X(routine, ...) GSH_LAPACK_##routine,
#include "lapack.def"
#undef X
    GSH_LAPACK_COUNT
};

/* Of the routines from GETRF on: which of LAPACK's variants is meant. */
enum gsh_lapack_option {
    GSH_LAPACK_UPPER = 1U << 0, /* the triangle that is read and written; else the lower one */
    GSH_LAPACK_TRANSPOSED =
        1U << 1, /* GETRS, TRTRS, SOLVE_CONDITIONED: A's transpose is solved with; ORMQR: Q's */
    GSH_LAPACK_CONJUGATED = 1U << 2, /* and conjugated; only with TRANSPOSED */
    GSH_LAPACK_UNIT = 1U << 3,       /* TRTRS, TRTRI: the diagonal is not read but taken for ones */
    GSH_LAPACK_RIGHT = 1U << 4,      /* ORMQR: Q is on the right side of C; else on the left one */
    /* SOLVE_CONDITIONED, INV_CONDITIONED: what SciPy makes of the structure that it finds in a matrix. A triangular one is declined,
     * and by SOLVE_CONDITIONED a tridiagonal one of more than 3 rows. The inverse of a symmetric or Hermitian one is exactly so. */
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
    double device_column; /* seconds that each column takes at least */
    int64_t together;     /* rows and columns up to which matrices may be worked on side by side */
};

const struct gsh_lapack_info *gsh_lapack_info(enum gsh_lapack_routine routine);
/* The routine of a gufunc of numpy.linalg._umath_linalg, by its name in any version of NumPy; -1: none of ours. */
int gsh_lapack_find(const char *gufunc);
/* The dtype of an operand, where `loop` is float32, float64, complex64 or complex128. */
enum gsh_dtype gsh_lapack_dtype(const struct gsh_lapack_operand *operand, enum gsh_dtype loop);
/* LSTSQ: the share of the largest singular value up to which one counts as 0, where ?gelsd is given `rcond`: itself, but
 * machine epsilon for one that is not between 0 and 1. */
double gsh_lapack_tolerance(double rcond, enum gsh_dtype loop);
/* LSTSQ: how many of `count` > 0 singular values of the loop's precision, which fall, do not count as 0; as divide_rows of
 * kernels/cuda/lapack.cuh has it. */
int64_t gsh_lapack_rank(const void *values, int64_t count, double rcond, enum gsh_dtype loop);
/* For one matrix of extents a[0] x a[1], and right-hand sides of b[0] x b[1], in real arithmetic: those of the first
 * and of the last input. */
double gsh_lapack_flops(enum gsh_lapack_routine routine, const int64_t *a, const int64_t *b);
/* Whether that is faster than one after another, where a routine can: for matrices of at most `longest` rows and columns. */
static inline bool gsh_lapack_is_many(int64_t batch, int64_t longest)
{
    return batch > 1 && longest <= 512 && longest <= 32 * batch;
}
