/* SPDX-License-Identifier: Apache-2.0
 *
 * libcublas.so.13 without a GPU: cuBLAS's routines that offload/cuda/driver/cublas.def names, run by the CPU's BLAS and LAPACK
 * when the stream gets there. What cuBLAS's manual (docs.nvidia.com/cuda/cublas) refuses is refused.
 */
#include "mathematics.h"

#include "faults.h"

#define X(function, required) EMULATED_CALL(function)
#include "cublas.def"
#undef X

#include <cstring>
#include <future>
#include <memory>
#include <vector>

struct cublasContext {
    CUstream stream;
    bool has_device_scalars; /* alpha, beta and results of dot */
    char *workspace;
    size_t workspace_size;
};

namespace
{

constexpr gsh_cuda_enum SUCCESS = GSH_CUBLAS_SUCCESS, INVALID_VALUE = 7, NOT_SUPPORTED = 15;
constexpr size_t WORKSPACE_ALIGNMENT = 256,
                 WORKSPACE_EDGE = size_t{64} << 10; /* edge: what a routine uses of each end */

using std::complex;

gsh_cuda_enum submit(cublasHandle_t handle, std::function<void()> work)
{
    char *first = handle->workspace;
    const size_t size = handle->workspace_size, edge = std::min(size, WORKSPACE_EDGE);
    enqueue(handle->stream, [=, work = std::move(work)] {
        if (edge != 0) {
            scribble(first, edge);
            scribble(first + size - edge, edge);
        }
        work();
    });
    return SUCCESS;
}

/* alpha or beta, on the host. */
template <class Number> class Scalar
{
    Number value;

  public:
    Scalar(cublasHandle_t handle, const void *from)
    {
        if (handle->has_device_scalars)
            refuse("cuBLAS", "alpha or beta of the host in the pointer mode of the device");
        memcpy(&value, from, sizeof value);
    }
    Number operator()() const
    {
        return value;
    }
};

bool is_side(gsh_cuda_enum side)
{
    return side <= GSH_CUBLAS_RIGHT;
}

/* ---- products ---- */

template <class Number>
gsh_cuda_enum gemm(cublasHandle_t handle, gsh_cuda_enum op_a, gsh_cuda_enum op_b, int64_t m,
                   int64_t n, int64_t k, const void *alpha_from, const void *a_from, int64_t lda,
                   int64_t a_step, const void *b_from, int64_t ldb, int64_t b_step,
                   const void *beta_from, void *c_from, int64_t ldc, int64_t c_step, int64_t batch)
{
    if (!is_operand(op_a, m, k, lda) || !is_operand(op_b, k, n, ldb) || !is_matrix(m, n, ldc) ||
        batch < 0 || alpha_from == nullptr || beta_from == nullptr)
        return INVALID_VALUE;
    if (batch > 1 && c_step == 0)
        refuse("gemm", "products that overwrite each other");
    const Scalar<Number> alpha(handle, alpha_from), beta(handle, beta_from);
    return submit(handle, [=] {
        auto *a = static_cast<const Number *>(a_from), *b = static_cast<const Number *>(b_from);
        auto *c = static_cast<Number *>(c_from);
        for (int64_t i = 0; i < batch; i++)
            fortran<Number>("gemm", op_letter(op_a), op_letter(op_b), m, n, k, alpha(),
                            a + i * a_step, lda, b + i * b_step, ldb, beta(), c + i * c_step, ldc);
    });
}

template <class Number>
gsh_cuda_enum gemv(cublasHandle_t handle, gsh_cuda_enum op, int64_t m, int64_t n,
                   const void *alpha_from, const void *a, int64_t lda, const void *x, int64_t incx,
                   const void *beta_from, void *y, int64_t incy)
{
    if (op > GSH_CUBLAS_OP_C || !is_matrix(m, n, lda) || incx == 0 || incy == 0 ||
        alpha_from == nullptr || beta_from == nullptr)
        return INVALID_VALUE;
    const Scalar<Number> alpha(handle, alpha_from), beta(handle, beta_from);
    return submit(handle, [=] {
        fortran<Number>("gemv", op_letter(op), m, n, alpha(), a, lda, x, incx, beta(), y, incy);
    });
}

/* The sum, of vectors whose increments count from the other end where they are negative. */
template <class Number>
Number sum_products(bool is_conjugate, int64_t n, const Number *x, int64_t incx, const Number *y,
                    int64_t incy)
{
    Number sum{};
    x += incx < 0 ? (1 - n) * incx : 0;
    y += incy < 0 ? (1 - n) * incy : 0;
    for (int64_t i = 0; i < n; i++)
        sum += (is_conjugate ? conjugate(x[i * incx]) : x[i * incx]) * y[i * incy];
    return sum;
}

/* Waits where the result is for the host. */
template <class Number>
gsh_cuda_enum dot(cublasHandle_t handle, bool is_conjugate, int64_t n, const void *x, int64_t incx,
                  const void *y, int64_t incy, void *result)
{
    auto done = std::make_shared<std::promise<void>>();
    submit(handle, [=] {
        *static_cast<Number *>(result) =
            sum_products(is_conjugate, n, static_cast<const Number *>(x), incx,
                         static_cast<const Number *>(y), incy);
        done->set_value();
    });
    if (!handle->has_device_scalars)
        done->get_future().wait();
    return SUCCESS;
}

/* ---- products of which one matrix has a structure ---- */

/* A Hermitian update knows no transposition, a complex symmetric one no conjugation. */
template <class Number> bool is_update_op(bool is_hermitian, gsh_cuda_enum op)
{
    return op == GSH_CUBLAS_OP_N || (op == GSH_CUBLAS_OP_T && !is_hermitian) ||
           (op == GSH_CUBLAS_OP_C && (is_hermitian || !is_complex<Number>));
}

template <class Number, class Factor>
gsh_cuda_enum update(bool is_hermitian, cublasHandle_t handle, gsh_cuda_enum triangle,
                     gsh_cuda_enum op, int64_t n, int64_t k, const void *alpha_from, const void *a,
                     int64_t lda, const void *beta_from, void *c, int64_t ldc)
{
    if (!is_triangle(triangle) || !is_update_op<Number>(is_hermitian, op) ||
        !is_operand(op, n, k, lda) || !is_matrix(n, n, ldc) || alpha_from == nullptr ||
        beta_from == nullptr)
        return INVALID_VALUE;
    const Scalar<Factor> alpha(handle, alpha_from), beta(handle, beta_from);
    return submit(handle, [=] {
        fortran<Number>(is_hermitian ? "herk" : "syrk", triangle_letter(triangle), op_letter(op), n,
                        k, alpha(), a, lda, beta(), c, ldc);
    });
}

template <class Number, class Factor>
gsh_cuda_enum update_2(bool is_hermitian, cublasHandle_t handle, gsh_cuda_enum triangle,
                       gsh_cuda_enum op, int64_t n, int64_t k, const void *alpha_from,
                       const void *a, int64_t lda, const void *b, int64_t ldb,
                       const void *beta_from, void *c, int64_t ldc)
{
    if (!is_triangle(triangle) || !is_update_op<Number>(is_hermitian, op) ||
        !is_operand(op, n, k, lda) || !is_operand(op, n, k, ldb) || !is_matrix(n, n, ldc) ||
        alpha_from == nullptr || beta_from == nullptr)
        return INVALID_VALUE;
    const Scalar<Number> alpha(handle, alpha_from);
    const Scalar<Factor> beta(handle, beta_from);
    return submit(handle, [=] {
        fortran<Number>(is_hermitian ? "her2k" : "syr2k", triangle_letter(triangle), op_letter(op),
                        n, k, alpha(), a, lda, b, ldb, beta(), c, ldc);
    });
}

template <class Number>
gsh_cuda_enum symm(bool is_hermitian, cublasHandle_t handle, gsh_cuda_enum side,
                   gsh_cuda_enum triangle, int64_t m, int64_t n, const void *alpha_from,
                   const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta_from,
                   void *c, int64_t ldc)
{
    const int64_t order = side == GSH_CUBLAS_LEFT ? m : n;
    if (!is_side(side) || !is_triangle(triangle) || !is_matrix(order, order, lda) ||
        !is_matrix(m, n, ldb) || !is_matrix(m, n, ldc) || alpha_from == nullptr ||
        beta_from == nullptr)
        return INVALID_VALUE;
    const Scalar<Number> alpha(handle, alpha_from), beta(handle, beta_from);
    return submit(handle, [=] {
        fortran<Number>(is_hermitian ? "hemm" : "symm", side_letter(side),
                        triangle_letter(triangle), m, n, alpha(), a, lda, b, ldb, beta(), c, ldc);
    });
}

/* trmm, and with c in the place of b trsm. */
template <class Number>
gsh_cuda_enum triangular(const char *name, cublasHandle_t handle, gsh_cuda_enum side,
                         gsh_cuda_enum triangle, gsh_cuda_enum op, gsh_cuda_enum diagonal,
                         int64_t m, int64_t n, const void *alpha_from, const void *a, int64_t lda,
                         const void *b, int64_t ldb, void *c, int64_t ldc)
{
    const int64_t order = side == GSH_CUBLAS_LEFT ? m : n;
    if (!is_side(side) || !is_triangle(triangle) || op > GSH_CUBLAS_OP_C ||
        diagonal > GSH_CUBLAS_UNIT || !is_matrix(order, order, lda) || !is_matrix(m, n, ldb) ||
        !is_matrix(m, n, ldc) || alpha_from == nullptr)
        return INVALID_VALUE;
    if (b == c && ldb != ldc)
        refuse(name, "a result in the place of an operand that lies otherwise");
    const Scalar<Number> alpha(handle, alpha_from);
    return submit(handle, [=] {
        if (b != c)
            copy_matrix(m, n, static_cast<const Number *>(b), ldb, static_cast<Number *>(c), ldc);
        fortran<Number>(name, side_letter(side), triangle_letter(triangle), op_letter(op),
                        diagonal_letter(diagonal), m, n, alpha(), a, lda, c, ldc);
    });
}

/* ---- many small matrices, which lie where arrays on the device say ---- */

void refuse_to_do_without_pivots(const char *call, const int *pivots)
{
    if (pivots == nullptr)
        refuse(call, "without pivoting");
}

template <class Number>
gsh_cuda_enum getrf(cublasHandle_t handle, int64_t n, const void *pointers, int64_t lda,
                    int *pivots, int *info, int64_t batch)
{
    refuse_to_do_without_pivots("getrfBatched", pivots);
    if (!is_matrix(n, n, lda) || batch < 0)
        return INVALID_VALUE;
    return submit(handle, [=] {
        auto *a = static_cast<Number *const *>(pointers);
        for (int64_t i = 0; i < batch; i++)
            fortran<Number>("getrf", n, n, a[i], lda, pivots + i * n, info + i);
    });
}

template <class Number>
gsh_cuda_enum getrs(cublasHandle_t handle, gsh_cuda_enum op, int64_t n, int64_t columns,
                    const void *a_pointers, int64_t lda, const int *pivots, const void *b_pointers,
                    int64_t ldb, int *host_info, int64_t batch)
{
    refuse_to_do_without_pivots("getrsBatched", pivots);
    if (op > GSH_CUBLAS_OP_C || !is_matrix(n, n, lda) || !is_matrix(n, columns, ldb) || batch < 0)
        return INVALID_VALUE;
    *host_info = 0;
    return submit(handle, [=] {
        auto *a = static_cast<const Number *const *>(a_pointers);
        auto *b = static_cast<Number *const *>(b_pointers);
        int info = 0; /* of the arguments, which have been looked at */
        for (int64_t i = 0; i < batch; i++)
            fortran<Number>("getrs", op_letter(op), n, columns, a[i], lda, pivots + i * n, b[i],
                            ldb, &info);
    });
}

template <class Number>
gsh_cuda_enum getri(cublasHandle_t handle, int64_t n, const void *a_pointers, int64_t lda,
                    const int *pivots, const void *c_pointers, int64_t ldc, int *info,
                    int64_t batch)
{
    refuse_to_do_without_pivots("getriBatched", pivots);
    if (!is_matrix(n, n, lda) || !is_matrix(n, n, ldc) || batch < 0)
        return INVALID_VALUE;
    return submit(handle, [=] {
        std::vector<Number> work(work_length(n, n));
        auto *a = static_cast<const Number *const *>(a_pointers);
        auto *c = static_cast<Number *const *>(c_pointers);
        for (int64_t i = 0; i < batch; i++) {
            if (a[i] == c[i])
                refuse("getriBatched", "an inverse in the place of the factors");
            copy_matrix(n, n, a[i], lda, c[i], ldc);
            fortran<Number>("getri", n, c[i], ldc, pivots + i * n, work.data(),
                            int64_t(work.size()), info + i);
        }
    });
}

template <class Number>
gsh_cuda_enum geqrf(cublasHandle_t handle, int64_t m, int64_t n, const void *a_pointers,
                    int64_t lda, const void *tau_pointers, int *host_info, int64_t batch)
{
    if (!is_matrix(m, n, lda) || batch < 0)
        return INVALID_VALUE;
    *host_info = 0;
    return submit(handle, [=] {
        std::vector<Number> work(work_length(m, n));
        auto *a = static_cast<Number *const *>(a_pointers),
             *tau = static_cast<Number *const *>(tau_pointers);
        int info = 0; /* likewise */
        for (int64_t i = 0; i < batch; i++)
            fortran<Number>("geqrf", m, n, a[i], lda, tau[i], work.data(), int64_t(work.size()),
                            &info);
    });
}

/* Of those that cuBLAS knows, the ones without another precision. */
bool is_compute_type(gsh_cuda_enum type, gsh_cuda_enum compute)
{
    bool is_single = type == GSH_CUDA_R_32F || type == GSH_CUDA_C_32F;
    return compute == (is_single ? GSH_CUBLAS_COMPUTE_32F : GSH_CUBLAS_COMPUTE_64F);
}

} // namespace

