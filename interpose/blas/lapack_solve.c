/* SPDX-License-Identifier: Apache-2.0
 *
 * LU and Cholesky factorisations, and the solution of systems by factors or by a triangle: ?getrf,
 * ?getrs, ?gesv, ?potrf, ?potrs, ?posv, ?trtrs. Checked by
 * tests/unit/interpose/blas/test_lapack_symbols.c.
 */
#include "lapack_launch.h"

#include "dispatch.h"
#include "host_calibration.h"
#include "stats.h"

#include <stdlib.h>

/* The right-hand sides of a call, which the solution overwrites. */
struct right_sides {
    void *address;
    int64_t count, leading;
};

/* ---- LU ---- */

/* Replaces A by its factors and fills the argument `pivots`. */
static bool factor_lu(struct gsh_blas_entry_call *call, int64_t m, int64_t n, void *a, int64_t lda,
                      unsigned pivots)
{
    int64_t count = GSH_MIN(m, n);
    int32_t *own = gsh_lapack_launch_memory(call, count, sizeof(*own));
    if (own == NULL)
        return false;
    gsh_lapack_launch_begin(call, GSH_LAPACK_GETRF, 0);
    gsh_lapack_launch_matrix(call, 0, a, m, n, lda);
    gsh_lapack_launch_matrix(call, 1, a, m, n, lda);
    gsh_lapack_launch_vector(call, 2, own, count);
    bool is_done = gsh_blas_entry_launch(call);
    if (is_done)
        gsh_lapack_launch_write_integers(call, pivots, own, count);
    free(own);
    return is_done;
}

/* Replaces B by op(A)^-1 B, from the factors of A. */
static bool solve_by_lu(struct gsh_blas_entry_call *call, unsigned options, int64_t n,
                        const void *lu, int64_t lda, unsigned pivots, const struct right_sides *b)
{
    gsh_lapack_launch_begin(call, GSH_LAPACK_GETRS, options);
    gsh_lapack_launch_matrix(call, 0, lu, n, n, lda);
    gsh_lapack_launch_matrix(call, 2, b->address, n, b->count, b->leading);
    gsh_lapack_launch_matrix(call, 3, b->address, n, b->count, b->leading);
    int32_t *own = gsh_lapack_launch_memory(call, n, sizeof(*own));
    if (own == NULL)
        return false;
    gsh_lapack_launch_vector(call, 1, own, n);
    bool is_done =
        gsh_lapack_launch_read_pivots(call, pivots, own, n, n) && gsh_blas_entry_launch(call);
    free(own);
    return is_done;
}

/* m, n, a, lda, ipiv, info */
static bool run_getrf(struct gsh_blas_entry_call *call)
{
    int64_t m = gsh_blas_entry_integer(call, 0), n = gsh_blas_entry_integer(call, 1);
    int64_t lda = gsh_blas_entry_integer(call, 3);
    return m > 0 && n > 0 && lda >= m &&
           factor_lu(call, m, n, gsh_blas_entry_address(call, 2), lda, 4) &&
           gsh_lapack_launch_end(call, NULL, 0);
}

/* trans, n, nrhs, a, lda, ipiv, b, ldb, info */
static bool run_getrs(struct gsh_blas_entry_call *call)
{
    char letter = gsh_blas_entry_letter(call, 0);
    int64_t n = gsh_blas_entry_integer(call, 1), lda = gsh_blas_entry_integer(call, 4);
    struct right_sides b = {gsh_blas_entry_address(call, 6), gsh_blas_entry_integer(call, 2),
                            gsh_blas_entry_integer(call, 7)};
    return gsh_lapack_launch_is_transposition(letter) && n > 0 && b.count > 0 && lda >= n &&
           b.leading >= n &&
           solve_by_lu(call, gsh_lapack_launch_transposition(letter), n,
                       gsh_blas_entry_address(call, 3), lda, 5, &b) &&
           gsh_lapack_launch_end(call, NULL, 0);
}

/* Finds the original of the second half of a routine. Once the first half has run on the device,
 * the call's own original cannot finish the call: it would start from A. */
static gsh_blas_entry_function *find_half(struct gsh_blas_entry_call *call, const char *name)
{
    gsh_blas_entry_function *function = gsh_blas_entry_find_other(call, name);
    if (function == NULL)
        call->why = GSH_REASON_UNSUPPORTED;
    return function;
}

/* Starts the second launch, which is counted as a separate routine. */
static void begin_second_half(struct gsh_blas_entry_call *call, const char *name)
{
    char full[16] = {call->routine->name[0]};
    for (size_t i = 0; name[i] != '\0' && i < sizeof(full) - 2; i++)
        full[i + 1] = name[i];
    call->call = (struct gsh_call){.row = gsh_blas_entry_row(call, full)};
}

