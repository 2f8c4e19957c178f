/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of CUDA's interface that the library uses, declared by hand so that it builds without a CUDA toolkit.
 * These functions are never linked: cuda_libs.h makes one table of pointers per library from their prototypes.
 * tests/unit/offload/cuda/driver/test_cuda_tables.c includes NVIDIA's headers, where they exist, before this one: the
 * compiler then compares every prototype, and the test checks each constant.
 */
#pragma once

#include "cuda_driver_types.h"

#include <stddef.h>
#include <stdint.h>

/* The layout of CUmemPoolProps: memory of one device, all reserved fields zero. */
struct CUmemPoolProps_st;
struct gsh_cuda_pool_props {
    gsh_cuda_enum allocation_type, handle_types, location_type;
    int location_id;
    unsigned char reserved[72];
};

/* driver: functions (docs.nvidia.com/cuda/cuda-driver-api); names are the exported ones */
gsh_cuda_enum cuInit(unsigned flags);
gsh_cuda_enum cuDriverGetVersion(int *version);
gsh_cuda_enum cuGetErrorName(gsh_cuda_enum error, const char **name);
gsh_cuda_enum cuGetErrorString(gsh_cuda_enum error, const char **text);
gsh_cuda_enum cuDeviceGetCount(int *count);
gsh_cuda_enum cuDeviceGet(CUdevice *device, int ordinal);
gsh_cuda_enum cuDeviceGetName(char *name, int length, CUdevice device);
gsh_cuda_enum cuDeviceGetAttribute(int *value, gsh_cuda_enum attribute, CUdevice device);
gsh_cuda_enum cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
gsh_cuda_enum cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
gsh_cuda_enum cuDevicePrimaryCtxRelease_v2(CUdevice device);
gsh_cuda_enum cuCtxGetCurrent(CUcontext *context);
gsh_cuda_enum cuCtxPushCurrent_v2(CUcontext context);
gsh_cuda_enum cuCtxPopCurrent_v2(CUcontext *context);
gsh_cuda_enum cuThreadExchangeStreamCaptureMode(gsh_cuda_enum *mode);
gsh_cuda_enum cuStreamCreate(CUstream *stream, unsigned flags);
gsh_cuda_enum cuStreamSynchronize(CUstream stream);
gsh_cuda_enum cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
gsh_cuda_enum cuStreamGetCtx(CUstream stream, CUcontext *context);
gsh_cuda_enum cuStreamIsCapturing(CUstream stream, gsh_cuda_enum *status);
gsh_cuda_enum cuPointerGetAttribute(void *value, gsh_cuda_enum attribute, CUdeviceptr address);
gsh_cuda_enum cuEventCreate(CUevent *event, unsigned flags);
gsh_cuda_enum cuEventDestroy_v2(CUevent event);
gsh_cuda_enum cuEventRecord(CUevent event, CUstream stream);
gsh_cuda_enum cuEventQuery(CUevent event);
gsh_cuda_enum cuEventSynchronize(CUevent event);
gsh_cuda_enum cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
gsh_cuda_enum cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
gsh_cuda_enum cuMemPoolCreate(CUmemoryPool *pool, const struct CUmemPoolProps_st *props);
gsh_cuda_enum cuMemPoolSetAttribute(CUmemoryPool pool, gsh_cuda_enum attribute, void *value);
gsh_cuda_enum cuMemPoolGetAttribute(CUmemoryPool pool, gsh_cuda_enum attribute, void *value);
gsh_cuda_enum cuMemPoolTrimTo(CUmemoryPool pool, size_t keep_bytes);
gsh_cuda_enum cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool pool,
                                      CUstream stream);
