/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of kernels/cuda/lapack.cuh: their text and geometry.
 */
#pragma once

#include "dtypes.h"
#include "source.h"

/* lapack.cuh describes each kernel and its arguments. X(name, block): with a block, each of `batch` matrices, or of
 * their columns or tiles, has one block of so many threads. */
#define GSH_CUDA_LAPACK_KERNELS(X)                                                                 \
    X(look_for_infinite, 0)                                                                        \
    X(look_for_nonzero, 0)                                                                         \
    X(make_pointers, 0)                                                                            \
    X(clear_triangle, 0)                                                                           \
    X(make_identity, 0)                                                                            \
    X(copy_block, 0)                                                                               \
    X(scale_columns, 0)                                                                            \
    X(compare_with_identity, 32)                                                                   \
    X(compare_with_first, 32)                                                                      \
    X(multiply_reflectors, 0)                                                                      \
    X(unpack_vectors, 0)                                                                           \
    X(turn, 256)                                                                                   \
    X(turn_conjugate, 256)                                                                         \
    X(copy_triangle, 0)                                                                            \
    X(convert_pivots, 0)                                                                           \
    X(widen_pivots, 0)                                                                             \
    X(trace_rows, 0)                                                                               \
    X(make_permutation, 0)                                                                         \
    X(order_rows, 0)                                                                               \
    X(divide_rows, 0)                                                                              \
    X(judge_diagonal, 128)                                                                         \
    X(judge_blocks, 128)                                                                           \
    X(multiply_diagonal, 32)                                                                       \
    X(mark_structure, 0)                                                                           \
    X(judge_structure, 0)                                                                          \
    X(mirror_triangle, 0)                                                                          \
    X(sum_rows, 0)                                                                                 \
    X(sum_columns, 32)                                                                             \
    X(begin_estimate, 0)                                                                           \
    X(take_signs, 0)                                                                               \
    X(take_units, 128)                                                                             \
    X(judge_condition, 0)

#define GSH_CUDA_LAPACK_TILE 32 /* rows and columns of a tile that is transposed at once */

enum gsh_cuda_lapack_call_kernel {
#define X(name, block) GSH_CUDA_LAPACK_##name,
    GSH_CUDA_LAPACK_KERNELS(X) GSH_CUDA_LAPACK_KERNEL_COUNT
#undef X
};

/* As lapack.cuh declares them. */
struct gsh_cuda_lapack_args {
    uint64_t a, b, c, flag;
    int64_t batch, rows, columns, extra, step;
    double bound;
    int64_t matrix_steps[2];
};

/* One of the kernels, for elements of a dtype. */
struct gsh_cuda_lapack_kernel_text {
    enum gsh_cuda_lapack_call_kernel kernel;
    enum gsh_dtype dtype;
};
enum { GSH_CUDA_LAPACK_KEY = 64 }; /* longest key, with its end */
void gsh_cuda_lapack_kernels_name(const struct gsh_cuda_lapack_kernel_text *text,
                                  char key[GSH_CUDA_LAPACK_KEY]);
void gsh_cuda_lapack_kernels_write(const void *kernel_text, struct gsh_fmt *fmt);
/* Its key, geometry and arguments. `threads`: the number of threads, for kernels without a block per matrix. */
void gsh_cuda_lapack_kernels_plan(const struct gsh_cuda_lapack_kernel_text *text,
                                  const struct gsh_cuda_lapack_args *args, int64_t threads,
                                  struct gsh_source_stage *stage);
