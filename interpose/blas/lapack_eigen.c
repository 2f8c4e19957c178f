/* SPDX-License-Identifier: Apache-2.0
 *
 * Eigenvalues and eigenvectors: ?syev, ?syevd, ?syevr and their complex counterparts ?heev..,
 * ?geev. Where LAPACK destroys A, the device leaves it unchanged. Checked by
 * tests/unit/interpose/blas/test_lapack_symbols.c.
 */
#include "lapack_launch.h"

#include "coherence.h"

#include <complex.h>
#include <stdlib.h>

/* ---- symmetric and Hermitian matrices ---- */

/* The matrix, of which `triangle` is read, the values, and the vectors if job is 'V'. */
struct symmetric {
    char job, triangle;
    int64_t n, lda, ldz;
    void *a, *w, *z;
};

static bool fits_symmetric(const struct symmetric *s)
{
    return (s->job == 'N' || s->job == 'V') && gsh_lapack_launch_is_triangle(s->triangle) &&
           s->n > 0 && s->lda >= s->n && s->ldz >= (s->job == 'V' ? s->n : 1);
}

static bool launch_symmetric(struct gsh_blas_entry_call *call, const struct symmetric *s)
{
    bool is_upper = s->triangle == 'U';
    if (s->job == 'N') {
        gsh_lapack_launch_begin(call, is_upper ? GSH_LAPACK_EIGVALSH_UP : GSH_LAPACK_EIGVALSH_LO,
                                0);
    } else {
        gsh_lapack_launch_begin(call, is_upper ? GSH_LAPACK_EIGH_UP : GSH_LAPACK_EIGH_LO, 0);
        gsh_lapack_launch_matrix(call, 2, s->z, s->n, s->n, s->ldz);
    }
    gsh_lapack_launch_matrix(call, 0, s->a, s->n, s->n, s->lda);
    gsh_lapack_launch_vector(call, 1, s->w, s->n);
    return gsh_blas_entry_launch(call);
}

/* jobz, uplo, n, a, lda, w, ...: the vectors overwrite A. */
static struct symmetric read_in_place(const struct gsh_blas_entry_call *call)
{
    int64_t lda = gsh_blas_entry_integer(call, 4);
    void *a = gsh_blas_entry_address(call, 3);
    return (struct symmetric){gsh_blas_entry_letter(call, 0),
                              gsh_blas_entry_letter(call, 1),
                              gsh_blas_entry_integer(call, 2),
                              lda,
                              lda,
                              a,
                              gsh_blas_entry_address(call, 5),
                              a};
}

static bool run_in_place(struct gsh_blas_entry_call *call, const struct symmetric *s,
                         const struct gsh_lapack_workspace *spaces, unsigned count)
{
    return fits_symmetric(s) && gsh_lapack_launch_has_space(call, spaces, count) &&
           launch_symmetric(call, s) && gsh_lapack_launch_end(call, spaces, count);
}

/* ..., work, lwork, (rwork,) info */
static bool run_syev(struct gsh_blas_entry_call *call)
{
    struct symmetric s = read_in_place(call);
    struct gsh_lapack_workspace space = {6, 7, (gsh_blas_entry_is_complex(call) ? 2 : 3) * s.n - 1,
                                         'T'};
    return run_in_place(call, &s, &space, 1);
}

/* ..., work, lwork, (rwork, lrwork,) iwork, liwork, info */
static bool run_syevd(struct gsh_blas_entry_call *call)
{
    struct symmetric s = read_in_place(call);
    int64_t n = s.n, integers = s.job == 'V' ? 3 + 5 * n : 1;
    if (gsh_blas_entry_is_complex(call)) {
        struct gsh_lapack_workspace spaces[] = {
            {6, 7, s.job == 'V' ? 2 * n + n * n : n + 1, 'T'},
            {8, 9, s.job == 'V' ? 1 + 5 * n + 2 * n * n : n, 'R'},
            {10, 11, integers, 'I'}};
        return run_in_place(call, &s, spaces, 3);
    }
    struct gsh_lapack_workspace spaces[] = {
        {6, 7, s.job == 'V' ? 1 + 6 * n + 2 * n * n : 2 * n + 1, 'T'}, {8, 9, integers, 'I'}};
    return run_in_place(call, &s, spaces, 2);
}

/* jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, isuppz, work, lwork, (rwork, lrwork,) iwork,
 * liwork, info */
enum { SYEVR_FOUND = 11, SYEVR_SUPPORT = 15 };

/* Writes isuppz for a call in which all values were found: a vector may have nonzero elements
 * anywhere. */
static bool put_support(struct gsh_blas_entry_call *call, const struct symmetric *s,
                        int32_t *support)
{
    for (int64_t i = 0; i < s->n; i++) {
        support[2 * i] = 1;
        support[2 * i + 1] = (int32_t)s->n;
    }
    gsh_blas_entry_put_integer(call, SYEVR_FOUND, s->n);
    if (s->job == 'V')
        gsh_lapack_launch_write_integers(call, SYEVR_SUPPORT, support, 2 * s->n);
    return true;
}

