/* SPDX-License-Identifier: Apache-2.0
 *
 * Singular values, orthogonal factors and least squares: ?gesdd, ?gesvd, ?geqrf, ?orgqr and ?ungqr,
 * ?ormqr and ?unmqr, ?gels, ?gelsd. Where LAPACK destroys A, the device leaves it unchanged.
 * Checked by tests/unit/interpose/blas/test_lapack_symbols.c.
 */
#include "lapack_launch.h"

#include "coherence.h"

#include <math.h>

/* ---- singular value decompositions ---- */

/* The argument numbers of ?gesdd or ?gesvd. a, lda, s, u, ldu, vt and ldvt follow n. */
struct svd {
    char job;
    int64_t m, n, lda, ldu, ldvt;
    unsigned n_at;
};

static struct svd read_svd(const struct gsh_blas_entry_call *call, char job, unsigned m_at)
{
    return (struct svd){job,
                        gsh_blas_entry_integer(call, m_at),
                        gsh_blas_entry_integer(call, m_at + 1),
                        gsh_blas_entry_integer(call, m_at + 3),
                        gsh_blas_entry_integer(call, m_at + 6),
                        gsh_blas_entry_integer(call, m_at + 8),
                        m_at + 1};
}

static bool fits_svd(const struct svd *svd)
{
    int64_t p = GSH_MIN(svd->m, svd->n);
    bool has_vectors = svd->job != 'N';
    return (svd->job == 'N' || svd->job == 'S' || svd->job == 'A') && svd->m > 0 && svd->n > 0 &&
           svd->lda >= svd->m && svd->ldu >= (has_vectors ? svd->m : 1) &&
           svd->ldvt >= (svd->job == 'A'   ? svd->n
                         : svd->job == 'S' ? p
                                           : 1);
}

static bool launch_svd(struct gsh_blas_entry_call *call, const struct svd *svd)
{
    int64_t m = svd->m, n = svd->n, p = GSH_MIN(m, n);
    const void *a = gsh_blas_entry_address(call, svd->n_at + 1);
    const void *s = gsh_blas_entry_address(call, svd->n_at + 3);
    bool is_full = svd->job == 'A';
    if (svd->job == 'N') {
        gsh_lapack_launch_begin(call, GSH_LAPACK_SVD, 0);
        gsh_lapack_launch_matrix(call, 0, a, m, n, svd->lda);
        gsh_lapack_launch_vector(call, 1, s, p);
        return gsh_blas_entry_launch(call);
    }
    gsh_lapack_launch_begin(call, is_full ? GSH_LAPACK_SVD_F : GSH_LAPACK_SVD_S, 0);
    gsh_lapack_launch_matrix(call, 0, a, m, n, svd->lda);
    gsh_lapack_launch_matrix(call, 1, gsh_blas_entry_address(call, svd->n_at + 4), m,
                             is_full ? m : p, svd->ldu);
    gsh_lapack_launch_vector(call, 2, s, p);
    gsh_lapack_launch_matrix(call, 3, gsh_blas_entry_address(call, svd->n_at + 6), is_full ? n : p,
                             n, svd->ldvt);
    return gsh_blas_entry_launch(call);
}

static bool run_svd(struct gsh_blas_entry_call *call, const struct svd *svd,
                    const struct gsh_lapack_workspace *space, bool is_understood)
{
    bool is_query = gsh_blas_entry_integer(call, space->length) <= 0;
    return !is_query && gsh_lapack_launch_expect(call, is_understood) && fits_svd(svd) &&
           gsh_lapack_launch_has_space(call, space, 1) && launch_svd(call, svd) &&
           gsh_lapack_launch_end(call, space, 1);
}

/* The length of ?gesdd's workspace in elements. */
static int64_t least_gesdd(bool is_pair, char job, int64_t m, int64_t n)
{
    int64_t p = GSH_MIN(m, n), q = GSH_MAX(m, n);
    if (is_pair)
        return job == 'N' ? 2 * p + q : p * p + (job == 'A' ? 2 * p + q : 3 * p);
    return job == 'N'   ? 3 * p + GSH_MAX(q, 7 * p)
           : job == 'A' ? 4 * p * p + 6 * p + q
                        : 4 * p * p + 7 * p;
}

/* jobz, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, (rwork,) iwork, info */
static bool run_gesdd(struct gsh_blas_entry_call *call)
{
    char job = gsh_blas_entry_letter(call, 0);
    struct svd svd = read_svd(call, job, 1);
    struct gsh_lapack_workspace space = {
        10, 11, least_gesdd(gsh_blas_entry_is_complex(call), job, svd.m, svd.n), 'T'};
    return run_svd(call, &svd, &space, job != 'O');
}

/* jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, (rwork,) info */
static bool run_gesvd(struct gsh_blas_entry_call *call)
{
    char job = gsh_blas_entry_letter(call, 0);
    struct svd svd = read_svd(call, job, 2);
    int64_t p = GSH_MIN(svd.m, svd.n), q = GSH_MAX(svd.m, svd.n);
    int64_t least = gsh_blas_entry_is_complex(call) ? 2 * p + q : GSH_MAX(3 * p + q, 5 * p);
    struct gsh_lapack_workspace space = {11, 12, least, 'T'};
    return run_svd(call, &svd, &space, job != 'O' && job == gsh_blas_entry_letter(call, 1));
}

/* ---- orthogonal factors ---- */

/* m, n, a, lda, tau, work, lwork, info */
static bool run_geqrf(struct gsh_blas_entry_call *call)
{
    int64_t m = gsh_blas_entry_integer(call, 0), n = gsh_blas_entry_integer(call, 1);
    int64_t lda = gsh_blas_entry_integer(call, 3);
    void *a = gsh_blas_entry_address(call, 2);
    struct gsh_lapack_workspace space = {5, 6, n, 'T'};
    if (m <= 0 || n <= 0 || lda < m || !gsh_lapack_launch_has_space(call, &space, 1))
        return false;
    gsh_lapack_launch_begin(call, GSH_LAPACK_QR_R_RAW, 0);
    gsh_lapack_launch_matrix(call, 0, a, m, n, lda);
    gsh_lapack_launch_matrix(call, 1, a, m, n, lda);
    gsh_lapack_launch_vector(call, 2, gsh_blas_entry_address(call, 4), GSH_MIN(m, n));
    return gsh_blas_entry_launch(call) && gsh_lapack_launch_end(call, &space, 1);
}

/* m, n, k, a, lda, tau, work, lwork, info. k reflectors give the first k columns of Q, or all m. */
static bool run_orgqr(struct gsh_blas_entry_call *call)
{
    int64_t m = gsh_blas_entry_integer(call, 0), n = gsh_blas_entry_integer(call, 1);
    int64_t k = gsh_blas_entry_integer(call, 2), lda = gsh_blas_entry_integer(call, 4);
    void *a = gsh_blas_entry_address(call, 3);
    struct gsh_lapack_workspace space = {6, 7, n, 'T'};
    if (m <= 0 || n <= 0 || k <= 0 || n > m || k > n || lda < m ||
        !gsh_lapack_launch_has_space(call, &space, 1) ||
        !gsh_lapack_launch_expect(call, n == k || n == m))
        return false;
    gsh_lapack_launch_begin(call, n == k ? GSH_LAPACK_QR_REDUCED : GSH_LAPACK_QR_COMPLETE, 0);
    gsh_lapack_launch_matrix(call, 0, a, m, k, lda);
    gsh_lapack_launch_vector(call, 1, gsh_blas_entry_address(call, 5), k);
    gsh_lapack_launch_matrix(call, 2, a, m, n, lda);
    return gsh_blas_entry_launch(call) && gsh_lapack_launch_end(call, &space, 1);
}

/* One call of ?ormqr: side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info. C is m x n. Q
 * is the product of k reflectors. */
struct application {
    char side, trans;
    int64_t m, n, k, lda, ldc;
};

static bool read_application(const struct gsh_blas_entry_call *call, struct application *q)
{
    *q = (struct application){gsh_blas_entry_letter(call, 0),  gsh_blas_entry_letter(call, 1),
                              gsh_blas_entry_integer(call, 2), gsh_blas_entry_integer(call, 3),
                              gsh_blas_entry_integer(call, 4), gsh_blas_entry_integer(call, 6),
                              gsh_blas_entry_integer(call, 9)};
    char adjoint = gsh_blas_entry_is_complex(call) ? 'C' : 'T';
    int64_t order = q->side == 'L' ? q->m : q->n;
    return (q->side == 'L' || q->side == 'R') && (q->trans == 'N' || q->trans == adjoint) &&
           q->m > 0 && q->n > 0 && q->k > 0 && q->k <= order && q->lda >= order && q->ldc >= q->m;
}

