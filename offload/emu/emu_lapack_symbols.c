/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. One matrix at a time: its operands are packed column by column, the function works on these copies,
 * and the outputs are copied back. Integers are passed as int64_t; functions that read 32 bits find the value in its
 * first bytes.
 */
#include "emu_lapack_symbols.h"

#include "host_routines.h"
#include "host_walk.h"

#include <assert.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 8 /* most allocations for one matrix */

/* One matrix of a launch. */
struct problem {
    const struct gsh_launch *launch;
    gsh_host_routines_function *function;
    int integer_bits;
    int64_t rows, columns, right, longest; /* of A; columns of B; q of lapack.def */
    void *operands[GSH_LAPACK_OPERANDS];   /* packed */
    void *parts[PARTS];
    unsigned part_count;
};

static gsh_host_routines_function *find(const struct gsh_launch *launch, int *integer_bits)
{
    return gsh_host_routines_find(gsh_host_routines_lapack(launch->lapack.routine), launch->loop,
                                  integer_bits);
}

/* ---- memory ---- */

static void *take(struct problem *problem, int64_t count, size_t size)
{
    size_t bytes;
    if (problem->part_count == PARTS || !gsh_mul((size_t)GSH_MAX(count, 1), size, &bytes))
        return NULL;
    void *part = calloc(1, bytes);
    if (part != NULL)
        problem->parts[problem->part_count++] = part;
    return part;
}

static void release(struct problem *problem)
{
    while (problem->part_count != 0)
        free(problem->parts[--problem->part_count]);
}

/* ---- operands ---- */

static bool is_pivots(const struct gsh_launch *launch, unsigned k)
{
    return gsh_lapack_info(launch->lapack.routine)->operands[k].dtype == 'I';
}

/* Bytes of an element of operand k as the function takes it. */
static size_t packed_size(const struct problem *problem, unsigned k)
{
    return is_pivots(problem->launch, k) ? (size_t)problem->integer_bits / 8
                                         : gsh_dtype_size(problem->launch->operands[k].dtype);
}

/* Converts an element between two widths: copies the first bytes, and extends the sign of an integer. */
static void copy_element(char *to, size_t to_size, const char *from, size_t from_size)
{
    assert(to != NULL && from != NULL);
    memcpy(to, from, GSH_MIN(to_size, from_size));
    if (to_size > from_size)
        memset(to + from_size, from[from_size - 1] < 0 ? 0xff : 0, to_size - from_size);
}

/* Whether the function takes the transpose of the launch's operand: C where Q is on its right side. */
static bool is_turned(const struct gsh_launch *launch, unsigned k)
{
    return launch->lapack.routine == GSH_LAPACK_ORMQR && k >= 2 &&
           (launch->lapack.options & GSH_LAPACK_RIGHT) != 0;
}

/* Copies operand k, which is at `address`, from or to columns of `leading` elements each. */
static void move_matrix(const struct problem *problem, unsigned k, char *address, char *packed,
                        int64_t leading, bool is_packing)
{
    assert(packed != NULL);
    bool is_transpose = is_turned(problem->launch, k);
    const struct gsh_core *core = &problem->launch->lapack.cores[k];
    size_t size = gsh_dtype_size(problem->launch->operands[k].dtype);
    size_t other_size = packed_size(problem, k);
    for (int64_t j = 0; j < core->extent[1]; j++)
        for (int64_t i = 0; i < core->extent[0]; i++) {
            char *element = address + i * core->stride[0] + j * core->stride[1];
            int64_t place = is_transpose ? i * core->extent[1] + j : j * leading + i;
            char *other = packed + (size_t)place * other_size;
            if (is_packing)
                copy_element(other, other_size, element, size);
            else
                copy_element(element, size, other, other_size);
        }
}