/* ---- handles ---- */

API gsh_cuda_enum cublasCreate_v2(cublasHandle_t *handle)
{
    *handle = new cublasContext{};
    return SUCCESS;
}

API gsh_cuda_enum cublasGetProperty(gsh_cuda_enum type, int *value)
{
    return give_property(type, 13, value) ? SUCCESS : INVALID_VALUE;
}

/* The work space is cuBLAS's own again. */
API gsh_cuda_enum cublasSetStream_v2(cublasHandle_t handle, CUstream stream)
{
    handle->stream = stream;
    return cublasSetWorkspace_v2(handle, nullptr, 0);
}

API gsh_cuda_enum cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t size)
{
    if (reinterpret_cast<uintptr_t>(workspace) % WORKSPACE_ALIGNMENT != 0)
        return INVALID_VALUE;
    handle->workspace = static_cast<char *>(workspace);
    handle->workspace_size = size;
    return SUCCESS;
}

API gsh_cuda_enum cublasSetMathMode(cublasHandle_t, gsh_cuda_enum mode)
{
    return mode == GSH_CUBLAS_DEFAULT_MATH || mode == GSH_CUBLAS_TF32_MATH ? SUCCESS
                                                                           : INVALID_VALUE;
}

API gsh_cuda_enum cublasSetPointerMode_v2(cublasHandle_t handle, gsh_cuda_enum mode)
{
    if (mode > GSH_CUBLAS_POINTER_DEVICE)
        return INVALID_VALUE;
    handle->has_device_scalars = mode == GSH_CUBLAS_POINTER_DEVICE;
    return SUCCESS;
}