gsh_cuda_enum cuMemFreeAsync(CUdeviceptr address, CUstream stream);
gsh_cuda_enum cuMemHostAlloc(void **address, size_t size, unsigned flags);
gsh_cuda_enum cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *address, unsigned flags);
gsh_cuda_enum cuMemHostRegister_v2(void *address, size_t size, unsigned flags);
gsh_cuda_enum cuMemHostUnregister(void *address);
gsh_cuda_enum cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t size, CUstream stream);
gsh_cuda_enum cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t size, CUstream stream);
gsh_cuda_enum cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream);
gsh_cuda_enum cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t size, CUstream stream);
gsh_cuda_enum cuModuleLoadData(CUmodule *module, const void *image);
gsh_cuda_enum cuModuleUnload(CUmodule module);
gsh_cuda_enum cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
gsh_cuda_enum cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_bytes, CUstream stream, void **parameters,
                             void **extra);

/* NVRTC (docs.nvidia.com/cuda/nvrtc) */
typedef struct _nvrtcProgram *nvrtcProgram;
#define GSH_NVRTC_SUCCESS 0U

gsh_cuda_enum nvrtcVersion(int *major, int *minor);
const char *nvrtcGetErrorString(gsh_cuda_enum result);
gsh_cuda_enum nvrtcGetNumSupportedArchs(int *count);
gsh_cuda_enum nvrtcGetSupportedArchs(int *archs);
gsh_cuda_enum nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
                                 int header_count, const char *const *headers,
                                 const char *const *include_names);
gsh_cuda_enum nvrtcDestroyProgram(nvrtcProgram *program);
gsh_cuda_enum nvrtcCompileProgram(nvrtcProgram program, int option_count,
                                  const char *const *options);
gsh_cuda_enum nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size);
gsh_cuda_enum nvrtcGetProgramLog(nvrtcProgram program, char *log);
gsh_cuda_enum nvrtcGetPTXSize(nvrtcProgram program, size_t *size);
gsh_cuda_enum nvrtcGetPTX(nvrtcProgram program, char *ptx);
gsh_cuda_enum nvrtcGetCUBINSize(nvrtcProgram program, size_t *size);
gsh_cuda_enum nvrtcGetCUBIN(nvrtcProgram program, char *cubin);

/* cuBLAS (docs.nvidia.com/cuda/cublas) */
typedef struct cublasContext *cublasHandle_t;

/* X(our name, cuBLAS's name, value) */
#define GSH_CUBLAS_CONSTANTS(X)                                                                    \
    X(GSH_CUBLAS_SUCCESS, CUBLAS_STATUS_SUCCESS, 0)                                                \
    X(GSH_CUBLAS_ALLOC_FAILED, CUBLAS_STATUS_ALLOC_FAILED, 3)                                      \
    X(GSH_CUBLAS_OP_N, CUBLAS_OP_N, 0)                                                             \
    X(GSH_CUBLAS_OP_T, CUBLAS_OP_T, 1)                                                             \
    X(GSH_CUBLAS_POINTER_HOST, CUBLAS_POINTER_MODE_HOST, 0)                                        \
    X(GSH_CUBLAS_POINTER_DEVICE, CUBLAS_POINTER_MODE_DEVICE, 1)                                    \
    X(GSH_CUBLAS_DEFAULT_MATH, CUBLAS_DEFAULT_MATH, 0)                                             \
    X(GSH_CUBLAS_TF32_MATH, CUBLAS_TF32_TENSOR_OP_MATH, 3)                                         \
    X(GSH_CUBLAS_MAJOR_VERSION, MAJOR_VERSION, 0)                                                  \
    X(GSH_CUBLAS_MINOR_VERSION, MINOR_VERSION, 1)                                                  \
    X(GSH_CUBLAS_PATCH_LEVEL, PATCH_LEVEL, 2)

#define X(ours, theirs, value) ours = (value),
enum { GSH_CUBLAS_CONSTANTS(X) };
#undef X

gsh_cuda_enum cublasCreate_v2(cublasHandle_t *handle);
gsh_cuda_enum cublasGetProperty(gsh_cuda_enum type, int *value);
gsh_cuda_enum cublasSetStream_v2(cublasHandle_t handle, CUstream stream);
gsh_cuda_enum cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t size);
gsh_cuda_enum cublasSetMathMode(cublasHandle_t handle, gsh_cuda_enum mode);
gsh_cuda_enum cublasSetPointerMode_v2(cublasHandle_t handle, gsh_cuda_enum mode);