/* The output in whose memory LAPACK expects the input; -1: none. */
static int place_of_input(enum gsh_lapack_routine routine, unsigned k)
{
    switch (routine) {
    case GSH_LAPACK_GETRF:
    case GSH_LAPACK_POTRF:
    case GSH_LAPACK_POTRI:
    case GSH_LAPACK_TRTRI:
    case GSH_LAPACK_SYTRF:
        return 1;
    case GSH_LAPACK_GETRI:
    case GSH_LAPACK_SYTRI:
        return k == 0 ? 2 : -1;
    case GSH_LAPACK_GETRS:
    case GSH_LAPACK_SYTRS:
    case GSH_LAPACK_ORMQR:
        return k == 2 ? 3 : -1;
    case GSH_LAPACK_POTRS:
    case GSH_LAPACK_TRTRS:
    case GSH_LAPACK_LSTSQ:
        return k == 1 ? 2 : -1;
    case GSH_LAPACK_GELS:
        return (int)k + 2;
    default:
        return -1;
    }
}

static enum gsh_status pack(struct problem *problem, char *const *addresses)
{
    const struct gsh_launch *launch = problem->launch;
    const struct gsh_core *cores = launch->lapack.cores;
    for (unsigned k = 0; k < launch->nin + launch->nout; k++) {
        int64_t elements = cores[k].extent[0] * cores[k].extent[1];
        problem->operands[k] = take(problem, elements, packed_size(problem, k));
        if (problem->operands[k] == NULL)
            return GSH_FAILED;
    }
    for (unsigned k = 0; k < launch->nin; k++) {
        int output = place_of_input(launch->lapack.routine, k);
        unsigned to = output < 0 ? k : (unsigned)output;
        move_matrix(problem, k, addresses[k], problem->operands[to], cores[to].extent[0], true);
    }
    return GSH_OK;
}

/* Whether all numbers of operand k's matrix are finite. */
static bool is_finite(const struct problem *problem, unsigned k, int64_t elements)
{
    enum gsh_dtype loop = problem->launch->loop;
    bool is_single = gsh_dtype_is_single(loop), is_good = true;
    int64_t count = gsh_dtype_kind(loop) == 'c' ? 2 * elements : elements;
    const void *numbers = problem->operands[k];
    assert(numbers != NULL);
    for (int64_t i = 0; i < count && is_good; i++)
        is_good = is_single ? isfinite(((const float *)numbers)[i])
                            : isfinite(((const double *)numbers)[i]);
    return is_good;
}

/* False: the input is not finite, and the caller's LAPACK decides on results and info. Other routines do not read the
 * whole matrix and are not checked. */
static bool may_compute(const struct problem *problem)
{
    int64_t elements = problem->rows * problem->columns;
    switch (problem->launch->lapack.routine) {
    case GSH_LAPACK_GETRF:
        return is_finite(problem, 1, elements);
    case GSH_LAPACK_GELS:
        return is_finite(problem, 2, elements) &&
               is_finite(problem, 3, problem->rows * problem->right);
    case GSH_LAPACK_LSTSQ:
        return is_finite(problem, 0, elements) &&
               is_finite(problem, 2, problem->longest * problem->right);
    default:
        return true;
    }
}

/* ---- the functions ---- */

struct variant {
    char triangle, transpose, diagonal;
};

static struct variant variant_of(const struct gsh_launch *launch)
{
    unsigned options = launch->lapack.options;
    bool is_conjugated = (options & GSH_LAPACK_CONJUGATED) != 0;
    bool is_transposed = (options & GSH_LAPACK_TRANSPOSED) != 0;
    return (struct variant){"LU"[(options & GSH_LAPACK_UPPER) != 0],
                            "NTC"[is_transposed ? 1 + is_conjugated : 0],
                            "NU"[(options & GSH_LAPACK_UNIT) != 0]};
}

typedef int64_t call_function(struct problem *problem);

static int64_t call_getrf(struct problem *p)
{
    typedef void getrf(int64_t *, int64_t *, void *, int64_t *, void *, int64_t *);
    int64_t info = 0;
    ((getrf *)p->function)(&p->rows, &p->columns, p->operands[1], &p->rows, p->operands[2], &info);
    return info;
}

