/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The arguments are those of SciPy 1.17 and 1.18; a composition leaves calls of another form to the module.
 */
#include "scipy_compositions.h"

#include "numpy_composed.h"
#include "scipy_module.h"
#include "scipy_select.h"

#include <string.h>

#define ARG(index) GSH_METHOD_WRITES_ARG(index)

/* X(table, function, composition, arguments that the original writes) */
#define NDIMAGE(X)                                                                                 \
    X(SCIPY_NDIMAGE, "correlate1d", nd_correlate1d, ARG(3))                                        \
    X(SCIPY_NDIMAGE, "correlate", nd_correlate, ARG(2))                                            \
    X(SCIPY_NDIMAGE, "uniform_filter1d", nd_uniform_filter1d, ARG(3))                              \
    X(SCIPY_NDIMAGE, "min_or_max_filter1d", nd_min_or_max_filter1d, ARG(3))                        \
    X(SCIPY_NDIMAGE, "min_or_max_filter", nd_min_or_max_filter, ARG(3))                            \
    X(SCIPY_NDIMAGE, "binary_erosion", binary_erosion, ARG(3))                                     \
    X(SCIPY_NDIMAGE, "geometric_transform", nd_geometric_transform, ARG(5))                        \
    X(SCIPY_NDIMAGE, "zoom_shift", nd_zoom_shift, ARG(3))                                          \
    X(SCIPY_NDIMAGE, "spline_filter1d", nd_spline_filter1d, ARG(3))                                \
    X(SCIPY_NDIMAGE, "find_objects", find_objects, 0)                                              \
    X(SCIPY_NDIMAGE, "fourier_filter", nd_fourier_filter, ARG(4))                                  \
    X(SCIPY_NDIMAGE, "fourier_shift", nd_fourier_shift, ARG(4))
#define NDIMAGE_RANK(X) X(SCIPY_NDIMAGE, "rank_filter", nd_rank_filter, ARG(3))
#define RANK(X) X(SCIPY_RANK, "rank_filter", nd_rank_filter_of_line, ARG(3))
#define LABEL(X) X(SCIPY_LABEL, "_label", label_components, ARG(2))
#define SIGNAL(X) X(SCIPY_SIGNAL, "_convolve2d", convolve2d, 0)
#define UPFIRDN(X)                                                                                 \
    X(SCIPY_UPFIRDN, "float", upfirdn_float, ARG(2))                                               \
    X(SCIPY_UPFIRDN, "double", upfirdn_double, ARG(2))                                             \
    X(SCIPY_UPFIRDN, "float complex", upfirdn_complex64, ARG(2))                                   \
    X(SCIPY_UPFIRDN, "double complex", upfirdn_complex128, ARG(2))
#define SIGNAL_RANK(X) X(SCIPY_SIGNAL, "_medfilt2d", medfilt2d, 0)
#define DISTANCE(X)                                                                                \
    X(SCIPY_DISTANCE, "cdist_cityblock", cdist_cityblock, 0)                                       \
    X(SCIPY_DISTANCE, "cdist_chebyshev", cdist_chebyshev, 0)                                       \
    X(SCIPY_DISTANCE, "cdist_euclidean", cdist_euclidean, 0)                                       \
    X(SCIPY_DISTANCE, "cdist_sqeuclidean", cdist_sqeuclidean, 0)                                   \
    X(SCIPY_DISTANCE, "pdist_cityblock", pdist_cityblock, 0)                                       \
    X(SCIPY_DISTANCE, "pdist_chebyshev", pdist_chebyshev, 0)                                       \
    X(SCIPY_DISTANCE, "pdist_euclidean", pdist_euclidean, 0)                                       \
    X(SCIPY_DISTANCE, "pdist_sqeuclidean", pdist_sqeuclidean, 0)
#define COSINE(X)                                                                                  \
    X(SCIPY_COSINE, "cdist_cosine_double_wrap", cdist_cosine, ARG(2))                              \
    X(SCIPY_COSINE, "pdist_cosine_double_wrap", pdist_cosine, ARG(1))
#define SPARSE(X)                                                                                  \
    X(SCIPY_SPARSE, "csr_matvecs", csr_matvecs, ARG(7))                                            \
    X(SCIPY_SPARSE, "csc_matvec", csc_matvec, ARG(6))                                              \
    X(SCIPY_SPARSE, "csc_matvecs", csc_matvecs, ARG(7))                                            \
    X(SCIPY_SPARSE, "coo_matvec", coo_matvec, ARG(5))                                              \
    X(SCIPY_SPARSE, "csr_has_canonical_format", csr_has_canonical_format, 0)                       \
    X(SCIPY_SPARSE, "csr_has_sorted_indices", csr_has_sorted_indices, 0)                           \
    X(SCIPY_SPARSE, "csr_sort_indices", csr_sort_indices, ARG(2) | ARG(3))                         \
    X(SCIPY_SPARSE, "csr_sum_duplicates", csr_sum_duplicates, ARG(2) | ARG(3) | ARG(4))            \
    X(SCIPY_SPARSE, "get_csr_submatrix", get_csr_submatrix, 0)                                     \
    X(SCIPY_SPARSE, "csr_plus_csr", csr_plus_csr, ARG(8) | ARG(9) | ARG(10))                       \
    X(SCIPY_SPARSE, "csr_minus_csr", csr_minus_csr, ARG(8) | ARG(9) | ARG(10))                     \
    X(SCIPY_SPARSE, "csr_elmul_csr", csr_elmul_csr, ARG(8) | ARG(9) | ARG(10))                     \
    X(SCIPY_SPARSE, "csr_matmat_maxnnz", csr_matmat_maxnnz, 0)                                     \
    X(SCIPY_SPARSE, "csr_matmat", csr_matmat, ARG(8) | ARG(9) | ARG(10))                           \
    X(SCIPY_SPARSE, "csr_todense", csr_todense, ARG(5))                                            \
    X(SCIPY_SPARSE, "csr_diagonal", csr_diagonal, ARG(6))                                          \
    X(SCIPY_SPARSE, "csr_row_slice", csr_row_slice, ARG(6) | ARG(7))                               \
    X(SCIPY_SPARSE, "expandptr", expandptr, ARG(2))                                                \
    X(SCIPY_SPARSE, "coo_tocsr", coo_tocsr, ARG(6) | ARG(7) | ARG(8))                              \
    X(SCIPY_SPARSE, "csr_tocsc", csr_tocsc, ARG(5) | ARG(6) | ARG(7))