/* ---- routines ---- */

API gsh_cuda_enum cublasGemmStridedBatchedEx(cublasHandle_t handle, gsh_cuda_enum op_a,
                                             gsh_cuda_enum op_b, int m, int n, int k,
                                             const void *alpha, const void *a, gsh_cuda_enum a_type,
                                             int lda, long long a_step, const void *b,
                                             gsh_cuda_enum b_type, int ldb, long long b_step,
                                             const void *beta, void *c, gsh_cuda_enum c_type,
                                             int ldc, long long c_step, int batch,
                                             gsh_cuda_enum compute, int algorithm)
{
    if (a_type != b_type || a_type != c_type || !is_compute_type(a_type, compute) ||
        algorithm != GSH_CUBLAS_GEMM_DEFAULT)
        return NOT_SUPPORTED;
    return by_type(a_type, NOT_SUPPORTED, [=](auto zero) {
        return gemm<decltype(zero)>(handle, op_a, op_b, m, n, k, alpha, a, lda, a_step, b, ldb,
                                    b_step, beta, c, ldc, c_step, batch);
    });
}

/* `number`: CUDA's name of a Number. */
#define EXPORT_DOT(name, is_conjugate, Number, number, suffix, integer)                            \
    API gsh_cuda_enum cublas##name##_v2##suffix(cublasHandle_t handle, integer n, const number *x, \
                                                integer incx, const number *y, integer incy,       \
                                                number *result)                                    \
    {                                                                                              \
        return dot<Number>(handle, is_conjugate, n, x, incx, y, incy, result);                     \
    }
