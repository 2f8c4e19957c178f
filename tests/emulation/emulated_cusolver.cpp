/* SPDX-License-Identifier: Apache-2.0
 *
 * libcusolver.so.12 without a GPU: cuSOLVER's routines that offload/cuda/driver/cusolver.def names, run by the CPU's LAPACK
 * when the stream gets there. What cuSOLVER's manual (docs.nvidia.com/cuda/cusolver) lets a routine destroy is
 * destroyed, and so is all of the work space that it is given, before it begins.
 */
#include "mathematics.h"

#include "faults.h"

#define X(function, required) EMULATED_CALL(function)
#include "cusolver.def"
#undef X

#include <cmath>
#include <limits>
#include <vector>

struct cusolverDnContext {
    CUstream stream;
};
struct cusolverDnParams {
};
struct gesvdjInfo {
};
struct syevjInfo {
};

namespace
{

constexpr gsh_cuda_enum SUCCESS = GSH_CUSOLVER_SUCCESS, INVALID_VALUE = 3;
constexpr int64_t MOST_JACOBI = 32; /* rows and columns of gesvdjBatched */

using std::complex;

/* ---- work space ---- */

/* What a routine is given while it runs. */
struct Space {
    void *device;
    size_t device_bytes;
    void *host;
    size_t host_bytes;
};

/* What it asks for: device memory in numbers, host memory in bytes. */
int64_t numbers_for(int64_t rows, int64_t columns, int64_t batch)
{
    return batch * (rows * columns + 64);
}

size_t host_bytes_for(int64_t rows, int64_t columns)
{
    return size_t(8 * (rows + columns) + 64);
}

size_t size_of(gsh_cuda_enum type)
{
    size_t size = 0;
    by_type(type, 0, [&](auto zero) { return gsh_cuda_enum(size = sizeof zero); });
    return size;
}

gsh_cuda_enum give_bytes(gsh_cuda_enum type, int64_t rows, int64_t columns, int64_t batch,
                         size_t *device_bytes, size_t *host_bytes)
{
    if (rows < 0 || columns < 0 || batch < 0 || size_of(type) == 0)
        return INVALID_VALUE;
    *device_bytes = size_t(numbers_for(rows, columns, batch)) * size_of(type);
    *host_bytes = host_bytes_for(rows, columns);
    return SUCCESS;
}

bool is_enough(const Space &space, gsh_cuda_enum type, int64_t rows, int64_t columns, int64_t batch)
{
    return space.device_bytes >= size_t(numbers_for(rows, columns, batch)) * size_of(type) &&
           space.host_bytes >= host_bytes_for(rows, columns) && space.device != nullptr &&
           space.host != nullptr;
}

gsh_cuda_enum give_numbers(int64_t rows, int64_t columns, int64_t batch, int *numbers)
{
    if (rows < 0 || columns < 0 || batch < 0)
        return INVALID_VALUE;
    if (numbers_for(rows, columns, batch) > INT_MAX)
        refuse("cuSOLVER", "work space of more numbers than an int counts");
    *numbers = int(numbers_for(rows, columns, batch));
    return SUCCESS;
}

/* The space of a routine that counts it in numbers. */
template <class Number> Space space_of(void *work, int numbers)
{
    return {work, size_t(std::max(numbers, 0)) * sizeof(Number), nullptr, 0};
}

template <class Number>
bool is_enough_for(const Space &space, int64_t rows, int64_t columns, int64_t batch = 1)
{
    return space.device_bytes / sizeof(Number) >= size_t(numbers_for(rows, columns, batch)) &&
           space.device != nullptr;
}

gsh_cuda_enum submit(cusolverDnHandle_t handle, const Space &space, std::function<void()> work)
{
    enqueue(handle->stream, [=, work = std::move(work)] {
        if (space.device != nullptr)
            scribble(space.device, space.device_bytes);
        if (space.host != nullptr)
            scribble(space.host, space.host_bytes);
        work();
    });
    return SUCCESS;
}

/* ---- LAPACK's routines, with work space of their own ---- */

template <class Number>
void decompose_symmetric(bool has_vectors, gsh_cuda_enum triangle, int64_t n, Number *a,
                         int64_t lda, Real<Number> *w, int *info)
{
    const char job = has_vectors ? 'V' : 'N';
    std::vector<Number> work(work_length(n, n));
    if constexpr (is_complex<Number>)
        fortran<Number>("heev", job, triangle_letter(triangle), n, a, lda, w, work.data(),
                        int64_t(work.size()), std::vector<Real<Number>>(work.size()).data(), info);
    else
        fortran<Number>("syev", job, triangle_letter(triangle), n, a, lda, w, work.data(),
                        int64_t(work.size()), info);
    if (!has_vectors)
        scribble_matrix(n, n, a, lda);
}

/* Of a real matrix, the parts of a pair of conjugate vectors are left in two columns. */
template <class Number>
void decompose_any(bool has_vectors, int64_t n, Number *a, int64_t lda, complex<Real<Number>> *w,
                   Number *vectors, int64_t leading, int *info)
{
    const char job = has_vectors ? 'V' : 'N';
    Number *none = nullptr;
    std::vector<Number> work(work_length(n, n));
    std::vector<Real<Number>> parts(size_t(2 * n));
    if constexpr (is_complex<Number>) {
        fortran<Number>("geev", 'N', job, n, a, lda, w, none, int64_t{1}, vectors, leading,
                        work.data(), int64_t(work.size()), parts.data(), info);
    } else {
        fortran<Number>("geev", 'N', job, n, a, lda, parts.data(), parts.data() + n, none,
                        int64_t{1}, vectors, leading, work.data(), int64_t(work.size()), info);
        for (int64_t i = 0; i < n; i++)
            w[i] = {parts[size_t(i)], parts[size_t(n + i)]};
    }
    scribble_matrix(n, n, a, lda);
}

template <class Number>
void decompose_singular(char u_job, char vt_job, int64_t m, int64_t n, Number *a, int64_t lda,
                        Real<Number> *s, Number *u, int64_t ldu, Number *vt, int64_t ldvt,
                        int *info)
{
    std::vector<Number> work(work_length(m, n));
    if constexpr (is_complex<Number>)
        fortran<Number>("gesvd", u_job, vt_job, m, n, a, lda, s, u, ldu, vt, ldvt, work.data(),
                        int64_t(work.size()), std::vector<Real<Number>>(work.size()).data(), info);
    else
        fortran<Number>("gesvd", u_job, vt_job, m, n, a, lda, s, u, ldu, vt, ldvt, work.data(),
                        int64_t(work.size()), info);
    scribble_matrix(m, n, a, lda);
}

/* With V, not its conjugate transpose. */
template <class Number>
void decompose_singular_v(bool has_vectors, bool is_economic, int64_t m, int64_t n, Number *a,
                          int64_t lda, Real<Number> *s, Number *u, int64_t ldu, Number *v,
                          int64_t ldv, int *info)
{
    const char job = !has_vectors ? 'N' : is_economic ? 'S' : 'A';
    const int64_t columns = is_economic ? std::min(m, n) : n;
    std::vector<Number> vt(size_t(has_vectors ? columns * n : 0));
    decompose_singular(job, job, m, n, a, lda, s, u, ldu, vt.data(), std::max<int64_t>(columns, 1),
                       info);
    if (!has_vectors)
        return;
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < n; i++)
            v[i + j * ldv] = conjugate(vt[size_t(j + i * columns)]);
}