static bool run_all_values(struct gsh_blas_entry_call *call, const struct symmetric *s)
{
    int32_t *support = gsh_lapack_launch_memory(call, 2 * s->n, sizeof(*support));
    bool is_done = support != NULL && launch_symmetric(call, s) && put_support(call, s, support);
    free(support);
    return is_done;
}

static bool run_syevr(struct gsh_blas_entry_call *call)
{
    struct symmetric s = {gsh_blas_entry_letter(call, 0),   gsh_blas_entry_letter(call, 2),
                          gsh_blas_entry_integer(call, 3),  gsh_blas_entry_integer(call, 5),
                          gsh_blas_entry_integer(call, 14), gsh_blas_entry_address(call, 4),
                          gsh_blas_entry_address(call, 12), gsh_blas_entry_address(call, 13)};
    bool is_pair = gsh_blas_entry_is_complex(call);
    unsigned integers = is_pair ? 20 : 18, count = is_pair ? 3 : 2;
    const struct gsh_lapack_workspace spaces[] = {{16, 17, (is_pair ? 2 : 26) * s.n, 'T'},
                                                  {integers, integers + 1, 10 * s.n, 'I'},
                                                  {18, 19, 24 * s.n, 'R'}};
    return fits_symmetric(&s) && gsh_lapack_launch_has_space(call, spaces, count) &&
           gsh_lapack_launch_expect(call, gsh_blas_entry_letter(call, 1) == 'A') &&
           run_all_values(call, &s) && gsh_lapack_launch_end(call, spaces, count);
}

/* ---- general matrices ---- */

/* One call of ?geev. If the values are one array of complex numbers, the arguments from ldvl on
 * have numbers smaller by one. */
struct general {
    char job;
    int64_t n, lda, ldvr;
    void *a, *vr;
};

/* jobvl, jobvr, n, a, lda, wr, wi, vl, ldvl, vr, ldvr, work, lwork, info, or
 * jobvl, jobvr, n, a, lda, w, vl, ldvl, vr, ldvr, work, lwork, rwork, info */
static bool read_general(const struct gsh_blas_entry_call *call, struct general *g)
{
    unsigned vr = gsh_blas_entry_is_complex(call) ? 8 : 9;
    char left = gsh_blas_entry_letter(call, 0);
    *g = (struct general){gsh_blas_entry_letter(call, 1),  gsh_blas_entry_integer(call, 2),
                          gsh_blas_entry_integer(call, 4), gsh_blas_entry_integer(call, vr + 1),
                          gsh_blas_entry_address(call, 3), gsh_blas_entry_address(call, vr)};
    return (left == 'N' || left == 'V') && (g->job == 'N' || g->job == 'V') && g->n > 0 &&
           g->lda >= g->n && gsh_blas_entry_integer(call, vr - 1) >= (left == 'V' ? g->n : 1) &&
           g->ldvr >= (g->job == 'V' ? g->n : 1);
}

static bool launch_general(struct gsh_blas_entry_call *call, const struct general *g, void *values,
                           void *vectors, int64_t leading)
{
    gsh_lapack_launch_begin(call, g->job == 'V' ? GSH_LAPACK_EIG : GSH_LAPACK_EIGVALS, 0);
    gsh_lapack_launch_matrix(call, 0, g->a, g->n, g->n, g->lda);
    gsh_lapack_launch_vector(call, 1, values, g->n);
    if (g->job == 'V')
        gsh_lapack_launch_matrix(call, 2, vectors, g->n, g->n, leading);
    return gsh_blas_entry_launch(call);
}

/* Number i of an array of complex numbers of the call's precision. */
static double _Complex pair_at(const struct gsh_blas_entry_call *call, const void *pairs, int64_t i)
{
    return gsh_blas_entry_is_single(call) ? (double _Complex)((const float _Complex *)pairs)[i]
                                          : ((const double _Complex *)pairs)[i];
}

static void put_real(const struct gsh_blas_entry_call *call, void *reals, int64_t i, double value)
{
    if (gsh_blas_entry_is_single(call))
        ((float *)reals)[i] = (float)value;
    else
        ((double *)reals)[i] = value;
}

/* Whether the complex values of a real matrix are in conjugate pairs, the one with the positive
 * imaginary part first. */
static bool is_in_pairs(const struct gsh_blas_entry_call *call, const void *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double _Complex value = pair_at(call, values, i);
        if (cimag(value) == 0)
            continue;
        if (cimag(value) < 0 || i + 1 == n || pair_at(call, values, i + 1) != conj(value))
            return false;
        i++;
    }
    return true;
}

/* Stores the vector of the first value of a pair as two columns: the real part, then the imaginary
 * part. */
