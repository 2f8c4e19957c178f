/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps each routine to its function, and opens the libraries. Handles are ours alone and keep their modes: cuSOLVER
 * deterministic, cuBLAS without TF32. Everything under the DISPATCH lock.
 */
#include "cuda_lapack.h"

#include "cuda_lapack_routines.h"
#include "cuda_loader.h"
#include "cuda_module.h"
#include "stats.h"

#include <limits.h>

#define KERNEL(name) (UINT64_C(1) << GSH_CUDA_LAPACK_##name)
#define LOOK (KERNEL(look_for_infinite) | KERNEL(look_for_nonzero) | KERNEL(turn))
#define LU (LOOK | KERNEL(judge_diagonal))
#define SOLVE (LU | KERNEL(trace_rows) | KERNEL(order_rows))
#define INV (LU | KERNEL(trace_rows) | KERNEL(make_permutation))
#define CHOLESKY (LU | KERNEL(clear_triangle))
#define EIGH (LOOK | KERNEL(clear_triangle))
#define SVD (LOOK | KERNEL(copy_block) | KERNEL(clear_triangle))
_Static_assert(GSH_CUDA_LAPACK_KERNEL_COUNT <= 64, "a kernel is a bit");

/* The kernels of ours that a routine launches for one matrix in C order. Others that it may need, as for batches, are compiled in
 * the call. */
#define ROUTINE(name, function, kernels) [GSH_LAPACK_##name] = {gsh_cuda_lapack_##function, kernels}
static const struct {
    gsh_cuda_lapack_routine *run;
    uint64_t kernels;
} routines[GSH_LAPACK_COUNT] = {
    ROUTINE(SOLVE, lu_solve, SOLVE),
    ROUTINE(SOLVE1, lu_solve, SOLVE),
    ROUTINE(INV, lu_inv, INV),
    ROUTINE(DET, lu_det, LU | KERNEL(multiply_diagonal)),
    ROUTINE(SLOGDET, lu_det, LU | KERNEL(multiply_diagonal)),
    ROUTINE(CHOLESKY_LO, symmetric_cholesky, CHOLESKY),
    ROUTINE(CHOLESKY_UP, symmetric_cholesky, CHOLESKY),
    ROUTINE(QR_R_RAW, qr_raw, LOOK),
    ROUTINE(QR_REDUCED, qr_form, LOOK),
    ROUTINE(QR_COMPLETE, qr_form, LOOK),
    ROUTINE(SVD, svd, SVD),
    ROUTINE(SVD_S, svd, SVD),
    ROUTINE(SVD_F, svd, SVD),
    ROUTINE(EIGH_LO, symmetric_eigh, EIGH),
    ROUTINE(EIGH_UP, symmetric_eigh, EIGH),
    ROUTINE(EIGVALSH_LO, symmetric_eigh, EIGH),
    ROUTINE(EIGVALSH_UP, symmetric_eigh, EIGH),
    ROUTINE(EIG, eig, LOOK | KERNEL(unpack_vectors)),
    ROUTINE(EIGVALS, eig, LOOK),
    ROUTINE(GETRF, lu_getrf, LU | KERNEL(convert_pivots)),
    ROUTINE(GETRS, lu_getrs, SOLVE),
    ROUTINE(POTRF, symmetric_potrf, LU | KERNEL(copy_triangle)),
    ROUTINE(POTRS, symmetric_potrs, LOOK),
    ROUTINE(TRTRS, triangle_trtrs, LU),
    ROUTINE(LSTSQ, lstsq, LOOK | KERNEL(divide_rows)),
    ROUTINE(GELS, gels, LU),
    ROUTINE(GETRI, lu_getri, INV),
    ROUTINE(POTRI, symmetric_potri, LU | KERNEL(make_identity) | KERNEL(copy_triangle)),
    ROUTINE(TRTRI, triangle_trtri, LU | KERNEL(make_identity) | KERNEL(copy_triangle)),
    ROUTINE(ORMQR, qr_ormqr, LOOK),
    ROUTINE(SYTRF, indefinite_sytrf, LOOK | KERNEL(judge_blocks) | KERNEL(widen_pivots)),
    ROUTINE(SYTRS, indefinite_sytrs, LOOK),
    ROUTINE(SYTRI, indefinite_sytri, LOOK),
    ROUTINE(SOLVE_CONDITIONED, lu_solve_conditioned, LOOK),
    ROUTINE(INV_CONDITIONED, lu_inv_conditioned, LOOK),
};

static enum gsh_status open_handles(void)
{
    struct gsh_cuda_lapack_handles *handles = &gsh_cuda_lapack;
    GSH_TRY(GSH_CUBLAS(gsh_cublas.cublasCreate_v2(&handles->blas)));
    GSH_TRY(GSH_CUBLAS(gsh_cublas.cublasSetStream_v2(handles->blas, gsh_cuda.compute)));
    GSH_TRY(gsh_cuda_compile_thread_go_on());
    GSH_TRY(GSH_CUSOLVER(gsh_cusolver.cusolverDnCreate(&handles->solver)));
    GSH_TRY(GSH_CUSOLVER(gsh_cusolver.cusolverDnSetStream(handles->solver, gsh_cuda.compute)));
    GSH_TRY(GSH_CUSOLVER(gsh_cusolver.cusolverDnCreateParams(&handles->params)));
    GSH_TRY(GSH_CUSOLVER(gsh_cusolver.cusolverDnCreateGesvdjInfo(&handles->jacobi)));
    return GSH_CUSOLVER(gsh_cusolver.cusolverDnCreateSyevjInfo(&handles->jacobi_symmetric));
}