/* Polar decomposition shifts singular values of which one is close to 0, by what is returned. */
template <class Number> double shift_values(int64_t count, Number *s)
{
    const Number epsilon = std::numeric_limits<Number>::epsilon();
    if (count == 0 || s[count - 1] > Number(count) * epsilon * s[0])
        return 0;
    const Number shift = std::sqrt(epsilon) * s[0];
    for (int64_t i = 0; i < count; i++)
        s[i] += shift;
    return double(shift);
}

gsh_cuda_enum real_type_of(gsh_cuda_enum type)
{
    return by_type(type, type, [](auto zero) { return Traits<Real<decltype(zero)>>::type; });
}

gsh_cuda_enum complex_type_of(gsh_cuda_enum type)
{
    return by_type(type, type,
                   [](auto zero) { return Traits<complex<Real<decltype(zero)>>>::type; });
}

bool is_job(gsh_cuda_enum job)
{
    return job <= GSH_CUSOLVER_VECTORS;
}

bool is_svd_job(signed char job)
{
    return job == 'A' || job == 'S' || job == 'N';
}

/* ---- routines of one type of numbers ---- */

template <class Number>
gsh_cuda_enum potrf(cusolverDnHandle_t handle, gsh_cuda_enum triangle, int64_t n, void *a,
                    int64_t lda, const Space &space, int *info)
{
    if (!is_triangle(triangle) || !is_matrix(n, n, lda) || !is_enough_for<Number>(space, n, n))
        return INVALID_VALUE;
    return submit(handle, space,
                  [=] { fortran<Number>("potrf", triangle_letter(triangle), n, a, lda, info); });
}

