/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of the host_loops_<kind>.c files: ops.def as loops of one dtype (GSH_HOST_LOOP for each row) and as their
 * table (GSH_HOST_ENTRY). There are several files, so that they compile in parallel. A row without a loop of the
 * dtype gives an empty function, which the compiler drops.
 */
#pragma once

#ifdef __clang__
/* Some loops call the mathematical library and cannot be vectorised, which is expected. This pragma precedes the
 * includes, because Clang reports the warning where a table was included first. */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#include "host_convert.h"
#include "host_loops.h"
#include "host_math.h"

/* Types of inputs by enum gsh_inputs, where T is the loop's dtype. */
#define GSH_FIRST_SAME(T) T
#define GSH_FIRST_INT_FIRST(T) INT64
#define GSH_FIRST_INT_SECOND(T) T
#define GSH_FIRST_BOOL_FIRST(T) BOOL
#define GSH_SECOND_SAME(T) T
#define GSH_SECOND_INT_FIRST(T) T
#define GSH_SECOND_INT_SECOND(T) INT64
#define GSH_SECOND_BOOL_FIRST(T) T

/* Types of outputs by enum gsh_result. */
#define GSH_OUT_SAME(T) gsh_array_##T
#define GSH_OUT_BOOL(T) gsh_array_BOOL
#define GSH_OUT_INT32(T) gsh_array_INT32
#define GSH_OUT_UINT8(T) gsh_array_UINT8
#define GSH_OUT_REAL(T) gsh_part_##T
#define GSH_OUT_NONE(T) gsh_array_BOOL
#define GSH_STORES_SAME 1
#define GSH_STORES_BOOL 1
#define GSH_STORES_REAL 1
#define GSH_STORES_INT32 1
#define GSH_STORES_UINT8 1
#define GSH_STORES_NONE 0

/* gsh_array_<dtype>: an element of a loop's array; gsh_part_<dtype>: of its real part. */
#define X(name, c_type, ...)                                                                       \
    typedef __typeof__(_Generic((c_type)0, bool                                                    \
                                : (gsh_stored_##name)0, default                                    \
                                : (c_type)0)) gsh_array_##name __attribute__((may_alias));         \
    typedef __typeof__(_Generic((c_type)0, bool                                                    \
                                : (uint8_t)0, float _Complex : 0.0f, double _Complex : 0.0,        \
                                  default                                                          \
                                : (c_type)0)) gsh_part_##name __attribute__((may_alias));
#include "dtypes.def"
#undef X

#define GSH_CONCAT_(a, b) a##b
#define GSH_CONCAT(a, b) GSH_CONCAT_(a, b)
#define GSH_VALUE(dtype) GSH_CONCAT(gsh_value_, dtype)
#define GSH_ARRAY(dtype) GSH_CONCAT(gsh_array_, dtype)

#define GSH_HAS_LOOP(dtypes, loop) (((dtypes) >> GSH_##loop & 1) != 0)

/* What precedes a loop's definition. */
#ifndef GSH_LOOP_TARGET
#define GSH_LOOP_TARGET
#endif

/* A row's loop of dtype `loop`. */
#define GSH_HOST_LOOP(loop, op, label, ufunc, nin, dtypes, inputs, result, result2, ulps, host_ns, \
                      flags, expr, expr2)                                                          \
    GSH_LOOP_TARGET static void loop_##op##_##loop(const struct gsh_host_block *block)             \
    {                                                                                              \
        if (!GSH_HAS_LOOP(dtypes, loop))                                                           \
            return;                                                                                \
        typedef gsh_value_##loop T __attribute__((unused));                                        \
        const bool is_half __attribute__((unused)) = GSH_##loop == GSH_FLOAT16;                    \
        const GSH_ARRAY(GSH_FIRST_##inputs(loop)) *x = block->in[0];                               \
        const GSH_ARRAY(GSH_SECOND_##inputs(loop)) *y = block->in[1];                              \
        const GSH_ARRAY(loop) *w = block->in[2];                                                   \
        GSH_OUT_##result(loop) *z = block->out[0];                                                 \
        GSH_OUT_##result2(loop) * z2 __attribute__((unused)) = block->out[1];                      \
        const int64_t n = block->n, first __attribute__((unused)) = block->first,                  \
                      step __attribute__((unused)) = block->step;                                  \
        GSH_INDEPENDENT                                                                            \
        for (int64_t j = 0; j < n; j++) {                                                          \
            GSH_VALUE(GSH_FIRST_##inputs(loop))                                                    \
            a __attribute__((unused)) = GSH_READ(x, 1, nin, j);                                    \
            GSH_VALUE(GSH_SECOND_##inputs(loop))                                                   \
            b __attribute__((unused)) = GSH_READ(y, 2, nin, j);                                    \
            T c __attribute__((unused)) = GSH_READ(w, 3, nin, j);                                  \
            int64_t i __attribute__((unused)) = first + j * step;                                  \
            z[j] = GSH_STORED_##result(T, expr);                                                   \
            if (GSH_STORES_##result2)                                                              \
                z2[j] = GSH_STORED_##result2(T, expr2);                                            \
        }                                                                                          \
    }
#define GSH_READ(array, k, nin, j) ((nin) >= (k) ? (array)[j] : 0)
#define GSH_STORED_SAME(T, expr) (T)(expr)
#define GSH_STORED_BOOL(T, expr) (bool)(expr)
#define GSH_STORED_REAL(T, expr) (expr)
#define GSH_STORED_INT32(T, expr) (int32_t)(expr)
#define GSH_STORED_UINT8(T, expr) (uint8_t)(expr)
#define GSH_STORED_NONE(T, expr) (expr)

#define GSH_HOST_ENTRY(loop, op, label, ufunc, nin, dtypes, ...)                                   \
    [GSH_OP_##op] = GSH_HAS_LOOP(dtypes, loop) ? loop_##op##_##loop : NULL,

/* The tables, by op. Those for AVX2 have fewer loops. */
typedef gsh_host_loop *gsh_host_loops_table[GSH_OP_COUNT];
#define X(name, ...) extern const gsh_host_loops_table gsh_host_loops_##name;
#include "dtypes.def"
#undef X
extern const gsh_host_loops_table gsh_host_loops_wide_FLOAT32, gsh_host_loops_wide_FLOAT64;
