/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of matrices for tests of linear algebra on a device: in double complex numbers here, in any dtype and layout
 * there; and plain arithmetic with them.
 */
#pragma once

#include "gpu_launch.h"

#include <complex.h>
#include <float.h>

/* C11's CMPLX, which clang's headers lack. */
static inline double _Complex complex_of(double real, double imaginary)
{
    return __builtin_complex(real, imaginary);
}

typedef double complex complex_number;

enum layout { ROWS, COLUMNS, ODD, LAYOUTS }; /* ODD: gaps, and rows that go backwards */

struct matrices {
    int64_t batch, rows, columns;
    complex_number *at; /* row by row, one matrix behind the other */
};

static inline int64_t one_size(const struct matrices *m)
{
    return m->rows * m->columns;
}

static inline struct matrices make_matrices(int64_t batch, int64_t rows, int64_t columns)
{
    struct matrices made = {batch, rows, columns, NULL};
    made.at = calloc((size_t)(batch * rows * columns), sizeof(complex_number));
    return made;
}

/* volatile: GCC 12 at -O2 may leave out the rounding in a loop over pairs. */
static inline double round_to(double x, enum gsh_dtype dtype)
{
    volatile float rounded = (float)x;
    return dtype == GSH_FLOAT32 || dtype == GSH_COMPLEX64 ? (double)rounded : x;
}

/* Random numbers in [-1, 1) that the dtype can hold. */
static inline struct matrices random_matrices(int64_t batch, int64_t rows, int64_t columns,
                                              enum gsh_dtype dtype)
{
    struct matrices made = make_matrices(batch, rows, columns);
    bool is_complex = gsh_dtype_kind(dtype) == 'c';
    for (int64_t i = 0; i < batch * rows * columns; i++) {
        double real = random_unit(), imaginary = is_complex ? random_unit() : 0;
        made.at[i] = complex_of(round_to(real, dtype), round_to(imaginary, dtype));
    }
    return made;
}

/* One of a batch's matrices: row i, column j. */
static inline complex_number *at(const struct matrices *m, int64_t of, int64_t i, int64_t j)
{
    return &m->at[of * one_size(m) + i * m->columns + j];
}

static inline void round_matrices(struct matrices *m, enum gsh_dtype dtype)
{
    for (int64_t i = 0; i < m->batch * one_size(m); i++)
        m->at[i] = complex_of(round_to(creal(m->at[i]), dtype), round_to(cimag(m->at[i]), dtype));
}

static inline struct matrices copy_matrices(const struct matrices *m)
{
    struct matrices made = make_matrices(m->batch, m->rows, m->columns);
    memcpy(made.at, m->at, (size_t)(m->batch * one_size(m)) * sizeof(complex_number));
    return made;
}

/* c = a b; where adjoint_a, a's conjugate transpose. One matrix of each batch. */
static inline void multiply(const struct matrices *a, bool adjoint_a, const struct matrices *b,
                            const struct matrices *c, int64_t of)
{
    const complex_number *x = a->at + of * one_size(a), *y = b->at + of * one_size(b);
    complex_number *z = c->at + of * one_size(c);
    int64_t inner = adjoint_a ? a->rows : a->columns;
    memset(z, 0, (size_t)one_size(c) * sizeof(complex_number));
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t k = 0; k < inner; k++) {
            complex_number factor = adjoint_a ? conj(x[k * a->columns + i]) : x[i * a->columns + k];
            for (int64_t j = 0; j < c->columns; j++)
                z[i * c->columns + j] += factor * y[k * b->columns + j];
        }
}

/* Frobenius norm. */
static inline double norm_of(const struct matrices *m, int64_t of)
{
    double sum = 0;
    for (int64_t i = 0; i < one_size(m); i++) {
        complex_number x = m->at[of * one_size(m) + i];
        sum += creal(x) * creal(x) + cimag(x) * cimag(x);
    }
    return sqrt(sum);
}

/* An operand on the device. */
struct operand {
    enum gsh_dtype dtype;
    int64_t batch, rows, columns;
    int64_t batch_stride, row_stride, column_stride; /* bytes */
    size_t bytes, first;                             /* first: offset of element (0, 0, 0) */
    uint64_t device;
};

static inline struct operand make_operand(const struct gsh_backend *device, enum gsh_dtype dtype,
                                          int64_t batch, int64_t rows, int64_t columns,
                                          enum layout layout)
{
    int64_t size = (int64_t)gsh_dtype_size(dtype), line = (3 * columns + 1) * size;
    struct operand made = {.dtype = dtype, .batch = batch, .rows = rows, .columns = columns};
    made.column_stride = layout == ROWS ? size : layout == COLUMNS ? rows * size : 3 * size;
    made.row_stride = layout == ROWS ? columns * size : layout == COLUMNS ? size : -line;
    made.batch_stride = layout == ODD ? rows * line + size : rows * columns * size;
    made.first = layout == ODD ? (size_t)((rows - 1) * line) : 0;
    made.bytes = (size_t)(made.batch_stride * batch);
    if (device->allocate(made.bytes, &made.device) != GSH_OK)
        made.device = 0;
    return made;
}

static inline size_t offset_in(const struct operand *operand, int64_t of, int64_t i, int64_t j)
{
    return (size_t)((int64_t)operand->first + of * operand->batch_stride + i * operand->row_stride +
                    j * operand->column_stride);
}

static inline void put(const struct gsh_backend *device, const struct operand *operand,
                       const struct matrices *m)
{
    unsigned char *host = calloc(operand->bytes, 1);
    for (int64_t of = 0; of < m->batch; of++)
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < m->columns; j++) {
                const complex_number x = m->at[of * one_size(m) + i * m->columns + j];
                const double parts[2] = {creal(x), cimag(x)};
                gsh_host_casts_run(host + offset_in(operand, of, i, j), operand->dtype, 16, parts,
                                   GSH_COMPLEX128, 16, 1);
            }
    CHECK(device->upload(operand->device, host, operand->bytes, false) == GSH_OK);
    free(host);
}

static inline struct matrices get(const struct gsh_backend *device, const struct operand *operand)
{
    struct matrices m = make_matrices(operand->batch, operand->rows, operand->columns);
    unsigned char *host = malloc(operand->bytes);
    CHECK(device->download(host, operand->device, operand->bytes, false) == GSH_OK);
    for (int64_t of = 0; of < m.batch; of++)
        for (int64_t i = 0; i < m.rows; i++)
            for (int64_t j = 0; j < m.columns; j++) {
                double parts[2];
                gsh_host_casts_run(parts, GSH_COMPLEX128, 16, host + offset_in(operand, of, i, j),
                                   operand->dtype, 16, 1);
                m.at[of * one_size(&m) + i * m.columns + j] = complex_of(parts[0], parts[1]);
            }
    free(host);
    return m;
}