/* The product routines that we call, for each number type, and with 64-bit extents. */
struct float2;
struct double2;
#define GSH_CUBLAS_DECLARE_DOT(suffix, name, integer, number)                                      \
    gsh_cuda_enum cublas##name##_v2##suffix(cublasHandle_t handle, integer n, const number *x,     \
                                            integer incx, const number *y, integer incy,           \
                                            number *result);
#define GSH_CUBLAS_DECLARE(suffix, letter, integer, number)                                        \
    gsh_cuda_enum cublas##letter##gemm_v2##suffix(                                                 \
        cublasHandle_t handle, gsh_cuda_enum op_a, gsh_cuda_enum op_b, integer m, integer n,       \
        integer k, const number *alpha, const number *a, integer lda, const number *b,             \
        integer ldb, const number *beta, number *c, integer ldc);                                  \
    gsh_cuda_enum cublas##letter##gemv_v2##suffix(                                                 \
        cublasHandle_t handle, gsh_cuda_enum op, integer m, integer n, const number *alpha,        \
        const number *a, integer lda, const number *x, integer incx, const number *beta,           \
        number *y, integer incy);
#define GSH_CUBLAS_DECLARE_ALL(suffix, integer)                                                    \
    GSH_CUBLAS_DECLARE(suffix, S, integer, float)                                                  \
    GSH_CUBLAS_DECLARE(suffix, D, integer, double)                                                 \
    GSH_CUBLAS_DECLARE(suffix, C, integer, struct float2)                                          \
    GSH_CUBLAS_DECLARE(suffix, Z, integer, struct double2)                                         \
    GSH_CUBLAS_DECLARE_DOT(suffix, Sdot, integer, float)                                           \
    GSH_CUBLAS_DECLARE_DOT(suffix, Ddot, integer, double)                                          \
    GSH_CUBLAS_DECLARE_DOT(suffix, Cdotu, integer, struct float2)                                  \
    GSH_CUBLAS_DECLARE_DOT(suffix, Cdotc, integer, struct float2)                                  \
    GSH_CUBLAS_DECLARE_DOT(suffix, Zdotu, integer, struct double2)                                 \
    GSH_CUBLAS_DECLARE_DOT(suffix, Zdotc, integer, struct double2)
GSH_CUBLAS_DECLARE_ALL(, int)
GSH_CUBLAS_DECLARE_ALL(_64, int64_t)

/* cuBLAS: products of which one matrix has a structure; `real` is the type of a number's real and imaginary parts */
#define GSH_CUBLAS_DECLARE_UPDATE(name, number, factor)                                            \
    gsh_cuda_enum cublas##name##_v2(                                                               \
        cublasHandle_t handle, gsh_cuda_enum triangle, gsh_cuda_enum op, int n, int k,             \
        const factor *alpha, const number *a, int lda, const factor *beta, number *c, int ldc);
#define GSH_CUBLAS_DECLARE_UPDATE_2(name, number, real)                                            \
    gsh_cuda_enum cublas##name##_v2(cublasHandle_t handle, gsh_cuda_enum triangle,                 \
                                    gsh_cuda_enum op, int n, int k, const number *alpha,           \
                                    const number *a, int lda, const number *b, int ldb,            \
                                    const real *beta, number *c, int ldc);
#define GSH_CUBLAS_DECLARE_SYMMETRIC(name, number)                                                 \
    gsh_cuda_enum cublas##name##_v2(cublasHandle_t handle, gsh_cuda_enum side,                     \
                                    gsh_cuda_enum triangle, int m, int n, const number *alpha,     \
                                    const number *a, int lda, const number *b, int ldb,            \
                                    const number *beta, number *c, int ldc);
