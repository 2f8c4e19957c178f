/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles and constants of CUDA's driver, declared by hand so that the library builds where no CUDA toolkit is.
 * tests/unit/offload/cuda/driver/test_cuda_tables.c compares them with NVIDIA's headers.
 *
 * Every enum of CUDA's is an unsigned int to the ABI (none has a negative value), here gsh_cuda_enum.
 */
#pragma once

typedef unsigned gsh_cuda_enum;

/* handles */
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUmemPoolHandle_st *CUmemoryPool;

/* constants, X(our name, CUDA's name, value) */
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
    X(GSH_CUDA_ATTRIBUTE_CLOCK, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                \
    X(GSH_CUDA_ATTRIBUTE_MEMORY_CLOCK, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                  \
    X(GSH_CUDA_ATTRIBUTE_MEMORY_BUS, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)              \
    X(GSH_CUDA_ATTRIBUTE_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)            \
    X(GSH_CUDA_ATTRIBUTE_CC_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)               \
    X(GSH_CUDA_ATTRIBUTE_CC_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)               \
    X(GSH_CUDA_ATTRIBUTE_MEMORY_POOLS, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)            \
    X(GSH_CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, 1)                                     \
    X(GSH_CUDA_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                 \
    X(GSH_CUDA_EVENT_DEFAULT, CU_EVENT_DEFAULT, 0)                                                 \
    X(GSH_CUDA_EVENT_BLOCKING_SYNC, CU_EVENT_BLOCKING_SYNC, 1)                                     \
    X(GSH_CUDA_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING, 2)                                   \
    X(GSH_CUDA_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, 1)                                         \
    X(GSH_CUDA_HOST_DEVICEMAP, CU_MEMHOSTALLOC_DEVICEMAP, 2)                                       \
    X(GSH_CUDA_REGISTER_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE, 1)                                  \
    X(GSH_CUDA_ALLOCATION_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED, 1)                                \
    X(GSH_CUDA_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE, 1)                                    \
    X(GSH_CUDA_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE, 0)                                     \
    X(GSH_CUDA_MEMORY_HOST, CU_MEMORYTYPE_HOST, 1)                                                 \
    X(GSH_CUDA_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE, 2)                                             \
    X(GSH_CUDA_MEMORY_ARRAY, CU_MEMORYTYPE_ARRAY, 3)                                               \
    X(GSH_CUDA_POINTER_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                           \
    X(GSH_CUDA_POINTER_DEVICE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, 3)                             \
    X(GSH_CUDA_POINTER_HOST, CU_POINTER_ATTRIBUTE_HOST_POINTER, 4)                                 \
    X(GSH_CUDA_POINTER_IS_MANAGED, CU_POINTER_ATTRIBUTE_IS_MANAGED, 8)                             \
    X(GSH_CUDA_POINTER_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)                            \
    X(GSH_CUDA_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, 1)                                         \
    X(GSH_CUDA_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500)                                               \
    X(GSH_CUDA_ALREADY_REGISTERED, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712)                 \
    X(GSH_CUDA_POOL_RELEASE_THRESHOLD, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 4)                       \
    X(GSH_CUDA_POOL_RESERVED, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 5)

#define X(ours, theirs, value) ours = (value),
enum { GSH_CUDA_DRIVER_CONSTANTS(X) };
#undef X