#define EXPORT_PRODUCTS(letter, Number, number, suffix, integer)                                   \
    API gsh_cuda_enum cublas##letter##gemm_v2##suffix(                                             \
        cublasHandle_t handle, gsh_cuda_enum op_a, gsh_cuda_enum op_b, integer m, integer n,       \
        integer k, const number *alpha, const number *a, integer lda, const number *b,             \
        integer ldb, const number *beta, number *c, integer ldc)                                   \
    {                                                                                              \
        return gemm<Number>(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c,     \
                            ldc, 0, 1);                                                            \
    }                                                                                              \
    API gsh_cuda_enum cublas##letter##gemv_v2##suffix(                                             \
        cublasHandle_t handle, gsh_cuda_enum op, integer m, integer n, const number *alpha,        \
        const number *a, integer lda, const number *x, integer incx, const number *beta,           \
        number *y, integer incy)                                                                   \
    {                                                                                              \
        return gemv<Number>(handle, op, m, n, alpha, a, lda, x, incx, beta, y, incy);              \
    }
#define EXPORT_ALL_PRODUCTS(suffix, integer)                                                       \
    EXPORT_PRODUCTS(S, float, float, suffix, integer)                                              \
    EXPORT_PRODUCTS(D, double, double, suffix, integer)                                            \
    EXPORT_PRODUCTS(C, complex<float>, float2, suffix, integer)                                    \
    EXPORT_PRODUCTS(Z, complex<double>, double2, suffix, integer)                                  \
    EXPORT_DOT(Sdot, false, float, float, suffix, integer)                                         \
    EXPORT_DOT(Ddot, false, double, double, suffix, integer)                                       \
    EXPORT_DOT(Cdotu, false, complex<float>, float2, suffix, integer)                              \
    EXPORT_DOT(Cdotc, true, complex<float>, float2, suffix, integer)                               \
    EXPORT_DOT(Zdotu, false, complex<double>, double2, suffix, integer)                            \
    EXPORT_DOT(Zdotc, true, complex<double>, double2, suffix, integer)