#define GSH_CUBLAS_DECLARE_STRUCTURED(letter, number)                                              \
    GSH_CUBLAS_DECLARE_UPDATE(letter##syrk, number, number)                                        \
    GSH_CUBLAS_DECLARE_UPDATE_2(letter##syr2k, number, number)                                     \
    GSH_CUBLAS_DECLARE_SYMMETRIC(letter##symm, number)                                             \
    gsh_cuda_enum cublas##letter##trmm_v2(                                                         \
        cublasHandle_t handle, gsh_cuda_enum side, gsh_cuda_enum triangle, gsh_cuda_enum op,       \
        gsh_cuda_enum diagonal, int m, int n, const number *alpha, const number *a, int lda,       \
        const number *b, int ldb, number *c, int ldc);
#define GSH_CUBLAS_DECLARE_HERMITIAN(letter, number, real)                                         \
    GSH_CUBLAS_DECLARE_UPDATE(letter##herk, number, real)                                          \
    GSH_CUBLAS_DECLARE_UPDATE_2(letter##her2k, number, real)                                       \
    GSH_CUBLAS_DECLARE_SYMMETRIC(letter##hemm, number)
GSH_CUBLAS_DECLARE_STRUCTURED(S, float)
GSH_CUBLAS_DECLARE_STRUCTURED(D, double)
GSH_CUBLAS_DECLARE_STRUCTURED(C, struct float2)
GSH_CUBLAS_DECLARE_STRUCTURED(Z, struct double2)
GSH_CUBLAS_DECLARE_HERMITIAN(C, struct float2, float)
GSH_CUBLAS_DECLARE_HERMITIAN(Z, struct double2, double)

/* cuBLAS: triangular systems, and factorisations of many small matrices; `number` is the elements' type */
#define GSH_CUBLAS_DECLARE_SYSTEMS(letter, number)                                                 \
    gsh_cuda_enum cublas##letter##trsm_v2(                                                         \
        cublasHandle_t handle, gsh_cuda_enum side, gsh_cuda_enum triangle, gsh_cuda_enum op,       \
        gsh_cuda_enum diagonal, int m, int n, const number *alpha, const number *a, int lda,       \
        number *b, int ldb);                                                                       \
    gsh_cuda_enum cublas##letter##getrfBatched(cublasHandle_t handle, int n, number *const *a,     \
                                               int lda, int *pivots, int *info, int batch);        \
    gsh_cuda_enum cublas##letter##getrsBatched(                                                    \
        cublasHandle_t handle, gsh_cuda_enum op, int n, int columns, const number *const *a,       \
        int lda, const int *pivots, number *const *b, int ldb, int *host_info, int batch);         \
    gsh_cuda_enum cublas##letter##getriBatched(cublasHandle_t handle, int n,                       \
                                               const number *const *a, int lda, const int *pivots, \
                                               number *const *c, int ldc, int *info, int batch);   \
    gsh_cuda_enum cublas##letter##geqrfBatched(cublasHandle_t handle, int m, int n,                \
                                               number *const *a, int lda, number *const *tau,      \
                                               int *host_info, int batch);
GSH_CUBLAS_DECLARE_SYSTEMS(S, float)
GSH_CUBLAS_DECLARE_SYSTEMS(D, double)
GSH_CUBLAS_DECLARE_SYSTEMS(C, struct float2)
GSH_CUBLAS_DECLARE_SYSTEMS(Z, struct double2)

gsh_cuda_enum cublasGemmStridedBatchedEx(cublasHandle_t handle, gsh_cuda_enum op_a,
                                         gsh_cuda_enum op_b, int m, int n, int k, const void *alpha,
                                         const void *a, gsh_cuda_enum a_type, int lda,
                                         long long a_step, const void *b, gsh_cuda_enum b_type,
                                         int ldb, long long b_step, const void *beta, void *c,
                                         gsh_cuda_enum c_type, int ldc, long long c_step, int batch,
                                         gsh_cuda_enum compute, int algorithm);

/* cuSOLVER (docs.nvidia.com/cuda/cusolver) */
typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct cusolverDnParams *cusolverDnParams_t;
typedef struct gesvdjInfo *gesvdjInfo_t;
typedef struct syevjInfo *syevjInfo_t;