struct gsh_cuda_loader gsh_cuda_lapack_loader = {
    .work = "linear algebra stays",
    .libraries = {GSH_CUDA_LIBRARY_CUBLAS, GSH_CUDA_LIBRARY_CUSOLVER},
    .library_count = 2,
    .get_property = &gsh_cusolver.cusolverGetProperty,
    .open_handles = open_handles,
    .kept = GSH_CUDA_LOAD_TIME_CUSOLVER,
    .seconds = 1,
    .seconds_at_hand = 0.1,
    .needs = &gsh_cuda_blas_loader,
};

/* Most routines count a matrix's elements in an int. */
static bool is_countable(const struct gsh_core *core)
{
    return core->extent[0] > 0 && core->extent[1] > 0 &&
           core->extent[0] <= INT_MAX / core->extent[1];
}

/* Whether the loaded library has the functions that the routine needs. */
static bool has_functions(enum gsh_lapack_routine routine)
{
    switch (routine) {
    case GSH_LAPACK_EIG:
    case GSH_LAPACK_EIGVALS:
        return gsh_cusolver.cusolverDnXgeev != NULL;
    case GSH_LAPACK_SYTRS:
    case GSH_LAPACK_SYTRI:
        return gsh_cusolver.cusolverDnXsytrs != NULL &&
               gsh_cusolver.cusolverDnXsytrs_bufferSize != NULL;
    default:
        return true;
    }
}

bool gsh_cuda_lapack_supports(const struct gsh_launch *launch)
{
    const struct gsh_lapack_info *info = gsh_lapack_info(launch->lapack.routine);
    enum gsh_cuda_loader_state seen = gsh_cuda_loader_state(&gsh_cuda_lapack_loader);
    if (seen == GSH_CUDA_ABSENT ||
        (seen == GSH_CUDA_READY && !has_functions(launch->lapack.routine)))
        return false;
    if (launch->ndim + 2 > GSH_MAX_DIMS || launch->nin != info->nin || launch->nout != info->nout)
        return false;
    if (((1u << launch->loop) & (unsigned)GSH_SET_BLAS) == 0)
        return false;
    for (unsigned k = 0; k < info->nin + info->nout; k++)
        if (launch->operands[k].is_constant || !is_countable(&launch->lapack.cores[k]) ||
            launch->operands[k].dtype != gsh_lapack_dtype(&info->operands[k], launch->loop))
            return false;
    return gsh_launch_elements(launch) <= INT_MAX;
}

/* H100, float64, n = 1024, library open: solve, inv 29 ms, Cholesky, QR 26, eigenvalues of symmetric matrices 92, singular values
 * 82, with vectors 110 to 310, eigenvalues 325. */
double gsh_cuda_lapack_first_run(const struct gsh_launch *launch)
{
    uint64_t kernels = routines[launch->lapack.routine].kernels;
    if ((kernels & KERNEL(unpack_vectors)) != 0)
        return 0.3;
    return kernels == EIGH || kernels == SVD ? 0.1 : 0.03;
}

bool gsh_cuda_lapack_build(const struct gsh_launch *launch)
{
    uint64_t kernels = routines[launch->lapack.routine].kernels;
    bool is_built = true;
    for (unsigned k = 0; k < GSH_CUDA_LAPACK_KERNEL_COUNT; k++) {
        char key[GSH_CUDA_LAPACK_KEY];
        const struct gsh_cuda_lapack_kernel_text text = {(enum gsh_cuda_lapack_call_kernel)k,
                                                         launch->loop};
        if ((kernels >> k & 1) == 0)
            continue;
        gsh_cuda_lapack_kernels_name(&text, key);
        is_built &= gsh_cuda_module_build_text(key, gsh_cuda_lapack_kernels_write, &text);
    }
    return is_built;
}

enum gsh_status gsh_cuda_lapack_run(const struct gsh_launch *launch, unsigned row)
{
    struct gsh_cuda_lapack_call call;
    if (!gsh_cuda_lapack_supports(launch) || !gsh_cuda_loader_is_ready(&gsh_cuda_lapack_loader) ||
        !gsh_cuda_lapack_supports(launch))
        return GSH_DECLINED;
    enum gsh_status status = gsh_cuda_lapack_call_begin(&call, launch, row);
    if (status == GSH_OK)
        status = routines[launch->lapack.routine].run(&call);
    if (status == GSH_OK)
        status = gsh_cuda_lapack_call_judge(&call);
    gsh_cuda_lapack_call_end(&call);
    gsh_stats_add(GSH_COUNTER_LAUNCHES, 1);
    return status;
}
