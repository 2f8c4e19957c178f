/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps each routine to its function, and opens the libraries. Handles are ours alone and keep their modes: cuSOLVER
 * deterministic, cuBLAS without TF32. Everything under the DISPATCH lock.
 */
#include "cuda_lapack.h"

#include "cuda_lapack_routines.h"
#include "cuda_loader.h"
#include "stats.h"

#include <limits.h>

#define ROUTINE(name, function) [GSH_LAPACK_##name] = gsh_cuda_lapack_##function
static gsh_cuda_lapack_routine *const routines[GSH_LAPACK_COUNT] = {
    ROUTINE(SOLVE, lu_solve),
    ROUTINE(SOLVE1, lu_solve),
    ROUTINE(INV, lu_inv),
    ROUTINE(DET, lu_det),
    ROUTINE(SLOGDET, lu_det),
    ROUTINE(CHOLESKY_LO, symmetric_cholesky),
    ROUTINE(CHOLESKY_UP, symmetric_cholesky),
    ROUTINE(QR_R_RAW, qr_raw),
    ROUTINE(QR_REDUCED, qr_form),
    ROUTINE(QR_COMPLETE, qr_form),
    ROUTINE(SVD, svd),
    ROUTINE(SVD_S, svd),
    ROUTINE(SVD_F, svd),
    ROUTINE(EIGH_LO, symmetric_eigh),
    ROUTINE(EIGH_UP, symmetric_eigh),
    ROUTINE(EIGVALSH_LO, symmetric_eigh),
    ROUTINE(EIGVALSH_UP, symmetric_eigh),
    ROUTINE(EIG, eig),
    ROUTINE(EIGVALS, eig),
    ROUTINE(GETRF, lu_getrf),
    ROUTINE(GETRS, lu_getrs),
    ROUTINE(POTRF, symmetric_potrf),
    ROUTINE(POTRS, symmetric_potrs),
    ROUTINE(TRTRS, triangle_trtrs),
    ROUTINE(LSTSQ, lstsq),
    ROUTINE(GELS, gels),
    ROUTINE(GETRI, lu_getri),
    ROUTINE(POTRI, symmetric_potri),
    ROUTINE(TRTRI, triangle_trtri),
    ROUTINE(ORMQR, qr_ormqr),
    ROUTINE(SYTRF, indefinite_sytrf),
    ROUTINE(SYTRS, indefinite_sytrs),
    ROUTINE(SYTRI, indefinite_sytri),
    ROUTINE(SOLVE_CONDITIONED, lu_solve_conditioned),
    ROUTINE(INV_CONDITIONED, lu_inv_conditioned),
};

static enum gsh_status open_handles(void)
{
    struct gsh_cuda_lapack_handles *handles = &gsh_cuda_lapack;
    GSH_TRY(GSH_CUBLAS(gsh_cublas.cublasCreate_v2(&handles->blas)));
    GSH_TRY(GSH_CUBLAS(gsh_cublas.cublasSetStream_v2(handles->blas, gsh_cuda.compute)));
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
    .seconds = 1,
};

/* Most routines count a matrix's elements in an int. */
static bool is_countable(const struct gsh_core *core)
{
    int64_t longest = GSH_MAX(core->extent[0], core->extent[1]);
    return core->extent[0] > 0 && core->extent[1] > 0 && longest <= INT_MAX / longest;
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

enum gsh_status gsh_cuda_lapack_run(const struct gsh_launch *launch, unsigned row)
{
    struct gsh_cuda_lapack_call call;
    if (!gsh_cuda_lapack_supports(launch) || !gsh_cuda_loader_is_ready(&gsh_cuda_lapack_loader) ||
        !gsh_cuda_lapack_supports(launch))
        return GSH_DECLINED;
    enum gsh_status status = gsh_cuda_lapack_call_begin(&call, launch, row);
    if (status == GSH_OK)
        status = routines[launch->lapack.routine](&call);
    if (status == GSH_OK)
        status = gsh_cuda_lapack_call_judge(&call);
    gsh_cuda_lapack_call_end(&call);
    gsh_stats_add(GSH_COUNTER_LAUNCHES, 1);
    return status;
}
