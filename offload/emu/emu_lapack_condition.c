/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the condition number itself, not an estimate: the device is for tests.
 */
#include "emu_lapack_condition.h"

#include "blas_number.h"
#include "host_walk.h"

#include <assert.h>
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A matrix of n x n numbers. */
struct square {
    int64_t n;
    enum gsh_dtype dtype;
    char *first;
    int64_t row, column; /* steps, in bytes */
};

static double complex get(const struct square *a, int64_t row, int64_t column)
{
    return gsh_blas_number_load(a->first + row * a->row + column * a->column, a->dtype, 0);
}

static void set(const struct square *a, int64_t row, int64_t column, double complex x)
{
    gsh_blas_number_store(a->first + row * a->row + column * a->column, a->dtype, 0, x);
}

static struct square square_of(const struct gsh_launch *launch, unsigned k, char *first)
{
    const struct gsh_core *core = &launch->lapack.cores[k];
    assert(first != NULL);
    return (struct square){core->extent[0], launch->loop, first, core->stride[0], core->stride[1]};
}

static struct square transpose(const struct square *a)
{
    return (struct square){a->n, a->dtype, a->first, a->column, a->row};
}

/* The 1-norm; NaN where one of the numbers is NaN. */
static double norm(const struct square *a)
{
    double most = 0;
    for (int64_t column = 0; column < a->n; column++) {
        double sum = 0;
        for (int64_t row = 0; row < a->n; row++)
            sum += cabs(get(a, row, column));
        if (!(sum <= most) && !isnan(most))
            most = sum;
    }
    return most;
}

/* Whether the matrix has no structure for which SciPy has a faster method. */
static bool is_dense(const struct gsh_launch *launch, const struct square *a)
{
    bool has_lower = false, has_upper = false;
    bool has_far = a->n < 4 || launch->lapack.routine == GSH_LAPACK_INV_CONDITIONED;
    for (int64_t row = 0; row < a->n; row++)
        for (int64_t column = 0; column < a->n; column++) {
            if (get(a, row, column) == 0)
                continue;
            has_lower |= row > column;
            has_upper |= column > row;
            has_far |= llabs(row - column) > 1;
        }
    return has_lower && has_upper && has_far;
}

static bool is_good(const struct gsh_launch *launch, const struct square *a,
                    const struct square *inverse, gsh_host_routines_loop *invert, void *data)
{
    int64_t dimensions[] = {1, a->n};
    int64_t steps[] = {0, 0, a->row, a->column, inverse->row, inverse->column};
    char *args[] = {a->first, inverse->first};
    const struct square turned = transpose(a);
    double epsilon = gsh_dtype_is_single(a->dtype) ? (double)FLT_EPSILON : DBL_EPSILON;
    if ((launch->lapack.options & GSH_LAPACK_DENSE) != 0 && !is_dense(launch, a))
        return false;
    invert(args, dimensions, steps, data);
    double least = GSH_LAPACK_CONDITION * epsilon * norm(inverse);
    return norm(a) * least < 1 && norm(&turned) * least < 1;
}

enum gsh_status gsh_emu_lapack_condition_check(const struct gsh_launch *launch,
                                               gsh_host_routines_loop *invert, void *data)
{
    struct gsh_host_walk walk = gsh_host_walk_begin(launch, 0, launch->ndim);
    int64_t left = gsh_launch_elements(launch), n = launch->lapack.cores[0].extent[0];
    int64_t size = (int64_t)gsh_dtype_size(launch->loop);
    struct square inverse = {n, launch->loop, malloc((size_t)(n * n * size)), n * size, size};
    enum gsh_status status = inverse.first != NULL ? GSH_OK : GSH_FAILED;
    for (; left > 0 && status == GSH_OK; left--, gsh_host_walk_step(&walk, 1)) {
        const struct square a = square_of(launch, 0, walk.address[0]);
        status = is_good(launch, &a, &inverse, invert, data) ? GSH_OK : GSH_DECLINED;
    }
    free(inverse.first);
    return status;
}

/* Whether a(j, i) equals a(i, j), or its conjugate. */
static bool is_mirrored(const struct square *a, bool is_conjugated)
{
    bool is_same = true;
    for (int64_t row = 0; row < a->n && is_same; row++)
        for (int64_t column = row; column < a->n && is_same; column++) {
            double complex x = get(a, column, row);
            is_same = get(a, row, column) == (is_conjugated ? conj(x) : x);
        }
    return is_same;
}

void gsh_emu_lapack_condition_mirror(const struct gsh_launch *launch)
{
    struct gsh_host_walk walk = gsh_host_walk_begin(launch, 0, launch->ndim);
    int64_t left = gsh_launch_elements(launch);
    for (; left > 0; left--, gsh_host_walk_step(&walk, 1)) {
        const struct square a = square_of(launch, 0, walk.address[0]);
        const struct square x = square_of(launch, 1, walk.address[1]);
        bool is_hermitian = is_mirrored(&a, true);
        if (!is_hermitian && !is_mirrored(&a, false))
            continue;
        for (int64_t row = 0; row < x.n; row++)
            for (int64_t column = row; column < x.n; column++) {
                double complex below = get(&x, column, row);
                below = column == row && is_hermitian ? creal(below) : below;
                set(&x, row, column, is_hermitian ? conj(below) : below);
            }
    }
}