#define FFT(X)                                                                                     \
    X(SCIPY_FFT, "dct", real_dct, ARG(4))                                                          \
    X(SCIPY_FFT, "dst", real_dst, ARG(4))
#define SPLINE(X) X(SCIPY_SPLINE, "evaluate_spline", evaluate_spline, 0)
#define GRID(X)                                                                                    \
    X(SCIPY_GRID_LINEAR, "double", evaluate_linear_2d, ARG(4))                                     \
    X(SCIPY_GRID, "find_indices", find_indices, 0)
#define PIECEWISE(X) X(SCIPY_PIECEWISE, "double", evaluate_piecewise, ARG(5))
#define ALL(X)                                                                                     \
    NDIMAGE(X)                                                                                     \
    LABEL(X)                                                                                       \
    SIGNAL(X) UPFIRDN(X) DISTANCE(X) COSINE(X) SPARSE(X) FFT(X) SPLINE(X) GRID(X) PIECEWISE(X)
/* Those that call select_ranked. */
#define RANKS(X) NDIMAGE_RANK(X) RANK(X) SIGNAL_RANK(X)

static PyObject *compose(const char *name, const struct gsh_method_call *call, unsigned writes,
                         enum gsh_reason *why, unsigned *row)
{
    return gsh_numpy_composed_call_priced(name, call, false, writes, why, row);
}

static PyObject *compose_ranks(const char *name, const struct gsh_method_call *call,
                               unsigned writes, enum gsh_reason *why, unsigned *row)
{
    return gsh_scipy_select_offer() ? compose(name, call, writes, why, row) : NULL;
}

#define HOOK(run, kind, function, composition, written)                                            \
    static PyObject *try_##composition(const struct gsh_method_call *call, enum gsh_reason *why,   \
                                       unsigned *row)                                              \
    {                                                                                              \
        return run(#composition, call, written, why, row);                                         \
    }                                                                                              \
    GSH_METHOD_HOOK(composition##_hook, .table = GSH_METHOD_##kind, .name = function,              \
                    .handler = try_##composition, .subject = GSH_METHOD_ASK_BY_ANY,                \
                    .writes = written);
#define X(...) HOOK(compose, __VA_ARGS__)
ALL(X)
#undef X
#define X(...) HOOK(compose_ranks, __VA_ARGS__)
RANKS(X)
#undef X

#define X(kind, function, composition, written) &composition##_hook,
static struct gsh_method_hook
    *const ndimage_hooks[] = {NDIMAGE(X) NDIMAGE_RANK(X)},
           *const rank_hooks[] = {RANK(X)}, *const label_hooks[] = {LABEL(X)},
           *const signal_hooks[] = {SIGNAL(X) SIGNAL_RANK(X)},
           *const upfirdn_hooks[] = {UPFIRDN(X)}, *const distance_hooks[] = {DISTANCE(X)},
           *const cosine_hooks[] = {COSINE(X)}, *const sparse_hooks[] = {SPARSE(X)},
           *const fft_hooks[] = {FFT(X)}, *const spline_hooks[] = {SPLINE(X)},
           *const grid_hooks[] = {GRID(X)}, *const piecewise_hooks[] = {PIECEWISE(X)};
#undef X

static struct {
    const char *file; /* how its name begins */
    struct gsh_scipy_module module;
} modules[] = {{"_nd_image.", {ndimage_hooks, GSH_COUNT(ndimage_hooks), 0}},
               {"_rank_filter_1d.", {rank_hooks, GSH_COUNT(rank_hooks), 0}},
               {"_ni_label.", {label_hooks, GSH_COUNT(label_hooks), 0}},
               {"_sigtools.", {signal_hooks, GSH_COUNT(signal_hooks), 0}},
               {"_upfirdn_apply.", {upfirdn_hooks, GSH_COUNT(upfirdn_hooks), 0}},
               {"_distance_pybind.", {distance_hooks, GSH_COUNT(distance_hooks), 0}},
               {"_distance_wrap.", {cosine_hooks, GSH_COUNT(cosine_hooks), 0}},
               {"_sparsetools.", {sparse_hooks, GSH_COUNT(sparse_hooks), 0}},
               {"_dierckx.", {spline_hooks, GSH_COUNT(spline_hooks), 0}},
               {"_rgi_cython.", {grid_hooks, GSH_COUNT(grid_hooks), 0}},
               {"_ppoly.", {piecewise_hooks, GSH_COUNT(piecewise_hooks), 0}},
               {"pypocketfft.", {fft_hooks, GSH_COUNT(fft_hooks), 0}},
               {"pyduccfft.", {fft_hooks, GSH_COUNT(fft_hooks), 0}}};

void gsh_scipy_compositions_adopt_module(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < GSH_COUNT(modules) && strstr(path, "/scipy/"); i++)
        if (strncmp(name, modules[i].file, strlen(modules[i].file)) == 0)
            gsh_scipy_module_adopt(&modules[i].module);
}