static bool run_ormqr(struct gsh_blas_entry_call *call)
{
    struct application q;
    if (!read_application(call, &q))
        return false;
    bool is_left = q.side == 'L';
    struct gsh_lapack_workspace space = {10, 11, is_left ? q.n : q.m, 'T'};
    if (!gsh_lapack_launch_has_space(call, &space, 1))
        return false;
    gsh_lapack_launch_begin(call, GSH_LAPACK_ORMQR,
                            gsh_lapack_launch_transposition(q.trans) |
                                (is_left ? 0 : GSH_LAPACK_RIGHT));
    gsh_lapack_launch_matrix(call, 0, gsh_blas_entry_address(call, 5), is_left ? q.m : q.n, q.k,
                             q.lda);
    gsh_lapack_launch_vector(call, 1, gsh_blas_entry_address(call, 7), q.k);
    for (unsigned k = 2; k < 4; k++)
        if (is_left)
            gsh_lapack_launch_matrix(call, k, gsh_blas_entry_address(call, 8), q.m, q.n, q.ldc);
        else
            gsh_lapack_launch_transpose(call, k, gsh_blas_entry_address(call, 8), q.n, q.m, q.ldc);
    return gsh_blas_entry_launch(call) && gsh_lapack_launch_end(call, &space, 1);
}

/* ---- least squares ---- */

/* trans, m, n, nrhs, a, lda, b, ldb, work, lwork, info. A rank-deficient matrix is declined; the
 * original reports it. */
static bool run_gels(struct gsh_blas_entry_call *call)
{
    char letter = gsh_blas_entry_letter(call, 0);
    int64_t m = gsh_blas_entry_integer(call, 1), n = gsh_blas_entry_integer(call, 2);
    int64_t count = gsh_blas_entry_integer(call, 3), lda = gsh_blas_entry_integer(call, 5);
    int64_t ldb = gsh_blas_entry_integer(call, 7);
    void *a = gsh_blas_entry_address(call, 4), *b = gsh_blas_entry_address(call, 6);
    struct gsh_lapack_workspace space = {8, 9, n + GSH_MAX(n, count), 'T'};
    if (!gsh_lapack_launch_is_transposition(letter) || m <= 0 || n <= 0 || count <= 0 || lda < m ||
        ldb < GSH_MAX(m, n) || gsh_blas_entry_integer(call, space.length) <= 0 ||
        !gsh_lapack_launch_expect(call, letter == 'N' && m >= n) ||
        !gsh_lapack_launch_has_space(call, &space, 1))
        return false;
    gsh_lapack_launch_begin(call, GSH_LAPACK_GELS, 0);
    for (unsigned k = 0; k < 4; k += 2) {
        gsh_lapack_launch_matrix(call, k, a, m, n, lda);
        gsh_lapack_launch_matrix(call, k + 1, b, m, count, ldb);
    }
    return gsh_blas_entry_launch(call) && gsh_lapack_launch_end(call, &space, 1);
}

/* m, n, nrhs, a, lda, b, ldb, s, rcond, rank, work, lwork, (rwork,) iwork, info */
enum { GELSD_S = 7, GELSD_RCOND = 8, GELSD_RANK = 9 };

/* The length in elements that LAPACK documents. SMLSIZ, the size at which the division stops, is
 * 25. */
static int64_t least_gelsd(bool is_pair, int64_t m, int64_t n, int64_t count)
{
    const int64_t smallest = 25;
    int64_t p = GSH_MIN(m, n);
    if (is_pair)
        return 2 * p + GSH_MAX(GSH_MAX(m, n), p * count);
    int64_t levels = (int64_t)log2((double)p / (double)(smallest + 1)) + 1;
    return 12 * p + 2 * p * smallest + 8 * p * GSH_MAX(0, levels) + p * count +
           (smallest + 1) * (smallest + 1);
}

static int64_t count_rank(const struct gsh_blas_entry_call *call, int64_t count, double rcond)
{
    size_t size = gsh_dtype_size(gsh_dtype_real(call->dtype));
    const void *values = gsh_blas_entry_address(call, GELSD_S);
    gsh_coherence_fetch(values, (size_t)count * size, false);
    return gsh_lapack_rank(values, count, rcond, call->dtype);
}