/* The other triangle is its work space. */
template <class Number>
gsh_cuda_enum potrf_batched(cusolverDnHandle_t handle, gsh_cuda_enum triangle, int64_t n,
                            const void *pointers, int64_t lda, int *info, int64_t batch)
{
    if (!is_triangle(triangle) || !is_matrix(n, n, lda) || batch < 0)
        return INVALID_VALUE;
    return submit(handle, {}, [=] {
        auto *a = static_cast<Number *const *>(pointers);
        for (int64_t i = 0; i < batch; i++) {
            fortran<Number>("potrf", triangle_letter(triangle), n, a[i], lda, info + i);
            for (int64_t j = 0; j < n; j++) {
                const int64_t first = triangle == GSH_CUBLAS_UPPER ? j + 1 : 0,
                              end = triangle == GSH_CUBLAS_UPPER ? n : j;
                scribble_matrix(end - first, 1, a[i] + first + j * lda, lda);
            }
        }
    });
}

template <class Number>
gsh_cuda_enum sytrf(cusolverDnHandle_t handle, gsh_cuda_enum triangle, int64_t n, void *a,
                    int64_t lda, int *pivots, const Space &space, int *info)
{
    if (pivots == nullptr)
        refuse("sytrf", "without pivoting");
    if (!is_triangle(triangle) || !is_matrix(n, n, lda) || !is_enough_for<Number>(space, n, n))
        return INVALID_VALUE;
    return submit(handle, space, [=] {
        std::vector<Number> work(work_length(n, n));
        fortran<Number>("sytrf", triangle_letter(triangle), n, a, lda, pivots, work.data(),
                        int64_t(work.size()), info);
    });
}

template <class Number>
gsh_cuda_enum geqrf(cusolverDnHandle_t handle, int64_t m, int64_t n, void *a, int64_t lda,
                    void *tau, const Space &space, int *info)
{
    if (!is_matrix(m, n, lda) || !is_enough_for<Number>(space, m, n))
        return INVALID_VALUE;
    return submit(handle, space, [=] {
        std::vector<Number> work(work_length(m, n));
        fortran<Number>("geqrf", m, n, a, lda, tau, work.data(), int64_t(work.size()), info);
    });
}

template <class Number>
gsh_cuda_enum orgqr(cusolverDnHandle_t handle, int64_t m, int64_t n, int64_t k, void *a,
                    int64_t lda, const void *tau, const Space &space, int *info)
{
    if (!is_matrix(m, n, lda) || m < n || n < k || k < 0 || !is_enough_for<Number>(space, m, n))
        return INVALID_VALUE;
    return submit(handle, space, [=] {
        std::vector<Number> work(work_length(m, n));
        fortran<Number>(is_complex<Number> ? "ungqr" : "orgqr", m, n, k, a, lda, tau, work.data(),
                        int64_t(work.size()), info);
    });
}

/* The transposition is that of the type. */
template <class Number>
gsh_cuda_enum ormqr(cusolverDnHandle_t handle, gsh_cuda_enum side, gsh_cuda_enum op, int64_t m,
                    int64_t n, int64_t k, const void *a, int64_t lda, const void *tau, void *c,
                    int64_t ldc, const Space &space, int *info)
{
    constexpr gsh_cuda_enum turned{is_complex<Number> ? gsh_cuda_enum{GSH_CUBLAS_OP_C}
                                                      : gsh_cuda_enum{GSH_CUBLAS_OP_T}};
    const int64_t order = side == GSH_CUBLAS_LEFT ? m : n;
    if (side > GSH_CUBLAS_RIGHT || (op != GSH_CUBLAS_OP_N && op != turned) || k > order ||
        !is_matrix(order, k, lda) || !is_matrix(m, n, ldc) || !is_enough_for<Number>(space, m, n))
        return INVALID_VALUE;
    return submit(handle, space, [=] {
        std::vector<Number> work(work_length(m, n));
        fortran<Number>(is_complex<Number> ? "unmqr" : "ormqr", side_letter(side), op_letter(op), m,
                        n, k, a, lda, tau, c, ldc, work.data(), int64_t(work.size()), info);
    });
}

