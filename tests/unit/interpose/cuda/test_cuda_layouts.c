/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the structures of interpose/cuda/cuda_layouts.h with NVIDIA's header, if a CUDA toolkit
 * is installed at build time. Otherwise the test is skipped with a message.
 */
#if __has_include(<cuda.h>)
#define HAVE_CUDA_HEADER 1
#include <cuda.h>
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 13
#pragma GCC diagnostic ignored "-Wenum-int-mismatch"
#endif
#endif

#include <stdio.h>

#ifdef HAVE_CUDA_HEADER

#include "cuda_layouts.h"

#define SAME(ours, field, theirs, name)                                                            \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, name), #theirs "." #name)

SAME(gsh_cuda_copy2d, src.y, CUDA_MEMCPY2D, srcY);
SAME(gsh_cuda_copy2d, src.type, CUDA_MEMCPY2D, srcMemoryType);
SAME(gsh_cuda_copy2d, src.host, CUDA_MEMCPY2D, srcHost);
SAME(gsh_cuda_copy2d, src.device, CUDA_MEMCPY2D, srcDevice);
SAME(gsh_cuda_copy2d, src.pitch, CUDA_MEMCPY2D, srcPitch);
SAME(gsh_cuda_copy2d, dst.x, CUDA_MEMCPY2D, dstXInBytes);
SAME(gsh_cuda_copy2d, dst.host, CUDA_MEMCPY2D, dstHost);
SAME(gsh_cuda_copy2d, dst.pitch, CUDA_MEMCPY2D, dstPitch);
SAME(gsh_cuda_copy2d, width, CUDA_MEMCPY2D, WidthInBytes);
SAME(gsh_cuda_copy2d, height, CUDA_MEMCPY2D, Height);
_Static_assert(sizeof(struct gsh_cuda_copy2d) == sizeof(CUDA_MEMCPY2D), "CUDA_MEMCPY2D");

#define SAME_3D(theirs)                                                                            \
    SAME(gsh_cuda_copy3d, src.z, theirs, srcZ);                                                    \
    SAME(gsh_cuda_copy3d, src.type, theirs, srcMemoryType);                                        \
    SAME(gsh_cuda_copy3d, src.host, theirs, srcHost);                                              \
    SAME(gsh_cuda_copy3d, src.device, theirs, srcDevice);                                          \
    SAME(gsh_cuda_copy3d, src.pitch, theirs, srcPitch);                                            \
    SAME(gsh_cuda_copy3d, src.height, theirs, srcHeight);                                          \
    SAME(gsh_cuda_copy3d, dst.x, theirs, dstXInBytes);                                             \
    SAME(gsh_cuda_copy3d, dst.host, theirs, dstHost);                                              \
    SAME(gsh_cuda_copy3d, dst.pitch, theirs, dstPitch);                                            \
    SAME(gsh_cuda_copy3d, dst.height, theirs, dstHeight);                                          \
    SAME(gsh_cuda_copy3d, width, theirs, WidthInBytes);                                            \
    SAME(gsh_cuda_copy3d, depth, theirs, Depth);                                                   \
    _Static_assert(sizeof(struct gsh_cuda_copy3d) == sizeof(theirs), #theirs)
SAME_3D(CUDA_MEMCPY3D);
SAME_3D(CUDA_MEMCPY3D_PEER);

SAME(gsh_cuda_array2d, height, CUDA_ARRAY_DESCRIPTOR, Height);
SAME(gsh_cuda_array3d, height, CUDA_ARRAY3D_DESCRIPTOR, Height);
SAME(gsh_cuda_array3d, depth, CUDA_ARRAY3D_DESCRIPTOR, Depth);
_Static_assert(GSH_CUDA_UNIFIED == CU_MEMORYTYPE_UNIFIED, "CU_MEMORYTYPE_UNIFIED");

#if CUDA_VERSION >= 12080
SAME(gsh_cuda_operand, type, CUmemcpy3DOperand, type);
SAME(gsh_cuda_operand, pointer.address, CUmemcpy3DOperand, op.ptr.ptr);
SAME(gsh_cuda_operand, pointer.layer_rows, CUmemcpy3DOperand, op.ptr.layerHeight);
SAME(gsh_cuda_operand, array.offset, CUmemcpy3DOperand, op.array.offset);
SAME(gsh_cuda_batch3d, dst, CUDA_MEMCPY3D_BATCH_OP, dst);
SAME(gsh_cuda_batch3d, width, CUDA_MEMCPY3D_BATCH_OP, extent.width);
SAME(gsh_cuda_batch3d, flags, CUDA_MEMCPY3D_BATCH_OP, flags);
_Static_assert(sizeof(struct gsh_cuda_batch3d) == sizeof(CUDA_MEMCPY3D_BATCH_OP),
               "CUDA_MEMCPY3D_BATCH_OP");
_Static_assert(GSH_CUDA_OPERAND_POINTER == CU_MEMCPY_OPERAND_TYPE_POINTER, "operand");
#endif
#if CUDA_VERSION >= 12020
SAME(gsh_cuda_node, type, CUgraphNodeParams, type);
SAME(gsh_cuda_node, context, CUgraphNodeParams, memcpy.copyCtx);
SAME(gsh_cuda_node, copy, CUgraphNodeParams, memcpy.copyParams);
_Static_assert(GSH_CUDA_NODE_MEMCPY == CU_GRAPH_NODE_TYPE_MEMCPY, "node");
_Static_assert(sizeof(struct gsh_cuda_location) == sizeof(CUmemLocation), "CUmemLocation");
#endif

int main(void)
{
    printf("the layouts are those of CUDA %d\n", CUDA_VERSION);
    return 0;
}

#else

int main(void)
{
    printf("skip: no cuda.h here\n");
    return 77;
}

#endif