static bool run_gelsd(struct gsh_blas_entry_call *call)
{
    int64_t m = gsh_blas_entry_integer(call, 0), n = gsh_blas_entry_integer(call, 1);
    int64_t count = gsh_blas_entry_integer(call, 2), lda = gsh_blas_entry_integer(call, 4);
    int64_t ldb = gsh_blas_entry_integer(call, 6), p = GSH_MIN(m, n), q = GSH_MAX(m, n);
    void *b = gsh_blas_entry_address(call, 5);
    if (m <= 0 || n <= 0 || count <= 0 || lda < m || ldb < q)
        return false;
    struct gsh_lapack_workspace space = {
        10, 11, least_gelsd(gsh_blas_entry_is_complex(call), m, n, count), 'T'};
    if (!gsh_lapack_launch_has_space(call, &space, 1))
        return false;
    gsh_lapack_launch_begin(call, GSH_LAPACK_LSTSQ, 0);
    call->call.launch.lapack.tolerance =
        gsh_blas_entry_number(call, gsh_blas_entry_address(call, GELSD_RCOND));
    gsh_lapack_launch_matrix(call, 0, gsh_blas_entry_address(call, 3), m, n, lda);
    gsh_lapack_launch_matrix(call, 1, b, m, count, ldb);
    gsh_lapack_launch_matrix(call, 2, b, q, count, ldb);
    gsh_lapack_launch_vector(call, 3, gsh_blas_entry_address(call, GELSD_S), p);
    if (!gsh_blas_entry_launch(call))
        return false;
    gsh_blas_entry_put_integer(call, GELSD_RANK,
                               count_rank(call, p, call->call.launch.lapack.tolerance));
    return gsh_lapack_launch_end(call, &space, 1);
}

/* ---- the table ---- */

#define GESDD(name, last)                                                                          \
    const struct gsh_blas_entry_shape gsh_blas_entry_shape_##name = {                              \
        .sizes = {1, 2, GSH_BLAS_ENTRY_NONE},                                                      \
        .matrices = {3, 6, 8, GSH_BLAS_ENTRY_NONE},                                                \
        .arguments = (last) + 1 + 1,                                                               \
        .info = last,                                                                              \
        .lapack_routine = GSH_BLAS_ENTRY_NONE,                                                     \
        .run = run_gesdd}
GESDD(GESDD, 13);
GESDD(GESDD_COMPLEX, 14);

#define GESVD(name, last)                                                                          \
    const struct gsh_blas_entry_shape gsh_blas_entry_shape_##name = {                              \
        .sizes = {2, 3, GSH_BLAS_ENTRY_NONE},                                                      \
        .matrices = {4, 7, 9, GSH_BLAS_ENTRY_NONE},                                                \
        .arguments = (last) + 1 + 2,                                                               \
        .info = last,                                                                              \
        .lapack_routine = GSH_BLAS_ENTRY_NONE,                                                     \
        .run = run_gesvd}
GESVD(GESVD, 13);
GESVD(GESVD_COMPLEX, 14);

const struct gsh_blas_entry_shape gsh_blas_entry_shape_GELS = {
    .sizes = {1, 2, GSH_BLAS_ENTRY_NONE},
    .matrices = {4, 6, GSH_BLAS_ENTRY_NONE},
    .arguments = 11 + 1,
    .info = 10,
    .lapack_routine = GSH_LAPACK_GELS,
    .run = run_gels};

#define GELSD(name, last)                                                                          \
    const struct gsh_blas_entry_shape gsh_blas_entry_shape_##name = {                              \
        .sizes = {0, 1, GSH_BLAS_ENTRY_NONE},                                                      \
        .matrices = {3, 5, GSH_BLAS_ENTRY_NONE},                                                   \
        .arguments = (last) + 1,                                                                   \
        .info = last,                                                                              \
        .lapack_routine = GSH_LAPACK_LSTSQ,                                                        \
        .run = run_gelsd}
GELSD(GELSD, 13);
GELSD(GELSD_COMPLEX, 14);

const struct gsh_blas_entry_shape gsh_blas_entry_shape_GEQRF = {
    .sizes = {0, 1, GSH_BLAS_ENTRY_NONE},
    .matrices = {2, GSH_BLAS_ENTRY_NONE},
    .arguments = 8,
    .info = 7,
    .lapack_routine = GSH_BLAS_ENTRY_NONE,
    .run = run_geqrf};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_ORGQR = {
    .sizes = {0, 1, GSH_BLAS_ENTRY_NONE},
    .matrices = {3, GSH_BLAS_ENTRY_NONE},
    .arguments = 9,
    .info = 8,
    .lapack_routine = GSH_BLAS_ENTRY_NONE,
    .run = run_orgqr};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_ORMQR = {
    .sizes = {2, 3, GSH_BLAS_ENTRY_NONE},
    .matrices = {5, 8, GSH_BLAS_ENTRY_NONE},
    .arguments = 13 + 2,
    .info = 12,
    .lapack_routine = GSH_LAPACK_ORMQR,
    .run = run_ormqr};