/* X(our name, CUDA's name, value): element types, and parameters of cuBLAS and cuSOLVER that describe matrices */
#define GSH_CUSOLVER_CONSTANTS(X)                                                                  \
    X(GSH_CUDA_R_32F, CUDA_R_32F, 0)                                                               \
    X(GSH_CUDA_R_64F, CUDA_R_64F, 1)                                                               \
    X(GSH_CUDA_C_32F, CUDA_C_32F, 4)                                                               \
    X(GSH_CUDA_C_64F, CUDA_C_64F, 5)                                                               \
    X(GSH_CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F, 68)                                              \
    X(GSH_CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F, 70)                                              \
    X(GSH_CUBLAS_GEMM_DEFAULT, CUBLAS_GEMM_DEFAULT, -1)                                            \
    X(GSH_CUBLAS_OP_C, CUBLAS_OP_C, 2)                                                             \
    X(GSH_CUBLAS_LEFT, CUBLAS_SIDE_LEFT, 0)                                                        \
    X(GSH_CUBLAS_RIGHT, CUBLAS_SIDE_RIGHT, 1)                                                      \
    X(GSH_CUBLAS_NON_UNIT, CUBLAS_DIAG_NON_UNIT, 0)                                                \
    X(GSH_CUBLAS_UNIT, CUBLAS_DIAG_UNIT, 1)                                                        \
    X(GSH_CUBLAS_LOWER, CUBLAS_FILL_MODE_LOWER, 0)                                                 \
    X(GSH_CUBLAS_UPPER, CUBLAS_FILL_MODE_UPPER, 1)                                                 \
    X(GSH_CUSOLVER_SUCCESS, CUSOLVER_STATUS_SUCCESS, 0)                                            \
    X(GSH_CUSOLVER_NO_VECTORS, CUSOLVER_EIG_MODE_NOVECTOR, 0)                                      \
    X(GSH_CUSOLVER_VECTORS, CUSOLVER_EIG_MODE_VECTOR, 1)

#define X(ours, theirs, value) ours = (value),
enum { GSH_CUSOLVER_CONSTANTS(X) };
#undef X

gsh_cuda_enum cusolverGetProperty(gsh_cuda_enum type, int *value);
gsh_cuda_enum cusolverDnCreate(cusolverDnHandle_t *handle);
gsh_cuda_enum cusolverDnSetStream(cusolverDnHandle_t handle, CUstream stream);
gsh_cuda_enum cusolverDnCreateParams(cusolverDnParams_t *params);
gsh_cuda_enum cusolverDnCreateGesvdjInfo(gesvdjInfo_t *info);
gsh_cuda_enum cusolverDnCreateSyevjInfo(syevjInfo_t *info);

/* Each routine, and the one that returns the bytes of device and host workspace it needs. */
#define GSH_CUSOLVER_SIZES size_t *device_bytes, size_t *host_bytes
#define GSH_CUSOLVER_WORK                                                                          \
    void *device, size_t device_bytes, void *host, size_t host_bytes, int *info
#define GSH_CUSOLVER_WHAT cusolverDnHandle_t handle, cusolverDnParams_t params
gsh_cuda_enum cusolverDnXgetrf_bufferSize(GSH_CUSOLVER_WHAT, int64_t m, int64_t n,
                                          gsh_cuda_enum a_type, const void *a, int64_t lda,
                                          gsh_cuda_enum compute, GSH_CUSOLVER_SIZES);
gsh_cuda_enum cusolverDnXgetrf(GSH_CUSOLVER_WHAT, int64_t m, int64_t n, gsh_cuda_enum a_type,
                               void *a, int64_t lda, int64_t *pivots, gsh_cuda_enum compute,
                               GSH_CUSOLVER_WORK);
gsh_cuda_enum cusolverDnXpotrs(GSH_CUSOLVER_WHAT, gsh_cuda_enum triangle, int64_t n,
                               int64_t columns, gsh_cuda_enum a_type, const void *a, int64_t lda,
                               gsh_cuda_enum b_type, void *b, int64_t ldb, int *info);
