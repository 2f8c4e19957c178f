/* SPDX-License-Identifier: Apache-2.0
 *
 * From the arguments of a product of BLAS to its launch, or to its result where no library has it.
 */
#pragma once

#include "blas_entry.h"

/* A matrix as a product reads it. Strides in elements. */
struct gsh_blas_view {
    void *address;
    int64_t row, column;
    bool is_conjugate;
};

/* A matrix that is stored by columns, as it stands (trans 'N'), transposed, or conjugated as well. */
struct gsh_blas_view gsh_blas_launch_view(const struct gsh_blas_entry_call *call, void *address,
                                          int64_t leading, char trans);
/* Puts the strides of a, b and c into the product. */
void gsh_blas_launch_place(struct gsh_gemm *gemm, const struct gsh_blas_view *views);
/* Decides and runs the product of the views a and b into c; false as gsh_blas_entry_launch. */
bool gsh_blas_launch_run(struct gsh_blas_entry_call *call, const struct gsh_gemm *gemm,
                         const struct gsh_blas_view *views);
/* Computes it by plain loops. */
void gsh_blas_launch_stand_in(const struct gsh_blas_entry_call *call, const struct gsh_gemm *gemm,
                              const struct gsh_blas_view *views);
