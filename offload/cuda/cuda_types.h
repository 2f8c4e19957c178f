/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of CUDA's interface that we rely on, declared by hand so that the library builds where
 * no CUDA toolkit is. These functions are never linked: cuda_libs.h makes one table of pointers per
 * library from their prototypes. tests/unit/test_cuda_tables.c includes NVIDIA's headers before
 * this one, where they exist, so that the compiler compares every prototype, and checks each
 * constant.
 *
 * Every enum of CUDA's is an unsigned int to the ABI (none has a negative value), here
 * gsh_cuda_enum.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef unsigned gsh_cuda_enum;

/* driver: handles */
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUmemPoolHandle_st *CUmemoryPool;

/* driver: constants, X(our name, CUDA's name, value) */
#define GSH_CUDA_DRIVER_CONSTANTS(X)                                                               \
    X(GSH_CUDA_SUCCESS, CUDA_SUCCESS, 0)                                                           \
    X(GSH_CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                         \
    X(GSH_CUDA_NOT_READY, CUDA_ERROR_NOT_READY, 600)                                               \
    X(GSH_CUDA_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE, 214)                               \
    X(GSH_CUDA_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                   \
    X(GSH_CUDA_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                     \
    X(GSH_CUDA_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                         \
    X(GSH_CUDA_ASSERT, CUDA_ERROR_ASSERT, 710)                                                     \
    X(GSH_CUDA_HARDWARE_STACK_ERROR, CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                         \
    X(GSH_CUDA_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED, 719)                                       \
    X(GSH_CUDA_UNKNOWN, CUDA_ERROR_UNKNOWN, 999)                                                   \
    X(GSH_CUDA_ATTRIBUTE_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)            \
    X(GSH_CUDA_ATTRIBUTE_CC_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)               \
    X(GSH_CUDA_ATTRIBUTE_CC_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)               \
    X(GSH_CUDA_ATTRIBUTE_MEMORY_POOLS, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)            \
    X(GSH_CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, 1)                                     \
    X(GSH_CUDA_EVENT_DEFAULT, CU_EVENT_DEFAULT, 0)                                                 \
    X(GSH_CUDA_EVENT_BLOCKING_SYNC, CU_EVENT_BLOCKING_SYNC, 1)                                     \
    X(GSH_CUDA_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING, 2)                                   \
    X(GSH_CUDA_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, 1)                                         \
    X(GSH_CUDA_HOST_DEVICEMAP, CU_MEMHOSTALLOC_DEVICEMAP, 2)                                       \
    X(GSH_CUDA_REGISTER_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE, 1)                                  \
    X(GSH_CUDA_ALLOCATION_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED, 1)                                \
    X(GSH_CUDA_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE, 1)                                    \
    X(GSH_CUDA_POOL_RELEASE_THRESHOLD, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 4)                       \
    X(GSH_CUDA_POOL_RESERVED, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 5)

#define X(ours, theirs, value) ours = (value),
enum { GSH_CUDA_DRIVER_CONSTANTS(X) };
#undef X

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
gsh_cuda_enum cuCtxGetCurrent(CUcontext *context);
gsh_cuda_enum cuCtxPushCurrent_v2(CUcontext context);
gsh_cuda_enum cuCtxPopCurrent_v2(CUcontext *context);
gsh_cuda_enum cuStreamCreate(CUstream *stream, unsigned flags);
gsh_cuda_enum cuStreamSynchronize(CUstream stream);
gsh_cuda_enum cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
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

/* S and D, and with 64-bit extents, of the routines that we call. */
#define GSH_CUBLAS_DECLARE(suffix, letter, integer, real)                                          \
    gsh_cuda_enum cublas##letter##gemm_v2##suffix(                                                 \
        cublasHandle_t handle, gsh_cuda_enum op_a, gsh_cuda_enum op_b, integer m, integer n,       \
        integer k, const real *alpha, const real *a, integer lda, const real *b, integer ldb,      \
        const real *beta, real *c, integer ldc);                                                   \
    gsh_cuda_enum cublas##letter##gemv_v2##suffix(                                                 \
        cublasHandle_t handle, gsh_cuda_enum op, integer m, integer n, const real *alpha,          \
        const real *a, integer lda, const real *x, integer incx, const real *beta, real *y,        \
        integer incy);                                                                             \
    gsh_cuda_enum cublas##letter##dot_v2##suffix(cublasHandle_t handle, integer n, const real *x,  \
                                                 integer incx, const real *y, integer incy,        \
                                                 real *result);
GSH_CUBLAS_DECLARE(, S, int, float)
GSH_CUBLAS_DECLARE(, D, int, double)
GSH_CUBLAS_DECLARE(_64, S, int64_t, float)
GSH_CUBLAS_DECLARE(_64, D, int64_t, double)
