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
    struct gsh_launch launch = {.kind = kind, .loop = loop, .nin = nin, .ndim = ndim};
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

/* Ordinary values; with `specials` also the dtype's awkward ones. */
static inline void fill_value(void *at, enum gsh_dtype dtype, bool specials)
{
    static const double awkward[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e30, -3e9, 1e19, 5e-324};
    uint64_t bits = random_bits();
    bool special = specials && bits % 16 == 0;
    double value = special ? awkward[bits / 16 % GSH_COUNT(awkward)] : random_unit() * 10;
    union gsh_scalar scalar = {0};
    switch (dtype) {
    case GSH_BOOL:
        scalar.b = bits & 1;
        break;
    case GSH_INT32:
        scalar.i32 = special ? INT32_MIN : (int32_t)bits % 1000;
        break;
    case GSH_INT64:
        scalar.i64 = special ? INT64_MIN : (int64_t)bits % 1000;
        break;
    case GSH_FLOAT32:
        scalar.f32 = (float)value;
        break;
    default:
        scalar.f64 = value;
    }
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

/* Distance in units in the last place; 0 between NaNs; huge between a NaN and a number. */
static inline uint64_t ulp_distance(double x, double y, bool is_f32)
{
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0 : UINT64_MAX;
    int64_t a = is_f32 ? ordered_bits_f32((float)x) : ordered_bits(x);
    int64_t b = is_f32 ? ordered_bits_f32((float)y) : ordered_bits(y);
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Largest distance between two arrays of bytes taken as elements of the dtype (integers: 0 or
 * huge). */
static inline uint64_t worst_distance(const void *x, const void *y, size_t bytes,
                                      enum gsh_dtype dtype)
{
    uint64_t worst = 0;
    if (dtype != GSH_FLOAT32 && dtype != GSH_FLOAT64)
        return memcmp(x, y, bytes) == 0 ? 0 : UINT64_MAX;
    for (size_t i = 0; i < bytes / gsh_dtype_size(dtype); i++) {
        double a = dtype == GSH_FLOAT64 ? ((const double *)x)[i] : (double)((const float *)x)[i];
        double b = dtype == GSH_FLOAT64 ? ((const double *)y)[i] : (double)((const float *)y)[i];
        worst = GSH_MAX(worst, ulp_distance(a, b, dtype == GSH_FLOAT32));
    }
    return worst;
}
