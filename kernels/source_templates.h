/* SPDX-License-Identifier: Apache-2.0
 *
 * The fixed parts of the kernels' CUDA C++ text. source.c and source_reduce.c put typedefs,
 * constants and one function made of an op's expression before them.
 */
#pragma once

/* The gsh_ helpers of ops.def, casts and memory access. Expects T, SETTLES. */
extern const char gsh_source_prelude[];
/* Elementwise over contiguous operands. Expects T, In0, In1, Out, VECTOR, UNROLL, BLOCK, gsh_op. */
extern const char gsh_source_contiguous[];
/* Elementwise over any strides. Expects T, In0, In1, Out, Index, NDIM, UNROLL, BLOCK, gsh_op. */
extern const char gsh_source_strided[];
/* One stage of a reduction. Expects T, A, In, Out, Index, KEPT, REDUCED, LANES_FAST, CHAIN, UNROLL,
 * BLOCK, gsh_join, NEUTRAL. */
extern const char gsh_source_reduction[];