gsh_cuda_enum cusolverDnXsytrs_bufferSize(cusolverDnHandle_t handle, gsh_cuda_enum triangle,
                                          int64_t n, int64_t columns, gsh_cuda_enum a_type,
                                          const void *a, int64_t lda, const int64_t *pivots,
                                          gsh_cuda_enum b_type, void *b, int64_t ldb,
                                          GSH_CUSOLVER_SIZES);
gsh_cuda_enum cusolverDnXsytrs(cusolverDnHandle_t handle, gsh_cuda_enum triangle, int64_t n,
                               int64_t columns, gsh_cuda_enum a_type, const void *a, int64_t lda,
                               const int64_t *pivots, gsh_cuda_enum b_type, void *b, int64_t ldb,
                               GSH_CUSOLVER_WORK);
gsh_cuda_enum cusolverDnXsyevd_bufferSize(GSH_CUSOLVER_WHAT, gsh_cuda_enum job,
                                          gsh_cuda_enum triangle, int64_t n, gsh_cuda_enum a_type,
                                          const void *a, int64_t lda, gsh_cuda_enum w_type,
                                          const void *w, gsh_cuda_enum compute, GSH_CUSOLVER_SIZES);
gsh_cuda_enum cusolverDnXsyevd(GSH_CUSOLVER_WHAT, gsh_cuda_enum job, gsh_cuda_enum triangle,
                               int64_t n, gsh_cuda_enum a_type, void *a, int64_t lda,
                               gsh_cuda_enum w_type, void *w, gsh_cuda_enum compute,
                               GSH_CUSOLVER_WORK);
gsh_cuda_enum cusolverDnXsyevBatched_bufferSize(GSH_CUSOLVER_WHAT, gsh_cuda_enum job,
                                                gsh_cuda_enum triangle, int64_t n,
                                                gsh_cuda_enum a_type, const void *a, int64_t lda,
                                                gsh_cuda_enum w_type, const void *w,
                                                gsh_cuda_enum compute, GSH_CUSOLVER_SIZES,
                                                int64_t batch);
gsh_cuda_enum cusolverDnXsyevBatched(GSH_CUSOLVER_WHAT, gsh_cuda_enum job, gsh_cuda_enum triangle,
                                     int64_t n, gsh_cuda_enum a_type, void *a, int64_t lda,
                                     gsh_cuda_enum w_type, void *w, gsh_cuda_enum compute,
                                     GSH_CUSOLVER_WORK, int64_t batch);
gsh_cuda_enum cusolverDnXgeev_bufferSize(GSH_CUSOLVER_WHAT, gsh_cuda_enum left, gsh_cuda_enum right,
                                         int64_t n, gsh_cuda_enum a_type, const void *a,
                                         int64_t lda, gsh_cuda_enum w_type, const void *w,
                                         gsh_cuda_enum vl_type, const void *vl, int64_t ldvl,
                                         gsh_cuda_enum vr_type, const void *vr, int64_t ldvr,
                                         gsh_cuda_enum compute, GSH_CUSOLVER_SIZES);
gsh_cuda_enum cusolverDnXgeev(GSH_CUSOLVER_WHAT, gsh_cuda_enum left, gsh_cuda_enum right, int64_t n,
                              gsh_cuda_enum a_type, void *a, int64_t lda, gsh_cuda_enum w_type,
                              void *w, gsh_cuda_enum vl_type, void *vl, int64_t ldvl,
                              gsh_cuda_enum vr_type, void *vr, int64_t ldvr, gsh_cuda_enum compute,
                              GSH_CUSOLVER_WORK);
gsh_cuda_enum cusolverDnXgesvd_bufferSize(GSH_CUSOLVER_WHAT, signed char u_job, signed char vt_job,
                                          int64_t m, int64_t n, gsh_cuda_enum a_type, const void *a,
                                          int64_t lda, gsh_cuda_enum s_type, const void *s,
                                          gsh_cuda_enum u_type, const void *u, int64_t ldu,
                                          gsh_cuda_enum vt_type, const void *vt, int64_t ldvt,
                                          gsh_cuda_enum compute, GSH_CUSOLVER_SIZES);