template <class Number>
gsh_cuda_enum syev_batched(cusolverDnHandle_t handle, gsh_cuda_enum job, gsh_cuda_enum triangle,
                           int64_t n, void *a, int64_t lda, void *w, const Space &space, int *info,
                           int64_t batch)
{
    if (!is_job(job) || !is_triangle(triangle) || !is_matrix(n, n, lda) || batch < 0 ||
        !is_enough_for<Number>(space, n, n, batch))
        return INVALID_VALUE;
    return submit(handle, space, [=] {
        for (int64_t i = 0; i < batch; i++)
            decompose_symmetric(job == GSH_CUSOLVER_VECTORS, triangle, n,
                                static_cast<Number *>(a) + i * lda * n, lda,
                                static_cast<Real<Number> *>(w) + i * n, info + i);
    });
}

template <class Number>
gsh_cuda_enum gesvdj_batched(cusolverDnHandle_t handle, gsh_cuda_enum job, int64_t m, int64_t n,
                             void *a_from, int64_t lda, void *s_from, void *u_from, int64_t ldu,
                             void *v_from, int64_t ldv, const Space &space, int *info,
                             int64_t batch)
{
    if (!is_job(job) || !is_matrix(m, n, lda) || !is_matrix(m, m, ldu) || !is_matrix(n, n, ldv) ||
        std::max(m, n) > MOST_JACOBI || batch < 0 || !is_enough_for<Number>(space, m, n, batch))
        return INVALID_VALUE;
    return submit(handle, space, [=] {
        auto *a = static_cast<Number *>(a_from), *u = static_cast<Number *>(u_from),
             *v = static_cast<Number *>(v_from);
        auto *s = static_cast<Real<Number> *>(s_from);
        for (int64_t i = 0; i < batch; i++)
            decompose_singular_v(job == GSH_CUSOLVER_VECTORS, false, m, n, a + i * lda * n, lda,
                                 s + i * std::min(m, n), u + i * ldu * m, ldu, v + i * ldv * n, ldv,
                                 info + i);
    });
}

} // namespace

/* ---- handles ---- */

API gsh_cuda_enum cusolverGetProperty(gsh_cuda_enum type, int *value)
{
    return give_property(type, 12, value) ? SUCCESS : INVALID_VALUE;
}

API gsh_cuda_enum cusolverDnCreate(cusolverDnHandle_t *handle)
{
    *handle = new cusolverDnContext{};
    return SUCCESS;
}

API gsh_cuda_enum cusolverDnSetStream(cusolverDnHandle_t handle, CUstream stream)
{
    handle->stream = stream;
    return SUCCESS;
}

API gsh_cuda_enum cusolverDnCreateParams(cusolverDnParams_t *params)
{
    *params = new cusolverDnParams;
    return SUCCESS;
}

API gsh_cuda_enum cusolverDnCreateGesvdjInfo(gesvdjInfo_t *info)
{
    *info = new gesvdjInfo;
    return SUCCESS;
}

API gsh_cuda_enum cusolverDnCreateSyevjInfo(syevjInfo_t *info)
{
    *info = new syevjInfo;
    return SUCCESS;
}

/* ---- systems, of any type ---- */

API gsh_cuda_enum cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, int64_t m,
                                              int64_t n, gsh_cuda_enum a_type, const void *,
                                              int64_t, gsh_cuda_enum, GSH_CUSOLVER_SIZES)
{
    return give_bytes(a_type, m, n, 1, device_bytes, host_bytes);
}

API gsh_cuda_enum cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m,
                                   int64_t n, gsh_cuda_enum a_type, void *a, int64_t lda,
                                   int64_t *pivots, gsh_cuda_enum compute, GSH_CUSOLVER_WORK)
{
    const Space space = {device, device_bytes, host, host_bytes};
    if (pivots == nullptr)
        refuse("cusolverDnXgetrf", "without pivoting");
    if (compute != a_type || !is_matrix(m, n, lda) || !is_enough(space, a_type, m, n, 1))
        return INVALID_VALUE;
    return by_type(a_type, INVALID_VALUE, [=](auto zero) {
        return submit(handle, space, [=] {
            std::vector<int> narrow(size_t(std::min(m, n)));
            fortran<decltype(zero)>("getrf", m, n, a, lda, narrow.data(), info);
            std::copy(narrow.begin(), narrow.end(), pivots);
        });
    });
}

