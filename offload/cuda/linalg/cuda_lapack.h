/* SPDX-License-Identifier: Apache-2.0
 *
 * The routines of kernels/lapack.def by cuSOLVER and cuBLAS, which are loaded when the first one runs.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* Pure. True also where the libraries have not been looked for yet. */
bool gsh_cuda_lapack_supports(const struct gsh_launch *launch);
/* Returns once it is known whether the routine has succeeded; copies to the outputs may still be running. DECLINED: a
 * matrix was singular, not positive definite, not finite or the like, or the libraries are absent; the outputs are
 * undefined, the inputs unchanged. Under the DISPATCH lock, with the context current. */
enum gsh_status gsh_cuda_lapack_run(const struct gsh_launch *launch, unsigned row);
/* backend.h, build: the kernels of ours that the routine launches. DISPATCH lock held, context current. */
bool gsh_cuda_lapack_build(const struct gsh_launch *launch);
/* backend.h, first_run_seconds. */
double gsh_cuda_lapack_first_run(const struct gsh_launch *launch);
