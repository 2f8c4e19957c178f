/* SPDX-License-Identifier: Apache-2.0
 *
 * ops.def and dtypes.def compiled for the CPU.
 */
#ifdef __clang__
/* Some loops call the mathematical library and cannot be vectorised, which is no fault. Before the
 * includes, because Clang places its warning where a table was included first. */
#pragma clang diagnostic ignored "-Wpass-failed"
#else
/* GCC vectorises little at -O2. */
#pragma GCC optimize("O3")
#endif

#include "host_loops.h"

#include "host_math.h"

#include <string.h>

#define STORED_SAME(dtype) gsh_stored_##dtype
#define STORED_BOOL(dtype) gsh_stored_BOOL

#define LOOP(op, dtype, result, expr)                                                              \
    static void loop_##op##_##dtype(void *out, const void *in0, const void *in1, int64_t n,        \
                                    int64_t first)                                                 \
    {                                                                                              \
        typedef gsh_value_##dtype T __attribute__((unused));                                       \
        const gsh_stored_##dtype *x = in0, *y = in1;                                               \
        STORED_##result(dtype) *z = out;                                                           \
        GSH_INDEPENDENT                                                                            \
        for (int64_t j = 0; j < n; j++) {                                                          \
            T a = (T)x[j], b __attribute__((unused)) = (T)y[j];                                    \
            int64_t i __attribute__((unused)) = first + j;                                         \
            z[j] = (expr);                                                                         \
        }                                                                                          \
    }

#define X(name, label, ufunc, nin, dtypes, result, max_ulp, host_ns, uses_index, expr, bool_expr)  \
    LOOP(name, BOOL, result, bool_expr)                                                            \
    LOOP(name, INT32, result, expr)                                                                \
    LOOP(name, INT64, result, expr)                                                                \
    LOOP(name, FLOAT32, result, expr)                                                              \
    LOOP(name, FLOAT64, result, expr)
#include "ops.def"
#undef X

#define ENTRY(op, dtype, dtypes)                                                                   \
    [GSH_##dtype] = ((dtypes) >> GSH_##dtype & 1) != 0 ? loop_##op##_##dtype : NULL

static gsh_host_loop *const loops[GSH_OP_COUNT][GSH_DTYPE_COUNT] = {
#define X(name, label, ufunc, nin, dtypes, ...)                                                    \
    {ENTRY(name, BOOL, dtypes), ENTRY(name, INT32, dtypes), ENTRY(name, INT64, dtypes),            \
     ENTRY(name, FLOAT32, dtypes), ENTRY(name, FLOAT64, dtypes)},
#include "ops.def"
#undef X
};

gsh_host_loop *gsh_host_loops_find(enum gsh_op op, enum gsh_dtype dtype)
{
    return op < GSH_OP_COUNT && dtype < GSH_DTYPE_COUNT ? loops[op][dtype] : NULL;
}

typedef void cast_function(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                           int64_t n);

#define CAST(from, to)                                                                             \
    static void cast_##from##_##to(char *dst, int64_t dst_stride, const char *src,                 \
                                   int64_t src_stride, int64_t n)                                  \
    {                                                                                              \
        const int64_t dst_size = sizeof(gsh_stored_##to), src_size = sizeof(gsh_stored_##from);    \
        if (dst_stride == dst_size && src_stride == src_size) {                                    \
            const gsh_stored_##from *x = (const void *)src;                                        \
            gsh_stored_##to *z = (void *)dst;                                                      \
            GSH_INDEPENDENT                                                                        \
            for (int64_t j = 0; j < n; j++)                                                        \
                z[j] = gsh_to_##to((gsh_value_##from)x[j]);                                        \
            return;                                                                                \
        }                                                                                          \
        for (int64_t j = 0; j < n; j++, src += src_stride, dst += dst_stride)                      \
            *(gsh_stored_##to *)(void *)dst =                                                      \
                gsh_to_##to((gsh_value_##from) * (const gsh_stored_##from *)(const void *)src);    \
    }

#define X(name, ...)                                                                               \
    CAST(name, BOOL) CAST(name, INT32) CAST(name, INT64) CAST(name, FLOAT32) CAST(name, FLOAT64)
#include "dtypes.def"
#undef X

static cast_function *const casts[GSH_DTYPE_COUNT][GSH_DTYPE_COUNT] = {
#define X(name, ...)                                                                               \
    {[GSH_BOOL] = cast_##name##_BOOL,                                                              \
     [GSH_INT32] = cast_##name##_INT32,                                                            \
     [GSH_INT64] = cast_##name##_INT64,                                                            \
     [GSH_FLOAT32] = cast_##name##_FLOAT32,                                                        \
     [GSH_FLOAT64] = cast_##name##_FLOAT64},
#include "dtypes.def"
#undef X
};

#define MOVE(size)                                                                                 \
    static void move_##size(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,    \
                            int64_t n)                                                             \
    {                                                                                              \
        if (src_stride == 0) {                                                                     \
            char value[size];                                                                      \
            memcpy(value, src, size);                                                              \
            for (int64_t j = 0; j < n; j++, dst += dst_stride)                                     \
                memcpy(dst, value, size);                                                          \
            return;                                                                                \
        }                                                                                          \
        for (int64_t j = 0; j < n; j++, src += src_stride, dst += dst_stride)                      \
            memmove(dst, src, size);                                                               \
    }
MOVE(1)
MOVE(4)
MOVE(8)

static void move(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, int64_t n,
                 int64_t size)
{
    if (dst_stride == size && src_stride == size)
        memmove(dst, src, (size_t)(n * size));
    else if (size == 1)
        move_1(dst, dst_stride, src, src_stride, n);
    else if (size == 4)
        move_4(dst, dst_stride, src, src_stride, n);
    else
        move_8(dst, dst_stride, src, src_stride, n);
}

void gsh_host_loops_cast(void *dst, enum gsh_dtype dst_dtype, int64_t dst_stride, const void *src,
                         enum gsh_dtype src_dtype, int64_t src_stride, int64_t n)
{
    if (dst_dtype == src_dtype)
        move(dst, dst_stride, src, src_stride, n, (int64_t)gsh_dtype_size(dst_dtype));
    else
        casts[src_dtype][dst_dtype](dst, dst_stride, src, src_stride, n);
}