EXPORT_ALL_PRODUCTS(, int)
EXPORT_ALL_PRODUCTS(_64, int64_t)

/* `factor`: CUDA's name of a Factor, the type of beta. */
#define EXPORT_FORMS(letter, prefix, is_hermitian, Number, Factor, number, factor)                 \
    API gsh_cuda_enum cublas##letter##prefix##rk_v2(                                               \
        cublasHandle_t handle, gsh_cuda_enum triangle, gsh_cuda_enum op, int n, int k,             \
        const factor *alpha, const number *a, int lda, const factor *beta, number *c, int ldc)     \
    {                                                                                              \
        return update<Number, Factor>(is_hermitian, handle, triangle, op, n, k, alpha, a, lda,     \
                                      beta, c, ldc);                                               \
    }                                                                                              \
    API gsh_cuda_enum cublas##letter##prefix##r2k_v2(                                              \
        cublasHandle_t handle, gsh_cuda_enum triangle, gsh_cuda_enum op, int n, int k,             \
        const number *alpha, const number *a, int lda, const number *b, int ldb,                   \
        const factor *beta, number *c, int ldc)                                                    \
    {                                                                                              \
        return update_2<Number, Factor>(is_hermitian, handle, triangle, op, n, k, alpha, a, lda,   \
                                        b, ldb, beta, c, ldc);                                     \
    }                                                                                              \
    API gsh_cuda_enum cublas##letter##prefix##mm_v2(                                               \
        cublasHandle_t handle, gsh_cuda_enum side, gsh_cuda_enum triangle, int m, int n,           \
        const number *alpha, const number *a, int lda, const number *b, int ldb,                   \
        const number *beta, number *c, int ldc)                                                    \
    {                                                                                              \
        return symm<Number>(is_hermitian, handle, side, triangle, m, n, alpha, a, lda, b, ldb,     \
                            beta, c, ldc);                                                         \
    }
