/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tests that drive a backend directly: launches from op, shape and strides, operands filled
 * with telling values on both sides, and comparison of what the device wrote with what the host's
 * loops wrote. One operand buffer is exactly the bytes that the operand touches, with GUARD bytes
 * on either side.
 */
#pragma once

#include "backend.h"
#include "check.h"
#include "host_casts.h"
#include "host_ops.h"

#include <math.h>
#include <stdlib.h>

#define GUARD 256

struct buffer {
    unsigned char *host; /* GUARD + size + GUARD bytes */
    size_t size;
    uint64_t device; /* the same number of bytes */
};

static uint64_t random_state = UINT64_C(88172645463325252);

static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Uniform in [-1, 1). */
static inline double random_unit(void)
{
    return (double)(int64_t)random_bits() * 0x1p-63;
}

static inline struct gsh_launch make_launch(enum gsh_launch_kind kind, enum gsh_dtype loop,
                                            unsigned nin, int ndim, const int64_t *shape)
{
    struct gsh_launch launch = {.kind = kind, .loop = loop, .nin = nin, .nout = 1, .ndim = ndim};
    for (int d = 0; d < ndim; d++)
        launch.shape[d] = shape[d];
    return launch;
}

/* C order over the launch's shape, `step` elements apart. */
static inline void set_dense(struct gsh_launch *launch, unsigned k, enum gsh_dtype dtype,
                             int64_t step)
{
    int64_t stride = step * (int64_t)gsh_dtype_size(dtype);
    launch->operands[k].dtype = dtype;
    for (int d = launch->ndim; d-- > 0;) {
        launch->strides[k][d] = stride;
        stride *= launch->shape[d];
    }
}

/* The same with dimension 0 the fastest. */
static inline void set_transposed(struct gsh_launch *launch, unsigned k, enum gsh_dtype dtype)
{
    int64_t stride = (int64_t)gsh_dtype_size(dtype);
    launch->operands[k].dtype = dtype;
    for (int d = 0; d < launch->ndim; d++) {
        launch->strides[k][d] = stride;
        stride *= launch->shape[d];
    }
}

/* Of ordinary values. */
static double largest_part = 10;

/* Ordinary values; with `specials` also the dtype's awkward ones. */
static inline void fill_value(void *at, enum gsh_dtype dtype, bool specials)
{
    static const double awkward[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e30, -3e9, 1e19, 5e-324};
    uint64_t bits = random_bits();
    bool special = specials && bits % 16 == 0;
    double value = special ? awkward[bits / 16 % GSH_COUNT(awkward)] : random_unit() * largest_part;
    union gsh_scalar scalar = {.words = {0}};
    char kind = gsh_dtype_kind(dtype);
    if (kind == 'b')
        scalar.b = bits & 1;
    else if (kind == 'i' || kind == 'u') /* small numbers, or any bits */
        scalar.u64 = special ? bits << (bits % 60)
                             : (uint64_t)((int64_t)(bits % 200) - (kind == 'i' ? 100 : 0));
    else
        gsh_host_casts_run(&scalar, dtype, 16,
                           (const double[2]){value, random_unit() * largest_part}, GSH_COMPLEX128,
                           16, 1);
    memcpy(at, &scalar, gsh_dtype_size(dtype));
}

/* Makes operand k's bytes on both sides; returns false where the device has no memory. */
static inline bool make_buffer(const struct gsh_backend *device, const struct gsh_launch *launch,
                               unsigned k, bool specials, struct buffer *buffer)
{
    enum gsh_dtype dtype = launch->operands[k].dtype;
    int64_t low, high;
    gsh_launch_extent(launch, k, &low, &high);
    buffer->size = (size_t)GSH_MAX(high - low, 0);
    size_t bytes = buffer->size + 2 * GUARD, unit = gsh_dtype_size(dtype);
    buffer->host = malloc(bytes);
    for (size_t i = 0; i + unit <= bytes; i += unit)
        fill_value(buffer->host + i, dtype, specials);
    return CHECK(device->allocate(bytes, &buffer->device) == GSH_OK) &&
           CHECK(device->upload(buffer->device, buffer->host, bytes, false) == GSH_OK);
}

static inline void drop_buffer(const struct gsh_backend *device, struct buffer *buffer)
{
    device->release(buffer->device, buffer->size + 2 * GUARD);
    free(buffer->host);
}