gsh_cuda_enum cusolverDnXgesvd(GSH_CUSOLVER_WHAT, signed char u_job, signed char vt_job, int64_t m,
                               int64_t n, gsh_cuda_enum a_type, void *a, int64_t lda,
                               gsh_cuda_enum s_type, void *s, gsh_cuda_enum u_type, void *u,
                               int64_t ldu, gsh_cuda_enum vt_type, void *vt, int64_t ldvt,
                               gsh_cuda_enum compute, GSH_CUSOLVER_WORK);
gsh_cuda_enum cusolverDnXgesvdp_bufferSize(GSH_CUSOLVER_WHAT, gsh_cuda_enum job, int is_economic,
                                           int64_t m, int64_t n, gsh_cuda_enum a_type,
                                           const void *a, int64_t lda, gsh_cuda_enum s_type,
                                           const void *s, gsh_cuda_enum u_type, const void *u,
                                           int64_t ldu, gsh_cuda_enum v_type, const void *v,
                                           int64_t ldv, gsh_cuda_enum compute, GSH_CUSOLVER_SIZES);
gsh_cuda_enum cusolverDnXgesvdp(GSH_CUSOLVER_WHAT, gsh_cuda_enum job, int is_economic, int64_t m,
                                int64_t n, gsh_cuda_enum a_type, void *a, int64_t lda,
                                gsh_cuda_enum s_type, void *s, gsh_cuda_enum u_type, void *u,
                                int64_t ldu, gsh_cuda_enum v_type, void *v, int64_t ldv,
                                gsh_cuda_enum compute, GSH_CUSOLVER_WORK, double *perturbation);

/* Routines by type; orgqr, ormqr and syevj are ungqr, unmqr and heevj where elements are complex. */
#define GSH_CUSOLVER_DECLARE(letter, orgqr, ormqr, syevj, number, real)                            \
    gsh_cuda_enum cusolverDn##letter##ormqr##_bufferSize(                                          \
        cusolverDnHandle_t handle, gsh_cuda_enum side, gsh_cuda_enum op, int m, int n, int k,      \
        const number *a, int lda, const number *tau, const number *c, int ldc, int *elements);     \
    gsh_cuda_enum cusolverDn##letter##ormqr(                                                       \
        cusolverDnHandle_t handle, gsh_cuda_enum side, gsh_cuda_enum op, int m, int n, int k,      \
        const number *a, int lda, const number *tau, number *c, int ldc, number *work,             \
        int elements, int *info);                                                                  \
    gsh_cuda_enum cusolverDn##letter##potrf_bufferSize(cusolverDnHandle_t handle,                  \
                                                       gsh_cuda_enum triangle, int n, number *a,   \
                                                       int lda, int *elements);                    \
    gsh_cuda_enum cusolverDn##letter##potrf(cusolverDnHandle_t handle, gsh_cuda_enum triangle,     \
                                            int n, number *a, int lda, number *work, int elements, \
                                            int *info);                                            \
    gsh_cuda_enum cusolverDn##letter##potrfBatched(cusolverDnHandle_t handle,                      \
                                                   gsh_cuda_enum triangle, int n, number **a,      \
                                                   int lda, int *info, int batch);                 \
    gsh_cuda_enum cusolverDn##letter##sytrf_bufferSize(cusolverDnHandle_t handle, int n,           \
                                                       number *a, int lda, int *elements);         \
    gsh_cuda_enum cusolverDn##letter##sytrf(cusolverDnHandle_t handle, gsh_cuda_enum triangle,     \
                                            int n, number *a, int lda, int *pivots, number *work,  \
                                            int elements, int *info);                              \
    gsh_cuda_enum cusolverDn##letter##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n,    \
                                                       number *a, int lda, int *elements);         \
    gsh_cuda_enum cusolverDn##letter##geqrf(cusolverDnHandle_t handle, int m, int n, number *a,    \
                                            int lda, number *tau, number *work, int elements,      \
                                            int *info);                                            \
    gsh_cuda_enum cusolverDn##letter##syevj##Batched_bufferSize(                                   \
        cusolverDnHandle_t handle, gsh_cuda_enum job, gsh_cuda_enum triangle, int n,               \
        const number *a, int lda, const real *w, int *elements, syevjInfo_t params, int batch);    \
    gsh_cuda_enum cusolverDn##letter##syevj##Batched(                                              \
        cusolverDnHandle_t handle, gsh_cuda_enum job, gsh_cuda_enum triangle, int n, number *a,    \
        int lda, real *w, number *work, int elements, int *info, syevjInfo_t params, int batch);   \
    gsh_cuda_enum cusolverDn##letter##orgqr##_bufferSize(cusolverDnHandle_t handle, int m, int n,  \
                                                         int k, const number *a, int lda,          \
                                                         const number *tau, int *elements);        \
    gsh_cuda_enum cusolverDn##letter##orgqr(cusolverDnHandle_t handle, int m, int n, int k,        \
                                            number *a, int lda, const number *tau, number *work,   \
                                            int elements, int *info);                              \
    gsh_cuda_enum cusolverDn##letter##gesvdjBatched_bufferSize(                                    \
        cusolverDnHandle_t handle, gsh_cuda_enum job, int m, int n, const number *a, int lda,      \
        const real *s, const number *u, int ldu, const number *v, int ldv, int *elements,          \
        gesvdjInfo_t params, int batch);                                                           \
    gsh_cuda_enum cusolverDn##letter##gesvdjBatched(                                               \
        cusolverDnHandle_t handle, gsh_cuda_enum job, int m, int n, number *a, int lda, real *s,   \
        number *u, int ldu, number *v, int ldv, number *work, int elements, int *info,             \
        gesvdjInfo_t params, int batch);
