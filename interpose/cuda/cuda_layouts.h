/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA's structures that describe copies by other libraries, declared by hand as
 * cuda_driver_types.h declares handles and constants. tests/unit/interpose/cuda/test_cuda_layouts.c
 * compares them with NVIDIA's header.
 */
#pragma once

#include "cuda_driver_types.h"

#include <stddef.h>
#include <stdint.h>

#define GSH_CUDA_UNIFIED 4U /* CU_MEMORYTYPE_UNIFIED */

/* One side of CUDA_MEMCPY2D. */
struct gsh_cuda_side2d {
    size_t x, y; /* bytes, rows */
    gsh_cuda_enum type;
    const void *host;
    CUdeviceptr device;
    void *array;
    size_t pitch;
};

/* CUDA_MEMCPY2D of CUDA 4 and later. */
struct gsh_cuda_copy2d {
    struct gsh_cuda_side2d src, dst;
    size_t width, height; /* bytes, rows */
};

/* One side of CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER. */
struct gsh_cuda_side3d {
    size_t x, y, z, level;
    gsh_cuda_enum type;
    const void *host;
    CUdeviceptr device;
    void *array;
    void *context;
    size_t pitch, height;
};

struct gsh_cuda_copy3d {
    struct gsh_cuda_side3d src, dst;
    size_t width, height, depth;
};

/* CUmemcpy3DOperand for a pointer; lengths in elements. */
struct gsh_cuda_operand {
    gsh_cuda_enum type;
    union {
        struct {
            CUdeviceptr address;
            size_t row, layer_rows;
            gsh_cuda_enum location_type;
            int location_id;
        } pointer;
        struct {
            void *array;
            size_t offset[3];
        } array;
    };
};
#define GSH_CUDA_OPERAND_POINTER 1U /* CU_MEMCPY_OPERAND_TYPE_POINTER */

/* CUDA_MEMCPY3D_BATCH_OP */
struct gsh_cuda_batch3d {
    struct gsh_cuda_operand src, dst;
    size_t width, height, depth;
    gsh_cuda_enum access_order, flags;
};

/* The extents, with which CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR begin. */
struct gsh_cuda_array2d {
    size_t width, height;
};
struct gsh_cuda_array3d {
    size_t width, height, depth;
};

/* The start of CUgraphNodeParams for a copy. */
struct gsh_cuda_node {
    gsh_cuda_enum type;
    int reserved[3];
    int flags, more_reserved;
    void *context;
    struct gsh_cuda_copy3d copy;
};
#define GSH_CUDA_NODE_MEMCPY 1U /* CU_GRAPH_NODE_TYPE_MEMCPY */

/* CUmemLocation, passed by value */
struct gsh_cuda_location {
    gsh_cuda_enum type;
    int id;
};