static void unpack_vectors(const struct gsh_blas_entry_call *call, const struct general *g,
                           const void *values, const void *vectors)
{
    int64_t n = g->n;
    for (int64_t j = 0; j < n; j++) {
        bool is_pair = cimag(pair_at(call, values, j)) != 0;
        for (int64_t i = 0; i < n; i++) {
            double _Complex element = pair_at(call, vectors, j * n + i);
            put_real(call, g->vr, j * g->ldvr + i, creal(element));
            if (is_pair)
                put_real(call, g->vr, (j + 1) * g->ldvr + i, cimag(element));
        }
        j += is_pair ? 1 : 0;
    }
}

static bool unpack_general(struct gsh_blas_entry_call *call, const struct general *g,
                           const void *values, const void *vectors)
{
    if (!is_in_pairs(call, values, g->n)) {
        call->why = GSH_REASON_NUMERICAL;
        return false;
    }
    for (int64_t i = 0; i < g->n; i++) {
        double _Complex value = pair_at(call, values, i);
        put_real(call, gsh_blas_entry_address(call, 5), i, creal(value));
        put_real(call, gsh_blas_entry_address(call, 6), i, cimag(value));
    }
    if (g->job == 'V') {
        size_t size = gsh_dtype_size(call->dtype);
        gsh_coherence_fetch(g->vr, (size_t)(g->ldvr * (g->n - 1) + g->n) * size, true);
        unpack_vectors(call, g, values, vectors);
    }
    return true;
}

/* The device computes complex values and vectors; LAPACK returns them as real numbers. */
static bool run_real_general(struct gsh_blas_entry_call *call, const struct general *g)
{
    size_t size = 2 * gsh_dtype_size(call->dtype);
    char *values = gsh_lapack_launch_memory(call, g->n + g->n * g->n, size);
    if (values == NULL)
        return false;
    char *vectors = values + (size_t)g->n * size;
    bool is_done =
        launch_general(call, g, values, vectors, g->n) && unpack_general(call, g, values, vectors);
    free(values);
    return is_done;
}

static bool run_geev(struct gsh_blas_entry_call *call)
{
    struct general g;
    bool is_pair = gsh_blas_entry_is_complex(call);
    if (!read_general(call, &g))
        return false;
    int64_t least = (is_pair ? 2 : g.job == 'V' ? 4 : 3) * g.n;
    struct gsh_lapack_workspace space = {is_pair ? 10 : 11, is_pair ? 11 : 12, least, 'T'};
    if (!gsh_lapack_launch_has_space(call, &space, 1) ||
        !gsh_lapack_launch_expect(call, gsh_blas_entry_letter(call, 0) == 'N'))
        return false;
    bool is_done = is_pair ? launch_general(call, &g, gsh_blas_entry_address(call, 5), g.vr, g.ldvr)
                           : run_real_general(call, &g);
    return is_done && gsh_lapack_launch_end(call, &space, 1);
}

/* ---- the table ---- */

#define IN_PLACE(name, last, handler)                                                              \
    const struct gsh_blas_entry_shape gsh_blas_entry_shape_##name = {                              \
        .sizes = {2, 2, GSH_BLAS_ENTRY_NONE},                                                      \
        .matrices = {3, GSH_BLAS_ENTRY_NONE},                                                      \
        .arguments = (last) + 1 + 2,                                                               \
        .info = last,                                                                              \
        .lapack_routine = GSH_BLAS_ENTRY_NONE,                                                     \
        .run = handler}
IN_PLACE(SYEV, 8, run_syev);
IN_PLACE(SYEV_COMPLEX, 9, run_syev);
IN_PLACE(SYEVD, 10, run_syevd);
IN_PLACE(SYEVD_COMPLEX, 12, run_syevd);

#define SYEVR(name, last)                                                                          \
    const struct gsh_blas_entry_shape gsh_blas_entry_shape_##name = {                              \
        .sizes = {3, 3, GSH_BLAS_ENTRY_NONE},                                                      \
        .matrices = {4, 13, GSH_BLAS_ENTRY_NONE},                                                  \
        .arguments = (last) + 1 + 3,                                                               \
        .info = last,                                                                              \
        .lapack_routine = GSH_BLAS_ENTRY_NONE,                                                     \
        .run = run_syevr}
SYEVR(SYEVR, 20);
SYEVR(SYEVR_COMPLEX, 22);

#define GEEV(name, vectors)                                                                        \
    const struct gsh_blas_entry_shape gsh_blas_entry_shape_##name = {                              \
        .sizes = {2, 2, GSH_BLAS_ENTRY_NONE},                                                      \
        .matrices = {3, vectors, GSH_BLAS_ENTRY_NONE},                                             \
        .arguments = 14 + 2,                                                                       \
        .info = 13,                                                                                \
        .lapack_routine = GSH_BLAS_ENTRY_NONE,                                                     \
        .run = run_geev}
GEEV(GEEV, 9);
GEEV(GEEV_COMPLEX, 8);
