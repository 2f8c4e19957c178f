/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments with which BLAS, or a library with its interface, computes a product of a form other than GE
 * (launch.h): ?syrk, ?herk, ?syr2k, ?her2k, ?symm, ?hemm, ?trmm.
 */
#pragma once

#include "launch.h"

/* Letters and the names m, n, k as BLAS defines them. For updates k is the length of the sums; for other forms m
 * and n are C's extents. */
struct gsh_blas_arguments {
    char side, triangle, trans, diagonal;
    int64_t m, n, k;
    unsigned a, b; /* the launch's operands that BLAS calls A and B */
    int64_t a_leading, b_leading, c_leading;
};

/* Whether an argument needs more than 32 bits. */
static inline bool gsh_blas_arguments_are_wide(const struct gsh_blas_arguments *arguments)
{
    int64_t largest = GSH_MAX(GSH_MAX(arguments->m, arguments->n), arguments->k);
    largest = GSH_MAX(largest, GSH_MAX(arguments->a_leading, arguments->b_leading));
    return GSH_MAX(largest, arguments->c_leading) > INT32_MAX;
}

/* False where BLAS cannot express the strides. */
bool gsh_blas_form_describe(const struct gsh_gemm *gemm, struct gsh_blas_arguments *arguments);