API gsh_cuda_enum cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t,
                                   gsh_cuda_enum triangle, int64_t n, int64_t columns,
                                   gsh_cuda_enum a_type, const void *a, int64_t lda,
                                   gsh_cuda_enum b_type, void *b, int64_t ldb, int *info)
{
    if (!is_triangle(triangle) || b_type != a_type || !is_matrix(n, n, lda) ||
        !is_matrix(n, columns, ldb))
        return INVALID_VALUE;
    return by_type(a_type, INVALID_VALUE, [=](auto zero) {
        return submit(handle, {}, [=] {
            fortran<decltype(zero)>("potrs", triangle_letter(triangle), n, columns, a, lda, b, ldb,
                                    info);
        });
    });
}

API gsh_cuda_enum cusolverDnXsytrs_bufferSize(cusolverDnHandle_t, gsh_cuda_enum, int64_t n,
                                              int64_t columns, gsh_cuda_enum a_type, const void *,
                                              int64_t, const int64_t *, gsh_cuda_enum, void *,
                                              int64_t, GSH_CUSOLVER_SIZES)
{
    return give_bytes(a_type, n, columns, 1, device_bytes, host_bytes);
}

/* The pivots are read here and not in the stream: cuSOLVER 12.0 does not wait for what writes them, of which its manual
 * says nothing. */
API gsh_cuda_enum cusolverDnXsytrs(cusolverDnHandle_t handle, gsh_cuda_enum triangle, int64_t n,
                                   int64_t columns, gsh_cuda_enum a_type, const void *a,
                                   int64_t lda, const int64_t *pivots, gsh_cuda_enum b_type,
                                   void *b, int64_t ldb, GSH_CUSOLVER_WORK)
{
    const Space space = {device, device_bytes, host, host_bytes};
    if (pivots == nullptr)
        refuse("cusolverDnXsytrs", "without pivoting");
    if (!is_triangle(triangle) || b_type != a_type || !is_matrix(n, n, lda) ||
        !is_matrix(n, columns, ldb) || !is_enough(space, a_type, n, columns, 1))
        return INVALID_VALUE;
    const std::vector<int> narrow(pivots, pivots + n);
    return by_type(a_type, INVALID_VALUE, [=](auto zero) {
        return submit(handle, space, [=] {
            fortran<decltype(zero)>("sytrs", triangle_letter(triangle), n, columns, a, lda,
                                    narrow.data(), b, ldb, info);
        });
    });
}

/* ---- eigenvalues ---- */

API gsh_cuda_enum cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                                    gsh_cuda_enum, gsh_cuda_enum, int64_t n,
                                                    gsh_cuda_enum a_type, const void *, int64_t,
                                                    gsh_cuda_enum, const void *, gsh_cuda_enum,
                                                    GSH_CUSOLVER_SIZES, int64_t batch)
{
    return give_bytes(a_type, n, n, batch, device_bytes, host_bytes);
}

API gsh_cuda_enum cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t,
                                         gsh_cuda_enum job, gsh_cuda_enum triangle, int64_t n,
                                         gsh_cuda_enum a_type, void *a, int64_t lda,
                                         gsh_cuda_enum w_type, void *w, gsh_cuda_enum compute,
                                         GSH_CUSOLVER_WORK, int64_t batch)
{
    const Space space = {device, device_bytes, host, host_bytes};
    if (w_type != real_type_of(a_type) || compute != a_type ||
        !is_enough(space, a_type, n, n, batch))
        return INVALID_VALUE;
    return by_type(a_type, INVALID_VALUE, [=](auto zero) {
        return syev_batched<decltype(zero)>(handle, job, triangle, n, a, lda, w, space, info,
                                            batch);
    });
}