static void leave_second_half(const struct gsh_blas_entry_call *call)
{
    gsh_host_calibration_forget();
    gsh_dispatch_fetch(&call->call);
    gsh_stats_host_call(call->call.row, call->why, 0);
}

/* n, nrhs, a, lda, ipiv, b, ldb, info */
static bool run_gesv(struct gsh_blas_entry_call *call)
{
    typedef void getrs(const char *, const void *, const void *, const void *, const void *,
                       const void *, void *, const void *, void *, size_t);
    int64_t n = gsh_blas_entry_integer(call, 0), lda = gsh_blas_entry_integer(call, 3);
    struct right_sides b = {gsh_blas_entry_address(call, 5), gsh_blas_entry_integer(call, 1),
                            gsh_blas_entry_integer(call, 6)};
    void *a = gsh_blas_entry_address(call, 2);
    if (n <= 0 || b.count <= 0 || lda < n || b.leading < n)
        return false;
    getrs *half = (getrs *)find_half(call, "getrs_");
    if (half == NULL || find_half(call, "getrf_") == NULL)
        return false;
    if (!factor_lu(call, n, n, a, lda, 4)) {
        gsh_host_calibration_forget(); /* the price was that of the first half only */
        return false;
    }
    begin_second_half(call, "getrs_");
    if (!solve_by_lu(call, 0, n, a, lda, 4, &b)) {
        leave_second_half(call);
        half("N", gsh_blas_entry_address(call, 0), gsh_blas_entry_address(call, 1), a,
             gsh_blas_entry_address(call, 3), gsh_blas_entry_address(call, 4), b.address,
             gsh_blas_entry_address(call, 6), gsh_blas_entry_address(call, 7), 1);
    }
    return gsh_lapack_launch_end(call, NULL, 0);
}

/* ---- Cholesky ---- */

static bool factor_cholesky(struct gsh_blas_entry_call *call, unsigned triangle, int64_t n, void *a,
                            int64_t lda)
{
    gsh_lapack_launch_begin(call, GSH_LAPACK_POTRF, triangle);
    gsh_lapack_launch_matrix(call, 0, a, n, n, lda);
    gsh_lapack_launch_matrix(call, 1, a, n, n, lda);
    return gsh_blas_entry_launch(call);
}

static bool solve_by_cholesky(struct gsh_blas_entry_call *call, unsigned triangle, int64_t n,
                              const void *factor, int64_t lda, const struct right_sides *b)
{
    gsh_lapack_launch_begin(call, GSH_LAPACK_POTRS, triangle);
    gsh_lapack_launch_matrix(call, 0, factor, n, n, lda);
    gsh_lapack_launch_matrix(call, 1, b->address, n, b->count, b->leading);
    gsh_lapack_launch_matrix(call, 2, b->address, n, b->count, b->leading);
    return gsh_blas_entry_launch(call);
}

/* uplo, n, a, lda, info */
static bool run_potrf(struct gsh_blas_entry_call *call)
{
    char letter = gsh_blas_entry_letter(call, 0);
    int64_t n = gsh_blas_entry_integer(call, 1), lda = gsh_blas_entry_integer(call, 3);
    return gsh_lapack_launch_is_triangle(letter) && n > 0 && lda >= n &&
           factor_cholesky(call, gsh_lapack_launch_triangle(letter), n,
                           gsh_blas_entry_address(call, 2), lda) &&
           gsh_lapack_launch_end(call, NULL, 0);
}

/* The arguments of ?potrs and ?posv: uplo, n, nrhs, a, lda, b, ldb, info. */
struct symmetric_system {
    unsigned triangle;
    int64_t n, lda;
    void *a;
    struct right_sides b;
};

static bool read_symmetric_system(const struct gsh_blas_entry_call *call,
                                  struct symmetric_system *system)
{
    char letter = gsh_blas_entry_letter(call, 0);
    *system =
        (struct symmetric_system){gsh_lapack_launch_triangle(letter),
                                  gsh_blas_entry_integer(call, 1),
                                  gsh_blas_entry_integer(call, 4),
                                  gsh_blas_entry_address(call, 3),
                                  {gsh_blas_entry_address(call, 5), gsh_blas_entry_integer(call, 2),
                                   gsh_blas_entry_integer(call, 6)}};
    return gsh_lapack_launch_is_triangle(letter) && system->n > 0 && system->b.count > 0 &&
           system->lda >= system->n && system->b.leading >= system->n;
}

static bool run_potrs(struct gsh_blas_entry_call *call)
{
    struct symmetric_system system;
    return read_symmetric_system(call, &system) &&
           solve_by_cholesky(call, system.triangle, system.n, system.a, system.lda, &system.b) &&
           gsh_lapack_launch_end(call, NULL, 0);
}