static int64_t call_getrs(struct problem *p)
{
    typedef void getrs(char *, int64_t *, int64_t *, void *, int64_t *, void *, void *, int64_t *,
                       int64_t *, size_t);
    struct variant variant = variant_of(p->launch);
    int64_t info = 0;
    ((getrs *)p->function)(&variant.transpose, &p->rows, &p->right, p->operands[0], &p->rows,
                           p->operands[1], p->operands[3], &p->rows, &info, 1);
    return info;
}

static int64_t call_potrf(struct problem *p)
{
    typedef void potrf(char *, int64_t *, void *, int64_t *, int64_t *, size_t);
    struct variant variant = variant_of(p->launch);
    int64_t info = 0;
    ((potrf *)p->function)(&variant.triangle, &p->rows, p->operands[1], &p->rows, &info, 1);
    return info;
}

static int64_t call_potrs(struct problem *p)
{
    typedef void potrs(char *, int64_t *, int64_t *, void *, int64_t *, void *, int64_t *,
                       int64_t *, size_t);
    struct variant variant = variant_of(p->launch);
    int64_t info = 0;
    ((potrs *)p->function)(&variant.triangle, &p->rows, &p->right, p->operands[0], &p->rows,
                           p->operands[2], &p->rows, &info, 1);
    return info;
}

static int64_t call_trtrs(struct problem *p)
{
    typedef void trtrs(char *, char *, char *, int64_t *, int64_t *, void *, int64_t *, void *,
                       int64_t *, int64_t *, size_t, size_t, size_t);
    struct variant variant = variant_of(p->launch);
    int64_t info = 0;
    ((trtrs *)p->function)(&variant.triangle, &variant.transpose, &variant.diagonal, &p->rows,
                           &p->right, p->operands[0], &p->rows, p->operands[2], &p->rows, &info, 1,
                           1, 1);
    return info;
}

static int64_t call_potri(struct problem *p)
{
    typedef void potri(char *, int64_t *, void *, int64_t *, int64_t *, size_t);
    struct variant variant = variant_of(p->launch);
    int64_t info = 0;
    ((potri *)p->function)(&variant.triangle, &p->rows, p->operands[1], &p->rows, &info, 1);
    return info;
}

static int64_t call_trtri(struct problem *p)
{
    typedef void trtri(char *, char *, int64_t *, void *, int64_t *, int64_t *, size_t, size_t);
    struct variant variant = variant_of(p->launch);
    int64_t info = 0;
    ((trtri *)p->function)(&variant.triangle, &variant.diagonal, &p->rows, p->operands[1], &p->rows,
                           &info, 1, 1);
    return info;
}

static int64_t call_sytrs(struct problem *p)
{
    typedef void sytrs(char *, int64_t *, int64_t *, void *, int64_t *, void *, void *, int64_t *,
                       int64_t *, size_t);
    struct variant variant = variant_of(p->launch);
    int64_t info = 0;
    ((sytrs *)p->function)(&variant.triangle, &p->rows, &p->right, p->operands[0], &p->rows,
                           p->operands[1], p->operands[3], &p->rows, &info, 1);
    return info;
}

static int64_t call_sytri(struct problem *p)
{
    typedef void sytri(char *, int64_t *, void *, int64_t *, void *, void *, int64_t *, size_t);
    struct variant variant = variant_of(p->launch);
    void *work = take(p, p->rows, gsh_dtype_size(p->launch->loop));
    int64_t info = 0;
    if (work == NULL)
        return -1;
    ((sytri *)p->function)(&variant.triangle, &p->rows, p->operands[2], &p->rows, p->operands[1],
                           work, &info, 1);
    return info;
}

/* ---- functions with a workspace, whose size is queried first ---- */

/* The length that a query has left in the first element of a workspace. */
static int64_t length_in(const void *work, bool is_single)
{
    return (int64_t)(is_single ? (double)*(const float *)work : *(const double *)work);
}

typedef int64_t work_function(struct problem *p, void *work, int64_t length);

static int64_t call_with_work(struct problem *p, work_function *call)
{
    double answer[2] = {0};
    int64_t info = call(p, answer, -1);
    if (info != 0)
        return info;
    int64_t length = length_in(answer, gsh_dtype_is_single(p->launch->loop));
    void *work = take(p, length, gsh_dtype_size(p->launch->loop));
    return work != NULL ? call(p, work, length) : -1;
}