API gsh_cuda_enum cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              gsh_cuda_enum job, gsh_cuda_enum triangle, int64_t n,
                                              gsh_cuda_enum a_type, const void *a, int64_t lda,
                                              gsh_cuda_enum w_type, const void *w,
                                              gsh_cuda_enum compute, GSH_CUSOLVER_SIZES)
{
    return cusolverDnXsyevBatched_bufferSize(handle, params, job, triangle, n, a_type, a, lda,
                                             w_type, w, compute, device_bytes, host_bytes, 1);
}

API gsh_cuda_enum cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                   gsh_cuda_enum job, gsh_cuda_enum triangle, int64_t n,
                                   gsh_cuda_enum a_type, void *a, int64_t lda, gsh_cuda_enum w_type,
                                   void *w, gsh_cuda_enum compute, GSH_CUSOLVER_WORK)
{
    return cusolverDnXsyevBatched(handle, params, job, triangle, n, a_type, a, lda, w_type, w,
                                  compute, device, device_bytes, host, host_bytes, info, 1);
}

API gsh_cuda_enum cusolverDnXgeev_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, gsh_cuda_enum,
                                             gsh_cuda_enum, int64_t n, gsh_cuda_enum a_type,
                                             const void *, int64_t, gsh_cuda_enum, const void *,
                                             gsh_cuda_enum, const void *, int64_t, gsh_cuda_enum,
                                             const void *, int64_t, gsh_cuda_enum,
                                             GSH_CUSOLVER_SIZES)
{
    return give_bytes(a_type, n, n, 1, device_bytes, host_bytes);
}

/* The library computes no left vectors. That it also gives a real matrix's eigenvalues as two arrays of real numbers is
 * nothing to us. */
API gsh_cuda_enum cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t, gsh_cuda_enum left,
                                  gsh_cuda_enum right, int64_t n, gsh_cuda_enum a_type, void *a,
                                  int64_t lda, gsh_cuda_enum w_type, void *w, gsh_cuda_enum vl_type,
                                  void *, int64_t ldvl, gsh_cuda_enum vr_type, void *vr,
                                  int64_t ldvr, gsh_cuda_enum compute, GSH_CUSOLVER_WORK)
{
    const Space space = {device, device_bytes, host, host_bytes};
    const bool has_vectors = right == GSH_CUSOLVER_VECTORS;
    if (left != GSH_CUSOLVER_NO_VECTORS || !is_job(right) || vl_type != a_type ||
        vr_type != a_type || compute != a_type || !is_matrix(n, n, lda) || ldvl < 1 ||
        !is_matrix(has_vectors ? n : 0, n, ldvr) || !is_enough(space, a_type, n, n, 1))
        return INVALID_VALUE;
    if (w_type != complex_type_of(a_type))
        refuse("cusolverDnXgeev", "eigenvalues that are not complex");
    return by_type(a_type, INVALID_VALUE, [=](auto zero) {
        using Number = decltype(zero);
        return submit(handle, space, [=] {
            decompose_any(has_vectors, n, static_cast<Number *>(a), lda,
                          static_cast<complex<Real<Number>> *>(w), static_cast<Number *>(vr), ldvr,
                          info);
        });
    });
}

/* ---- singular values ---- */

API gsh_cuda_enum cusolverDnXgesvd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, signed char,
                                              signed char, int64_t m, int64_t n,
                                              gsh_cuda_enum a_type, const void *, int64_t,
                                              gsh_cuda_enum, const void *, gsh_cuda_enum,
                                              const void *, int64_t, gsh_cuda_enum, const void *,
                                              int64_t, gsh_cuda_enum, GSH_CUSOLVER_SIZES)
{
    return m < n ? INVALID_VALUE : give_bytes(a_type, m, n, 1, device_bytes, host_bytes);
}