static inline int64_t ordered_bits(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static inline int64_t ordered_bits_f32(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? (int64_t)INT32_MIN - bits : bits;
}

/* Numbers smaller than this count as so large: the difference of larger terms (logaddexp) carries their errors. */
static double smallest_size;

/* Distance in units in the last place; 0 between NaNs; huge between a NaN and a number. */
static inline uint64_t ulp_distance(double x, double y, bool is_f32)
{
    if (fabs(x) < smallest_size && fabs(y) < smallest_size)
        return (uint64_t)(fabs(x - y) / smallest_size * (is_f32 ? 0x1p23 : 0x1p52));
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0 : UINT64_MAX;
    int64_t a = is_f32 ? ordered_bits_f32((float)x) : ordered_bits(x);
    int64_t b = is_f32 ? ordered_bits_f32((float)y) : ordered_bits(y);
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Complex numbers of which a part is infinite are all the same. */
static bool has_one_infinity;

/* Distance of complex numbers in units of the larger part of y. */
static inline uint64_t complex_distance(const double *x, const double *y, bool is_f32)
{
    bool nan_x = isnan(x[0]) || isnan(x[1]), nan_y = isnan(y[0]) || isnan(y[1]);
    if (nan_x || nan_y) /* the other part is nobody's promise */
        return nan_x && nan_y ? 0 : UINT64_MAX;
    bool finite_x = isfinite(x[0]) && isfinite(x[1]), finite_y = isfinite(y[0]) && isfinite(y[1]);
    if (has_one_infinity && finite_x != finite_y)
        return UINT64_MAX;
    if (has_one_infinity && !finite_x)
        return 0;
    if (!finite_x || !finite_y)
        return GSH_MAX(ulp_distance(x[0], y[0], is_f32), ulp_distance(x[1], y[1], is_f32));
    double size = fmax(fabs(y[0]), fabs(y[1])), error = fmax(fabs(x[0] - y[0]), fabs(x[1] - y[1]));
    double unit = is_f32 ? (double)(nextafterf((float)size, INFINITY) - (float)size)
                         : nextafter(size, INFINITY) - size;
    return error == 0 ? 0 : (uint64_t)fmin(ceil(error / unit), 1e18);
}

/* Distance of half-precision numbers by their bits. */
static inline uint64_t half_distance(uint16_t x, uint16_t y)
{
    bool nan_x = (x & 0x7fff) > 0x7c00, nan_y = (y & 0x7fff) > 0x7c00;
    int a = x & 0x8000 ? -(x & 0x7fff) : x, b = y & 0x8000 ? -(y & 0x7fff) : y;
    if (nan_x || nan_y)
        return nan_x && nan_y ? 0 : UINT64_MAX;
    return (uint64_t)abs(a - b);
}

static inline uint64_t element_distance(const void *x, const void *y, enum gsh_dtype dtype)
{
    double a[2], b[2];
    bool is_f32 = dtype == GSH_FLOAT32 || dtype == GSH_COMPLEX64;
    if (dtype == GSH_FLOAT16)
        return half_distance(*(const uint16_t *)x, *(const uint16_t *)y);
    gsh_host_casts_run(a, GSH_COMPLEX128, 16, x, dtype, 0, 1);
    gsh_host_casts_run(b, GSH_COMPLEX128, 16, y, dtype, 0, 1);
    return gsh_dtype_kind(dtype) == 'c' ? complex_distance(a, b, is_f32)
                                        : ulp_distance(a[0], b[0], is_f32);
}

/* Largest distance between two arrays of bytes taken as elements of the dtype (integers: 0 or
 * huge). */
static inline uint64_t worst_distance(const void *x, const void *y, size_t bytes,
                                      enum gsh_dtype dtype)
{
    uint64_t worst = 0;
    size_t size = gsh_dtype_size(dtype);
    if (memcmp(x, y, bytes) == 0)
        return 0;
    if (gsh_dtype_kind(dtype) != 'f' && gsh_dtype_kind(dtype) != 'c')
        return UINT64_MAX;
    for (size_t at = 0; at + size <= bytes; at += size)
        worst = GSH_MAX(worst, element_distance((const char *)x + at, (const char *)y + at, dtype));
    return worst;
}