static int64_t call_getri_in(struct problem *p, void *work, int64_t length)
{
    typedef void getri(int64_t *, void *, int64_t *, void *, void *, int64_t *, int64_t *);
    int64_t info = 0;
    ((getri *)p->function)(&p->rows, p->operands[2], &p->rows, p->operands[1], work, &length,
                           &info);
    return info;
}

static int64_t call_getri(struct problem *p)
{
    return call_with_work(p, call_getri_in);
}

static int64_t call_sytrf_in(struct problem *p, void *work, int64_t length)
{
    typedef void sytrf(char *, int64_t *, void *, int64_t *, void *, void *, int64_t *, int64_t *,
                       size_t);
    struct variant variant = variant_of(p->launch);
    int64_t info = 0;
    ((sytrf *)p->function)(&variant.triangle, &p->rows, p->operands[1], &p->rows, p->operands[2],
                           work, &length, &info, 1);
    return info;
}

static int64_t call_sytrf(struct problem *p)
{
    return call_with_work(p, call_sytrf_in);
}

static int64_t call_ormqr_in(struct problem *p, void *work, int64_t length)
{
    typedef void ormqr(char *, char *, int64_t *, int64_t *, int64_t *, void *, int64_t *, void *,
                       void *, int64_t *, void *, int64_t *, int64_t *, size_t, size_t);
    bool is_right = is_turned(p->launch, 3);
    bool is_adjoint = (p->launch->lapack.options & GSH_LAPACK_TRANSPOSED) != 0;
    bool is_pair = gsh_dtype_kind(p->launch->loop) == 'c';
    char side = "LR"[is_right], trans = "NTC"[is_adjoint ? 1 + is_pair : 0];
    int64_t m = is_right ? p->right : p->rows, n = is_right ? p->rows : p->right, info = 0;
    ((ormqr *)p->function)(&side, &trans, &m, &n, &p->columns, p->operands[0], &p->rows,
                           p->operands[1], p->operands[3], &m, work, &length, &info, 1, 1);
    return info;
}

static int64_t call_ormqr(struct problem *p)
{
    return call_with_work(p, call_ormqr_in);
}

static int64_t call_gels_in(struct problem *p, void *work, int64_t length)
{
    typedef void gels(char *, int64_t *, int64_t *, int64_t *, void *, int64_t *, void *, int64_t *,
                      void *, int64_t *, int64_t *, size_t);
    char trans = 'N';
    int64_t info = 0;
    ((gels *)p->function)(&trans, &p->rows, &p->columns, &p->right, p->operands[2], &p->rows,
                          p->operands[3], &p->rows, work, &length, &info, 1);
    return info;
}

static int64_t call_gels(struct problem *p)
{
    return call_with_work(p, call_gels_in);
}

/* The workspaces of gelsd. */
struct workspace {
    void *work, *reals, *integers;
    int64_t length;
};

static int64_t call_gelsd_in(struct problem *p, struct workspace *space)
{
    typedef void gelsd(int64_t *, int64_t *, int64_t *, void *, int64_t *, void *, int64_t *,
                       void *, void *, int64_t *, void *, int64_t *, void *, int64_t *);
    typedef void complex_gelsd(int64_t *, int64_t *, int64_t *, void *, int64_t *, void *,
                               int64_t *, void *, void *, int64_t *, void *, int64_t *, void *,
                               void *, int64_t *);
    enum gsh_dtype loop = p->launch->loop;
    double tolerance = p->launch->lapack.tolerance;
    float single = (float)tolerance;
    bool is_single = gsh_dtype_is_single(loop);
    void *rcond = is_single ? (void *)&single : &tolerance;
    int64_t rank = 0, info = 0;
    if (gsh_dtype_kind(loop) == 'c')
        ((complex_gelsd *)p->function)(&p->rows, &p->columns, &p->right, p->operands[0], &p->rows,
                                       p->operands[2], &p->longest, p->operands[3], rcond, &rank,
                                       space->work, &space->length, space->reals, space->integers,
                                       &info);
    else
        ((gelsd *)p->function)(&p->rows, &p->columns, &p->right, p->operands[0], &p->rows,
                               p->operands[2], &p->longest, p->operands[3], rcond, &rank,
                               space->work, &space->length, space->integers, &info);
    return info;
}