API gsh_cuda_enum cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t, signed char u_job,
                                   signed char vt_job, int64_t m, int64_t n, gsh_cuda_enum a_type,
                                   void *a, int64_t lda, gsh_cuda_enum s_type, void *s,
                                   gsh_cuda_enum u_type, void *u, int64_t ldu,
                                   gsh_cuda_enum vt_type, void *vt, int64_t ldvt,
                                   gsh_cuda_enum compute, GSH_CUSOLVER_WORK)
{
    const Space space = {device, device_bytes, host, host_bytes};
    if (!is_svd_job(u_job) || !is_svd_job(vt_job))
        refuse("cusolverDnXgesvd", "vectors in the place of the matrix");
    if (m < n || s_type != real_type_of(a_type) || u_type != a_type || vt_type != a_type ||
        compute != a_type || !is_matrix(m, n, lda) || !is_matrix(u_job == 'N' ? 0 : m, m, ldu) ||
        !is_matrix(vt_job == 'N' ? 0 : n, n, ldvt) || !is_enough(space, a_type, m, n, 1))
        return INVALID_VALUE;
    return by_type(a_type, INVALID_VALUE, [=](auto zero) {
        using Number = decltype(zero);
        return submit(handle, space, [=] {
            decompose_singular(char(u_job), char(vt_job), m, n, static_cast<Number *>(a), lda,
                               static_cast<Real<Number> *>(s), static_cast<Number *>(u), ldu,
                               static_cast<Number *>(vt), ldvt, info);
        });
    });
}

API gsh_cuda_enum cusolverDnXgesvdp_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                               gsh_cuda_enum, int, int64_t m, int64_t n,
                                               gsh_cuda_enum a_type, const void *, int64_t,
                                               gsh_cuda_enum, const void *, gsh_cuda_enum,
                                               const void *, int64_t, gsh_cuda_enum, const void *,
                                               int64_t, gsh_cuda_enum, GSH_CUSOLVER_SIZES)
{
    return give_bytes(a_type, m, n, 1, device_bytes, host_bytes);
}

/* The perturbation, on the host, is written in the stream. */
API gsh_cuda_enum cusolverDnXgesvdp(cusolverDnHandle_t handle, cusolverDnParams_t,
                                    gsh_cuda_enum job, int is_economic, int64_t m, int64_t n,
                                    gsh_cuda_enum a_type, void *a, int64_t lda,
                                    gsh_cuda_enum s_type, void *s, gsh_cuda_enum u_type, void *u,
                                    int64_t ldu, gsh_cuda_enum v_type, void *v, int64_t ldv,
                                    gsh_cuda_enum compute, GSH_CUSOLVER_WORK, double *perturbation)
{
    const Space space = {device, device_bytes, host, host_bytes};
    const bool has_vectors = job == GSH_CUSOLVER_VECTORS;
    if (!is_job(job) || s_type != real_type_of(a_type) || u_type != a_type || v_type != a_type ||
        compute != a_type || !is_matrix(m, n, lda) || !is_matrix(has_vectors ? m : 0, m, ldu) ||
        !is_matrix(has_vectors ? n : 0, n, ldv) || !is_enough(space, a_type, m, n, 1))
        return INVALID_VALUE;
    return by_type(a_type, INVALID_VALUE, [=](auto zero) {
        using Number = decltype(zero);
        return submit(handle, space, [=] {
            auto *values = static_cast<Real<Number> *>(s);
            decompose_singular_v(has_vectors, is_economic != 0, m, n, static_cast<Number *>(a), lda,
                                 values, static_cast<Number *>(u), ldu, static_cast<Number *>(v),
                                 ldv, info);
            *perturbation = shift_values(std::min(m, n), values);
        });
    });
}

/* ---- routines by type ---- */

