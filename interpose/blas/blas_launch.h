/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts the arguments of a BLAS product to a launch, or computes the result with plain loops if
 * no library has the routine.
 */
#pragma once

#include "blas_entry.h"

/* A matrix operand of a product. Strides in elements. */
struct gsh_blas_view {
    void *address;
    int64_t row, column;
    bool is_conjugate;
};

/* The arguments of ?trmm and ?trsm in their order. A is a triangle, on one side of the m x n matrix
 * B. */
struct gsh_blas_triangular {
    char side, triangle, trans, diagonal;
    int64_t m, n;
    double _Complex alpha;
    void *a;
    int64_t lda;
    void *b;
    int64_t ldb;
};

struct gsh_blas_triangular gsh_blas_launch_read_triangular(const struct gsh_blas_entry_call *call);
/* Rows and columns of A. */
int64_t gsh_blas_launch_triangle_order(const struct gsh_blas_triangular *t);
/* False for arguments that BLAS refuses. */
bool gsh_blas_launch_is_legal_triangle(const struct gsh_blas_triangular *t);

/* A matrix stored by columns: as it is (trans 'N'), transposed, or conjugate-transposed. */
struct gsh_blas_view gsh_blas_launch_view(const struct gsh_blas_entry_call *call, void *address,
                                          int64_t leading, char trans);
/* Sets the strides of a, b and c in the product. */
void gsh_blas_launch_place(struct gsh_gemm *gemm, const struct gsh_blas_view *views);
/* Decides and runs the product of the views a and b into c. Returns false as gsh_blas_entry_launch
 * does. */
bool gsh_blas_launch_run(struct gsh_blas_entry_call *call, const struct gsh_gemm *gemm,
                         const struct gsh_blas_view *views);
/* Computes the product with plain loops. */
void gsh_blas_launch_run_reference(const struct gsh_blas_entry_call *call,
                                   const struct gsh_gemm *gemm, const struct gsh_blas_view *views);