static int64_t call_gelsd(struct problem *p)
{
    double work[2] = {0}, reals[2] = {0};
    int64_t integers[2] = {0};
    struct workspace space = {work, reals, integers, -1};
    enum gsh_dtype loop = p->launch->loop;
    bool is_single = gsh_dtype_is_single(loop);
    int64_t info = call_gelsd_in(p, &space);
    if (info != 0)
        return info;
    space.length = length_in(work, is_single);
    space.work = take(p, space.length, gsh_dtype_size(loop));
    space.reals = take(p, length_in(reals, is_single), sizeof(double));
    space.integers = take(p, (int32_t)integers[0], sizeof(int64_t));
    if (space.work == NULL || space.reals == NULL || space.integers == NULL)
        return -1;
    return call_gelsd_in(p, &space);
}

static call_function *const calls[GSH_LAPACK_COUNT] = {
    [GSH_LAPACK_GETRF] = call_getrf, [GSH_LAPACK_GETRS] = call_getrs,
    [GSH_LAPACK_POTRF] = call_potrf, [GSH_LAPACK_POTRS] = call_potrs,
    [GSH_LAPACK_TRTRS] = call_trtrs, [GSH_LAPACK_LSTSQ] = call_gelsd,
    [GSH_LAPACK_GETRI] = call_getri, [GSH_LAPACK_POTRI] = call_potri,
    [GSH_LAPACK_TRTRI] = call_trtri, [GSH_LAPACK_ORMQR] = call_ormqr,
    [GSH_LAPACK_SYTRF] = call_sytrf, [GSH_LAPACK_SYTRS] = call_sytrs,
    [GSH_LAPACK_SYTRI] = call_sytri, [GSH_LAPACK_GELS] = call_gels,
};

/* ---- the launch ---- */

bool gsh_emu_lapack_symbols_has(const struct gsh_launch *launch)
{
    int integer_bits;
    return calls[launch->lapack.routine] != NULL && find(launch, &integer_bits) != NULL;
}

/* Computes the matrix whose operands are at `addresses`. */
static enum gsh_status run_one(const struct gsh_launch *launch, char *const *addresses)
{
    const struct gsh_core *cores = launch->lapack.cores;
    struct problem problem = {.launch = launch,
                              .rows = cores[0].extent[0],
                              .columns = cores[0].extent[1],
                              .right = cores[launch->nin - 1].extent[1],
                              .longest = GSH_MAX(cores[0].extent[0], cores[0].extent[1])};
    problem.function = find(launch, &problem.integer_bits);
    enum gsh_status status = pack(&problem, addresses);
    if (status == GSH_OK && !may_compute(&problem))
        status = GSH_DECLINED;
    if (status == GSH_OK)
        status = (int32_t)calls[launch->lapack.routine](&problem) != 0 ? GSH_DECLINED : GSH_OK;
    for (unsigned k = launch->nin; status == GSH_OK && k < launch->nin + launch->nout; k++)
        move_matrix(&problem, k, addresses[k], problem.operands[k], cores[k].extent[0], false);
    release(&problem);
    return status;
}

static enum gsh_status run_all(const struct gsh_launch *launch)
{
    struct gsh_host_walk walk = gsh_host_walk_begin(launch, 0, launch->ndim);
    int64_t left = gsh_launch_elements(launch);
    for (; left > 0; left--, gsh_host_walk_step(&walk, 1))
        GSH_TRY(run_one(launch, walk.address));
    return GSH_OK;
}

enum gsh_status gsh_emu_lapack_symbols_run(const struct gsh_launch *launch)
{
    fexcept_t flags;
    fegetexceptflag(&flags, FE_ALL_EXCEPT);
    enum gsh_status status = run_all(launch);
    fesetexceptflag(&flags, FE_ALL_EXCEPT);
    return status;
}