static bool run_posv(struct gsh_blas_entry_call *call)
{
    typedef void potrs(const void *, const void *, const void *, const void *, const void *, void *,
                       const void *, void *, size_t);
    struct symmetric_system system;
    if (!read_symmetric_system(call, &system))
        return false;
    potrs *half = (potrs *)find_half(call, "potrs_");
    if (half == NULL || find_half(call, "potrf_") == NULL)
        return false;
    if (!factor_cholesky(call, system.triangle, system.n, system.a, system.lda)) {
        gsh_host_calibration_forget(); /* as in gesv */
        return false;
    }
    begin_second_half(call, "potrs_");
    if (!solve_by_cholesky(call, system.triangle, system.n, system.a, system.lda, &system.b)) {
        leave_second_half(call);
        half(gsh_blas_entry_address(call, 0), gsh_blas_entry_address(call, 1),
             gsh_blas_entry_address(call, 2), system.a, gsh_blas_entry_address(call, 4),
             system.b.address, gsh_blas_entry_address(call, 6), gsh_blas_entry_address(call, 7), 1);
    }
    return gsh_lapack_launch_end(call, NULL, 0);
}

/* ---- triangles ---- */

/* uplo, trans, diag, n, nrhs, a, lda, b, ldb, info */
static bool run_trtrs(struct gsh_blas_entry_call *call)
{
    char triangle = gsh_blas_entry_letter(call, 0), trans = gsh_blas_entry_letter(call, 1);
    char diagonal = gsh_blas_entry_letter(call, 2);
    int64_t n = gsh_blas_entry_integer(call, 3), count = gsh_blas_entry_integer(call, 4);
    int64_t lda = gsh_blas_entry_integer(call, 6), ldb = gsh_blas_entry_integer(call, 8);
    void *b = gsh_blas_entry_address(call, 7);
    if (!gsh_lapack_launch_is_triangle(triangle) || !gsh_lapack_launch_is_transposition(trans) ||
        !gsh_lapack_launch_is_diagonal(diagonal) || n <= 0 || count <= 0 || lda < n || ldb < n)
        return false;
    gsh_lapack_launch_begin(call, GSH_LAPACK_TRTRS,
                            gsh_lapack_launch_triangle(triangle) |
                                gsh_lapack_launch_transposition(trans) |
                                gsh_lapack_launch_diagonal(diagonal));
    gsh_lapack_launch_matrix(call, 0, gsh_blas_entry_address(call, 5), n, n, lda);
    gsh_lapack_launch_matrix(call, 1, b, n, count, ldb);
    gsh_lapack_launch_matrix(call, 2, b, n, count, ldb);
    return gsh_blas_entry_launch(call) && gsh_lapack_launch_end(call, NULL, 0);
}

/* ---- the table ---- */

const struct gsh_blas_entry_shape gsh_blas_entry_shape_GETRF = {
    .sizes = {0, 1, GSH_BLAS_ENTRY_NONE},
    .matrices = {2, GSH_BLAS_ENTRY_NONE},
    .arguments = 6,
    .info = 5,
    .lapack_routine = GSH_LAPACK_GETRF,
    .run = run_getrf,
};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_GETRS = {
    .sizes = {1, 1, GSH_BLAS_ENTRY_NONE},
    .matrices = {3, 6, GSH_BLAS_ENTRY_NONE},
    .arguments = 9 + 1,
    .info = 8,
    .lapack_routine = GSH_LAPACK_GETRS,
    .run = run_getrs,
};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_GESV = {
    .sizes = {0, 0, GSH_BLAS_ENTRY_NONE},
    .matrices = {2, 5, GSH_BLAS_ENTRY_NONE},
    .arguments = 8,
    .info = 7,
    .lapack_routine = GSH_BLAS_ENTRY_NONE,
    .run = run_gesv,
};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_POTRF = {
    .sizes = {1, 1, GSH_BLAS_ENTRY_NONE},
    .matrices = {2, GSH_BLAS_ENTRY_NONE},
    .arguments = 5 + 1,
    .info = 4,
    .lapack_routine = GSH_LAPACK_POTRF,
    .run = run_potrf,
};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_POTRS = {
    .sizes = {1, 1, GSH_BLAS_ENTRY_NONE},
    .matrices = {3, 5, GSH_BLAS_ENTRY_NONE},
    .arguments = 8 + 1,
    .info = 7,
    .lapack_routine = GSH_LAPACK_POTRS,
    .run = run_potrs,
};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_POSV = {
    .sizes = {1, 1, GSH_BLAS_ENTRY_NONE},
    .matrices = {3, 5, GSH_BLAS_ENTRY_NONE},
    .arguments = 8 + 1,
    .info = 7,
    .lapack_routine = GSH_BLAS_ENTRY_NONE,
    .run = run_posv,
};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_TRTRS = {
    .sizes = {3, 3, GSH_BLAS_ENTRY_NONE},
    .matrices = {5, 7, GSH_BLAS_ENTRY_NONE},
    .arguments = 10 + 3,
    .info = 9,
    .lapack_routine = GSH_LAPACK_TRTRS,
    .run = run_trtrs,
};
