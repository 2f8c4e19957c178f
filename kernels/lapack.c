/* SPDX-License-Identifier: Apache-2.0
 *
 * lapack.def as a table.
 */
#include "lapack.h"

#include "critical.h"

#include <float.h>
#include <pthread.h>
#include <string.h>

static struct gsh_lapack_info table[GSH_LAPACK_COUNT] = {
#define X(routine, name, operands, outputs, flops, host_share, device_share, device_us, together)  \
    {name, 0, outputs, {{0}}, host_share, device_share, (device_us)*1e-6, together},
#include "lapack.def"
#undef X
};

static const char *const texts[] = {
#define X(routine, name, operands, ...) operands,
#include "lapack.def"
#undef X
};

/* "Tmm Tmr Tmr": the operands, of which the last info->nout are outputs. */
static void read_operands(const char *text, struct gsh_lapack_info *info)
{
    unsigned count = 0;
    for (; *text != '\0'; text += strspn(text, " ")) {
        struct gsh_lapack_operand *operand = &info->operands[count++];
        operand->ndim = (int)strcspn(text, " ") - 1;
        operand->dtype = text[0];
        memcpy(operand->dims, text + 1, (size_t)operand->ndim);
        text += 1 + operand->ndim;
    }
    info->nin = count - info->nout;
}

static void read_table(void)
{
    for (size_t k = 0; k < GSH_COUNT(table); k++)
        read_operands(texts[k], &table[k]);
}

const struct gsh_lapack_info *gsh_lapack_info(enum gsh_lapack_routine routine)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    gsh_critical_enter(); /* a signal handler here would leave other threads waiting */
    pthread_once(&once, read_table);
    gsh_critical_leave();
    return &table[routine];
}

/* NumPy before 2.1 has separate gufuncs for m <= n and m > n: svd_m, svd_n_s, qr_r_raw_m. */
static bool matches(const char *gufunc, const char *name)
{
    for (; *gufunc != '\0'; gufunc++, name++) {
        bool is_old = gufunc[0] == '_' && (gufunc[1] == 'm' || gufunc[1] == 'n') &&
                      (gufunc[2] == '\0' || gufunc[2] == '_');
        if (is_old)
            gufunc += 2;
        if (*gufunc != *name)
            return false;
        if (*gufunc == '\0')
            return true;
    }
    return *name == '\0';
}

int gsh_lapack_find(const char *gufunc)
{
    for (int k = 0; k < GSH_LAPACK_COUNT; k++)
        if (matches(gufunc, table[k].name))
            return k;
    return -1;
}

enum gsh_dtype gsh_lapack_dtype(const struct gsh_lapack_operand *operand, enum gsh_dtype loop)
{
    if (operand->dtype == 'R')
        return gsh_dtype_real(loop);
    if (operand->dtype == 'I')
        return GSH_INT32;
    if (operand->dtype == 'C')
        return gsh_dtype_complex(loop);
    return loop;
}

double gsh_lapack_tolerance(double rcond, enum gsh_dtype loop)
{
    double epsilon = gsh_dtype_is_single(loop) ? (double)FLT_EPSILON : DBL_EPSILON;
    return rcond > 0 && rcond < 1 ? rcond : epsilon / 2; /* LAPACK's epsilon is half of C's */
}

int64_t gsh_lapack_rank(const void *values, int64_t count, double rcond, enum gsh_dtype loop)
{
    const float *singles = values;
    const double *doubles = values;
    bool is_single = gsh_dtype_is_single(loop);
    double least =
        gsh_lapack_tolerance(rcond, loop) * (is_single ? (double)singles[0] : doubles[0]);
    int64_t rank = 0;
    for (int64_t i = 0; i < count; i++)
        rank += (is_single ? (double)singles[i] : doubles[i]) > least;
    return rank;
}

double gsh_lapack_flops(enum gsh_lapack_routine routine, const int64_t *a, const int64_t *b)
{
    double m = (double)a[0], n = (double)a[1], r = (double)b[1];
    double p = m < n ? m : n, q = m < n ? n : m;
    const double flops[] = {
#define X(routine, name, operands, outputs, flops, ...) flops,
#include "lapack.def"
#undef X
    };
    return flops[routine];
}