GSH_CUSOLVER_DECLARE(S, orgqr, ormqr, syevj, float, float)
GSH_CUSOLVER_DECLARE(D, orgqr, ormqr, syevj, double, double)
GSH_CUSOLVER_DECLARE(C, ungqr, unmqr, heevj, struct float2, float)
GSH_CUSOLVER_DECLARE(Z, ungqr, unmqr, heevj, struct double2, double)

/* cuFFT (docs.nvidia.com/cuda/cufft); types of elements are those of GSH_CUSOLVER_CONSTANTS */
typedef int cufftHandle;

/* X(our name, CUDA's name, value) */
#define GSH_CUFFT_CONSTANTS(X)                                                                     \
    X(GSH_CUFFT_SUCCESS, CUFFT_SUCCESS, 0)                                                         \
    X(GSH_CUFFT_FORWARD, CUFFT_FORWARD, -1)                                                        \
    X(GSH_CUFFT_INVERSE, CUFFT_INVERSE, 1)

#define X(ours, theirs, value) ours = (value),
enum { GSH_CUFFT_CONSTANTS(X) };
#undef X

gsh_cuda_enum cufftCreate(cufftHandle *plan);
gsh_cuda_enum cufftDestroy(cufftHandle plan);
gsh_cuda_enum cufftGetProperty(gsh_cuda_enum type, int *value);
gsh_cuda_enum cufftSetStream(cufftHandle plan, CUstream stream);
gsh_cuda_enum cufftSetAutoAllocation(cufftHandle plan, int allocates);
gsh_cuda_enum cufftSetWorkArea(cufftHandle plan, void *area);
gsh_cuda_enum cufftXtMakePlanMany(cufftHandle plan, int rank, long long *n, long long *in_embed,
                                  long long in_stride, long long in_distance, gsh_cuda_enum in_type,
                                  long long *out_embed, long long out_stride,
                                  long long out_distance, gsh_cuda_enum out_type, long long batch,
                                  size_t *work_bytes, gsh_cuda_enum type);
gsh_cuda_enum cufftXtExec(cufftHandle plan, void *in, void *out, int direction);