#define EXPORT_TRIANGULAR(letter, Number, number)                                                  \
    API gsh_cuda_enum cublas##letter##trmm_v2(                                                     \
        cublasHandle_t handle, gsh_cuda_enum side, gsh_cuda_enum triangle, gsh_cuda_enum op,       \
        gsh_cuda_enum diagonal, int m, int n, const number *alpha, const number *a, int lda,       \
        const number *b, int ldb, number *c, int ldc)                                              \
    {                                                                                              \
        return triangular<Number>("trmm", handle, side, triangle, op, diagonal, m, n, alpha, a,    \
                                  lda, b, ldb, c, ldc);                                            \
    }                                                                                              \
    API gsh_cuda_enum cublas##letter##trsm_v2(                                                     \
        cublasHandle_t handle, gsh_cuda_enum side, gsh_cuda_enum triangle, gsh_cuda_enum op,       \
        gsh_cuda_enum diagonal, int m, int n, const number *alpha, const number *a, int lda,       \
        number *b, int ldb)                                                                        \
    {                                                                                              \
        return triangular<Number>("trsm", handle, side, triangle, op, diagonal, m, n, alpha, a,    \
                                  lda, b, ldb, b, ldb);                                            \
    }
#define EXPORT_BATCHED(letter, Number, number)                                                     \
    API gsh_cuda_enum cublas##letter##getrfBatched(cublasHandle_t handle, int n, number *const *a, \
                                                   int lda, int *pivots, int *info, int batch)     \
    {                                                                                              \
        return getrf<Number>(handle, n, a, lda, pivots, info, batch);                              \
    }                                                                                              \
    API gsh_cuda_enum cublas##letter##getrsBatched(                                                \
        cublasHandle_t handle, gsh_cuda_enum op, int n, int columns, const number *const *a,       \
        int lda, const int *pivots, number *const *b, int ldb, int *host_info, int batch)          \
    {                                                                                              \
        return getrs<Number>(handle, op, n, columns, a, lda, pivots, b, ldb, host_info, batch);    \
    }                                                                                              \
    API gsh_cuda_enum cublas##letter##getriBatched(                                                \
        cublasHandle_t handle, int n, const number *const *a, int lda, const int *pivots,          \
        number *const *c, int ldc, int *info, int batch)                                           \
    {                                                                                              \
        return getri<Number>(handle, n, a, lda, pivots, c, ldc, info, batch);                      \
    }                                                                                              \
    API gsh_cuda_enum cublas##letter##geqrfBatched(cublasHandle_t handle, int m, int n,            \
                                                   number *const *a, int lda, number *const *tau,  \
                                                   int *host_info, int batch)                      \
    {                                                                                              \
        return geqrf<Number>(handle, m, n, a, lda, tau, host_info, batch);                         \
    }
#define EXPORT(letter, Number, number)                                                             \
    EXPORT_FORMS(letter, sy, false, Number, Number, number, number)                                \
    EXPORT_TRIANGULAR(letter, Number, number)                                                      \
    EXPORT_BATCHED(letter, Number, number)
EXPORT(S, float, float)
EXPORT(D, double, double)
EXPORT(C, complex<float>, float2)
EXPORT(Z, complex<double>, double2)
EXPORT_FORMS(C, he, true, complex<float>, float, float2, float)
EXPORT_FORMS(Z, he, true, complex<double>, double, double2, double)