/* orgqr, ormqr and syevj are ungqr, unmqr and heevj of complex numbers. `number`, `real`: types as CUDA names them. */
#define EXPORT(letter, orgqr_name, ormqr_name, syevj_name, Number, number, real)                   \
    API gsh_cuda_enum cusolverDn##letter##potrf_bufferSize(cusolverDnHandle_t, gsh_cuda_enum,      \
                                                           int n, number *, int, int *elements)    \
    {                                                                                              \
        return give_numbers(n, n, 1, elements);                                                    \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##potrf(cusolverDnHandle_t handle, gsh_cuda_enum triangle, \
                                                int n, number *a, int lda, number *work,           \
                                                int elements, int *info)                           \
    {                                                                                              \
        return potrf<Number>(handle, triangle, n, a, lda, space_of<Number>(work, elements), info); \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##potrfBatched(cusolverDnHandle_t handle,                  \
                                                       gsh_cuda_enum triangle, int n, number **a,  \
                                                       int lda, int *info, int batch)              \
    {                                                                                              \
        return potrf_batched<Number>(handle, triangle, n, a, lda, info, batch);                    \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##sytrf_bufferSize(cusolverDnHandle_t, int n, number *,    \
                                                           int, int *elements)                     \
    {                                                                                              \
        return give_numbers(n, n, 1, elements);                                                    \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##sytrf(cusolverDnHandle_t handle, gsh_cuda_enum triangle, \
                                                int n, number *a, int lda, int *pivots,            \
                                                number *work, int elements, int *info)             \
    {                                                                                              \
        return sytrf<Number>(handle, triangle, n, a, lda, pivots,                                  \
                             space_of<Number>(work, elements), info);                              \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##geqrf_bufferSize(cusolverDnHandle_t, int m, int n,       \
                                                           number *, int, int *elements)           \
    {                                                                                              \
        return give_numbers(m, n, 1, elements);                                                    \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##geqrf(cusolverDnHandle_t handle, int m, int n,           \
                                                number *a, int lda, number *tau, number *work,     \
                                                int elements, int *info)                           \
    {                                                                                              \
        return geqrf<Number>(handle, m, n, a, lda, tau, space_of<Number>(work, elements), info);   \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##orgqr_name##_bufferSize(                                 \
        cusolverDnHandle_t, int m, int n, int, const number *, int, const number *, int *elements) \
    {                                                                                              \
        return give_numbers(m, n, 1, elements);                                                    \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##orgqr_name(cusolverDnHandle_t handle, int m, int n,      \
                                                     int k, number *a, int lda, const number *tau, \
                                                     number *work, int elements, int *info)        \
    {                                                                                              \
        return orgqr<Number>(handle, m, n, k, a, lda, tau, space_of<Number>(work, elements),       \
                             info);                                                                \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##ormqr_name##_bufferSize(                                 \
        cusolverDnHandle_t, gsh_cuda_enum, gsh_cuda_enum, int m, int n, int, const number *, int,  \
        const number *, const number *, int, int *elements)                                        \
    {                                                                                              \
        return give_numbers(m, n, 1, elements);                                                    \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##ormqr_name(                                              \
        cusolverDnHandle_t handle, gsh_cuda_enum side, gsh_cuda_enum op, int m, int n, int k,      \
        const number *a, int lda, const number *tau, number *c, int ldc, number *work,             \
        int elements, int *info)                                                                   \
    {                                                                                              \
        return ormqr<Number>(handle, side, op, m, n, k, a, lda, tau, c, ldc,                       \
                             space_of<Number>(work, elements), info);                              \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##syevj_name##Batched_bufferSize(                          \
        cusolverDnHandle_t, gsh_cuda_enum, gsh_cuda_enum, int n, const number *, int,              \
        const real *, int *elements, syevjInfo_t, int batch)                                       \
    {                                                                                              \
        return give_numbers(n, n, batch, elements);                                                \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##syevj_name##Batched(                                     \
        cusolverDnHandle_t handle, gsh_cuda_enum job, gsh_cuda_enum triangle, int n, number *a,    \
        int lda, real *w, number *work, int elements, int *info, syevjInfo_t, int batch)           \
    {                                                                                              \
        return syev_batched<Number>(handle, job, triangle, n, a, lda, w,                           \
                                    space_of<Number>(work, elements), info, batch);                \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##gesvdjBatched_bufferSize(                                \
        cusolverDnHandle_t, gsh_cuda_enum, int m, int n, const number *, int, const real *,        \
        const number *, int, const number *, int, int *elements, gesvdjInfo_t, int batch)          \
    {                                                                                              \
        return give_numbers(m, n, batch, elements);                                                \
    }                                                                                              \
    API gsh_cuda_enum cusolverDn##letter##gesvdjBatched(                                           \
        cusolverDnHandle_t handle, gsh_cuda_enum job, int m, int n, number *a, int lda, real *s,   \
        number *u, int ldu, number *v, int ldv, number *work, int elements, int *info,             \
        gesvdjInfo_t, int batch)                                                                   \
    {                                                                                              \
        return gesvdj_batched<Number>(handle, job, m, n, a, lda, s, u, ldu, v, ldv,                \
                                      space_of<Number>(work, elements), info, batch);              \
    }
EXPORT(S, orgqr, ormqr, syevj, float, float, float)
EXPORT(D, orgqr, ormqr, syevj, double, double, double)
EXPORT(C, ungqr, unmqr, heevj, complex<float>, float2, float)
EXPORT(Z, ungqr, unmqr, heevj, complex<double>, double2, double)
