/* SPDX-License-Identifier: Apache-2.0
 *
 * One function for each pair of dtypes, with a loop of its own for contiguous arrays.
 */
#ifdef __clang__
/* Some loops cannot be vectorised, which is expected. This pragma precedes the includes, because Clang reports the
 * warning where a table was included first. */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#include "host_casts.h"

#include "host_convert.h"

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
            for (int64_t j = 0; j < n; j++) {                                                      \
                gsh_bytes_##from bytes = x[j];                                                     \
                z[j] = gsh_to_##to(gsh_from(from, to, bytes));                                     \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int64_t j = 0; j < n; j++, src += src_stride, dst += dst_stride) {                    \
            gsh_bytes_##from bytes = *(const gsh_stored_##from *)(const void *)src;                \
            *(gsh_stored_##to *)(void *)dst = gsh_to_##to(gsh_from(from, to, bytes));              \
        }                                                                                          \
    }
#define CASTS_FROM(from)                                                                           \
    CAST(from, BOOL)                                                                               \
    CAST(from, INT8)                                                                               \
    CAST(from, INT16)                                                                              \
    CAST(from, INT32)                                                                              \
    CAST(from, INT64)                                                                              \
    CAST(from, UINT8)                                                                              \
    CAST(from, UINT16)                                                                             \
    CAST(from, UINT32)                                                                             \
    CAST(from, UINT64)                                                                             \
    CAST(from, FLOAT16)                                                                            \
    CAST(from, FLOAT32)                                                                            \
    CAST(from, FLOAT64)                                                                            \
    CAST(from, COMPLEX64)                                                                          \
    CAST(from, COMPLEX128)
#define X(name, ...)                                                                               \
    struct gsh_dtype_##name;                                                                       \
    CASTS_FROM(name)
#include "dtypes.def"
#undef X

#define ENTRY(from, to) [GSH_##to] = cast_##from##_##to
static cast_function *const casts[GSH_DTYPE_COUNT][GSH_DTYPE_COUNT] = {
#define X(name, ...)                                                                               \
    [GSH_##name] = {ENTRY(name, BOOL),      ENTRY(name, INT8),      ENTRY(name, INT16),            \
                    ENTRY(name, INT32),     ENTRY(name, INT64),     ENTRY(name, UINT8),            \
                    ENTRY(name, UINT16),    ENTRY(name, UINT32),    ENTRY(name, UINT64),           \
                    ENTRY(name, FLOAT16),   ENTRY(name, FLOAT32),   ENTRY(name, FLOAT64),          \
                    ENTRY(name, COMPLEX64), ENTRY(name, COMPLEX128)},
#include "dtypes.def"
#undef X
};

/* A source of stride 0 is read once: it may be the first element of the destination. */
#define MOVE(size)                                                                                 \
    static void move_##size(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,    \
                            int64_t n)                                                             \
    {                                                                                              \
        char value[size];                                                                          \
        memcpy(value, src, size);                                                                  \
        for (int64_t j = 0; j < n; j++, src += src_stride, dst += dst_stride) {                    \
            if (src_stride != 0)                                                                   \
                memcpy(value, src, size);                                                          \
            memcpy(dst, value, size);                                                              \
        }                                                                                          \
    }
MOVE(1)
MOVE(2)
MOVE(4)
MOVE(8)
MOVE(16)

/* Fills contiguous elements with one value. */
#define FILL(size)                                                                                 \
    static void fill_##size(char *dst, const char *src, int64_t n)                                 \
    {                                                                                              \
        char value[size];                                                                          \
        memcpy(value, src, size);                                                                  \
        for (int64_t j = 0; j < n; j++)                                                            \
            memcpy(dst + j * (size), value, size);                                                 \
    }
FILL(1)
FILL(2)
FILL(4)
FILL(8)
FILL(16)

static void move(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, int64_t n,
                 size_t size)
{
    static cast_function *const moves[] = {move_1, move_2, move_4, move_8, move_16};
    static void (*const fills[])(char *, const char *, int64_t) = {fill_1, fill_2, fill_4, fill_8,
                                                                   fill_16};
    int64_t step = (int64_t)size;
    if (dst_stride == step && src_stride == step)
        memmove(dst, src, (size_t)n * size);
    else if (dst_stride == step && src_stride == 0)
        fills[__builtin_ctzl(size)](dst, src, n);
    else
        moves[__builtin_ctzl(size)](dst, dst_stride, src, src_stride, n);
}

void gsh_host_casts_run(void *dst, enum gsh_dtype dst_dtype, int64_t dst_stride, const void *src,
                        enum gsh_dtype src_dtype, int64_t src_stride, int64_t n)
{
    if (n == 0)
        return;
    if (dst_dtype == src_dtype)
        move(dst, dst_stride, src, src_stride, n, gsh_dtype_size(dst_dtype));
    else
        casts[src_dtype][dst_dtype](dst, dst_stride, src, src_stride, n);
}

#define HALVES 256 /* rounded at a time */

void gsh_host_casts_load(void *array, enum gsh_dtype value, const void *src,
                         enum gsh_dtype src_dtype, int64_t src_stride, int64_t n)
{
    const int64_t size = value == GSH_FLOAT16 ? 4 : (int64_t)gsh_dtype_size(value);
    if (value != GSH_FLOAT16 || src_dtype == GSH_FLOAT16) {
        gsh_host_casts_run(array, value == GSH_FLOAT16 ? GSH_FLOAT32 : value, size, src, src_dtype,
                           src_stride, n);
        return;
    }
    for (int64_t done = 0; done < n; done += HALVES) {
        uint16_t halves[HALVES];
        int64_t count = GSH_MIN(n - done, HALVES);
        gsh_host_casts_run(halves, GSH_FLOAT16, 2, (const char *)src + done * src_stride, src_dtype,
                           src_stride, count);
        gsh_host_casts_run((char *)array + done * size, GSH_FLOAT32, size, halves, GSH_FLOAT16, 2,
                           count);
    }
}

void gsh_host_casts_store(void *dst, enum gsh_dtype dst_dtype, int64_t dst_stride,
                          const void *array, enum gsh_dtype value, int64_t n)
{
    const int64_t size = value == GSH_FLOAT16 ? 4 : (int64_t)gsh_dtype_size(value);
    if (value != GSH_FLOAT16 || dst_dtype == GSH_FLOAT16) {
        gsh_host_casts_run(dst, dst_dtype, dst_stride, array,
                           value == GSH_FLOAT16 ? GSH_FLOAT32 : value, size, n);
        return;
    }
    for (int64_t done = 0; done < n; done += HALVES) {
        uint16_t halves[HALVES];
        int64_t count = GSH_MIN(n - done, HALVES);
        gsh_host_casts_run(halves, GSH_FLOAT16, 2, (const char *)array + done * size, GSH_FLOAT32,
                           size, count);
        gsh_host_casts_run((char *)dst + done * dst_stride, dst_dtype, dst_stride, halves,
                           GSH_FLOAT16, 2, count);
    }
}
