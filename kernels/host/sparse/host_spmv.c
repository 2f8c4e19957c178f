/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of sparse matrices in CSR form with vectors on the CPU, row after row, in SciPy's order of operations. Complex numbers are
 * pairs; no product is repaired where both parts are NaN.
 */
#include "host_spmv.h"

/* A launch's operands and sizes. */
struct matrix {
    const void *starts, *columns, *numbers, *vector, *initial;
    void *out;
    int64_t rows, count, width;
};

typedef void spmv_loop(const struct matrix *matrix);

#define REAL(type)                                                                                 \
    static type times_##type(type a, type b)                                                       \
    {                                                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    static type plus_##type(type a, type b)                                                        \
    {                                                                                              \
        return a + b;                                                                              \
    }
#define INTEGER(type)                                                                              \
    static type times_##type(type a, type b)                                                       \
    {                                                                                              \
        return (type)((uint64_t)a * (uint64_t)b);                                                  \
    }                                                                                              \
    static type plus_##type(type a, type b)                                                        \
    {                                                                                              \
        return (type)((uint64_t)a + (uint64_t)b);                                                  \
    }
#define COMPLEX(name, type)                                                                        \
    struct name {                                                                                  \
        type re, im;                                                                               \
    };                                                                                             \
    static struct name times_##name(struct name a, struct name b)                                  \
    {                                                                                              \
        return (struct name){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};                \
    }                                                                                              \
    static struct name plus_##name(struct name a, struct name b)                                   \
    {                                                                                              \
        return (struct name){a.re + b.re, a.im + b.im};                                            \
    }
REAL(float)
REAL(double)
INTEGER(uint8_t)
INTEGER(uint16_t)
INTEGER(uint32_t)
INTEGER(uint64_t)
COMPLEX(float_pair, float)
COMPLEX(double_pair, double)

static int64_t bounded(int64_t start, int64_t count)
{
    return GSH_MIN(GSH_MAX(start, 0), count);
}

#define LOOP(name, type, index)                                                                    \
    static void multiply_##name##_##index(const struct matrix *matrix)                             \
    {                                                                                              \
        const index *starts = matrix->starts, *columns = matrix->columns;                          \
        const type *numbers = matrix->numbers, *vector = matrix->vector,                           \
                   *initial = matrix->initial;                                                     \
        type *out = matrix->out;                                                                   \
        for (int64_t i = 0; i < matrix->rows; i++) {                                               \
            const int64_t end = bounded(starts[i + 1], matrix->count);                             \
            type sum = initial[i];                                                                 \
            for (int64_t j = bounded(starts[i], matrix->count); j < end; j++)                      \
                if (columns[j] >= 0 && columns[j] < matrix->width)                                 \
                    sum = plus_##name(sum, times_##name(numbers[j], vector[columns[j]]));          \
            out[i] = sum;                                                                          \
        }                                                                                          \
    }
#define LOOPS(name, type) LOOP(name, type, int32_t) LOOP(name, type, int64_t)
LOOPS(float, float)
LOOPS(double, double)
LOOPS(uint8_t, uint8_t)
LOOPS(uint16_t, uint16_t)
LOOPS(uint32_t, uint32_t)
LOOPS(uint64_t, uint64_t)
LOOPS(float_pair, struct float_pair)
LOOPS(double_pair, struct double_pair)

static spmv_loop *loop_of(const struct gsh_launch *launch)
{
#define ROW(type)                                                                                  \
    {                                                                                              \
        multiply_##type##_int32_t, multiply_##type##_int64_t                                       \
    }
    static spmv_loop *const loops[GSH_DTYPE_COUNT][2] = {
        [GSH_FLOAT32] = ROW(float),        [GSH_FLOAT64] = ROW(double),
        [GSH_COMPLEX64] = ROW(float_pair), [GSH_COMPLEX128] = ROW(double_pair),
        [GSH_INT8] = ROW(uint8_t),         [GSH_UINT8] = ROW(uint8_t),
        [GSH_INT16] = ROW(uint16_t),       [GSH_UINT16] = ROW(uint16_t),
        [GSH_INT32] = ROW(uint32_t),       [GSH_UINT32] = ROW(uint32_t),
        [GSH_INT64] = ROW(uint64_t),       [GSH_UINT64] = ROW(uint64_t)};
#undef ROW
    return loops[launch->loop][launch->operands[GSH_SPMV_STARTS].dtype == GSH_INT64];
}

static void *address_of(const struct gsh_launch *launch, unsigned k)
{
    return (void *)(uintptr_t)launch->operands[k].address;
}

void gsh_host_spmv_run(const struct gsh_launch *launch)
{
    const struct matrix matrix = {.starts = address_of(launch, GSH_SPMV_STARTS),
                                  .columns = address_of(launch, GSH_SPMV_COLUMNS),
                                  .numbers = address_of(launch, GSH_SPMV_NUMBERS),
                                  .vector = address_of(launch, GSH_SPMV_VECTOR),
                                  .initial = address_of(launch, GSH_SPMV_INITIAL),
                                  .out = address_of(launch, launch->nin),
                                  .rows = gsh_launch_elements(launch),
                                  .count = launch->spmv.lines[GSH_SPMV_NUMBERS].extent,
                                  .width = launch->spmv.lines[GSH_SPMV_VECTOR].extent};
    loop_of(launch)(&matrix);
}
