/* SPDX-License-Identifier: Apache-2.0
 *
 * The condition number itself, not an estimate: the device is there for tests.
 */
#include "hostemu_lapack_condition.h"

#include "host_walk.h"

#include <assert.h>
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* n x n numbers, row by row. */
struct square {
    int64_t n;
    enum gsh_dtype dtype;
    char *numbers;
};

static double size_at(const struct square *square, int64_t row, int64_t column)
{
    const void *at =
        square->numbers + (size_t)(row * square->n + column) * gsh_dtype_size(square->dtype);
    switch (square->dtype) {
    case GSH_FLOAT32:
        return fabs((double)*(const float *)at);
    case GSH_FLOAT64:
        return fabs(*(const double *)at);
    case GSH_COMPLEX64:
        return cabs((double complex) * (const float complex *)at);
    default:
        return cabs(*(const double complex *)at);
    }
}

static double norm(const struct square *square)
{
    double most = 0;
    for (int64_t column = 0; column < square->n; column++) {
        double sum = 0;
        for (int64_t row = 0; row < square->n; row++)
            sum += size_at(square, row, column);
        most = sum <= most ? most : sum; /* NaN stays */
    }
    return most;
}

/* Whether there are numbers other than 0 on both sides of the diagonal, and some that are not beside it. */
static bool is_dense(const struct square *square)
{
    bool has_lower = false, has_upper = false, has_far = false;
    for (int64_t row = 0; row < square->n; row++)
        for (int64_t column = 0; column < square->n; column++) {
            if (size_at(square, row, column) == 0)
                continue;
            has_lower |= row > column;
            has_upper |= column > row;
            has_far |= llabs(row - column) > 1;
        }
    return has_lower && has_upper && has_far;
}

static void gather(const struct gsh_core *core, const char *from, const struct square *to)
{
    size_t size = gsh_dtype_size(to->dtype);
    char *at = to->numbers;
    assert(from != NULL);
    for (int64_t row = 0; row < to->n; row++)
        for (int64_t column = 0; column < to->n; column++, at += size)
            memcpy(at, from + row * core->stride[0] + column * core->stride[1], size);
}

static bool is_good(const struct gsh_launch *launch, const struct square *a,
                    const struct square *inverse, gsh_hostemu_lapack_loop *invert, void *data)
{
    int64_t size = (int64_t)gsh_dtype_size(a->dtype), row = a->n * size;
    int64_t dimensions[] = {1, a->n}, steps[] = {0, 0, row, size, row, size};
    char *args[] = {a->numbers, inverse->numbers};
    double epsilon = gsh_dtype_is_single(a->dtype) ? (double)FLT_EPSILON : DBL_EPSILON;
    if ((launch->lapack.options & GSH_LAPACK_DENSE) != 0 && !is_dense(a))
        return false;
    invert(args, dimensions, steps, data);
    return norm(a) * norm(inverse) * GSH_LAPACK_CONDITION * epsilon < 1;
}

enum gsh_status gsh_hostemu_lapack_condition_check(const struct gsh_launch *launch,
                                                   gsh_hostemu_lapack_loop *invert, void *data)
{
    const struct gsh_core *core = &launch->lapack.cores[0];
    struct gsh_host_walk walk = gsh_host_walk_begin(launch, 0, launch->ndim);
    int64_t left = gsh_launch_elements(launch);
    size_t bytes = (size_t)(core->extent[0] * core->extent[0]) * gsh_dtype_size(launch->loop);
    struct square a = {core->extent[0], launch->loop, malloc(bytes)}, inverse = a;
    inverse.numbers = malloc(bytes);
    enum gsh_status status = a.numbers != NULL && inverse.numbers != NULL ? GSH_OK : GSH_FAILED;
    for (; left > 0 && status == GSH_OK; left--, gsh_host_walk_step(&walk, 1)) {
        gather(core, walk.address[0], &a);
        status = is_good(launch, &a, &inverse, invert, data) ? GSH_OK : GSH_DECLINED;
    }
    free(a.numbers);
    free(inverse.numbers);
    return status;
}
