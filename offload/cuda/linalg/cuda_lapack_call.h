/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of a LAPACK launch: memory for its time, operands as the libraries want them (packed matrices, column by
 * column, one behind the other) and back, and whether NumPy is to judge the result. All under the DISPATCH lock, with the
 * context current.
 */
#pragma once

#include "cuda_context.h"
#include "cuda_lapack_kernels.h"
#include "cuda_timing.h"
#include "launch.h"

#define GSH_CUDA_LAPACK_PARTS 24

/* What the libraries are called with; made once. */
struct gsh_cuda_lapack_handles {
    cublasHandle_t blas; /* not cuda_blas.c's, whose modes are the products' */
    cusolverDnHandle_t solver;
    cusolverDnParams_t params;
    gesvdjInfo_t jacobi;
    syevjInfo_t jacobi_symmetric;
};
extern struct gsh_cuda_lapack_handles gsh_cuda_lapack;

struct gsh_cuda_lapack_call {
    const struct gsh_launch *launch;
    unsigned row; /* of the report */
    enum gsh_dtype loop, real;
    unsigned letter;               /* of the loop in "SDCZ": picks a typed routine */
    gsh_cuda_enum type, real_type; /* as CUDA names them */
    size_t size, real_size;        /* bytes of a number */
    double epsilon;
    int64_t batch;
    uint64_t flag; /* an int: not 0 where NumPy is to judge */
    bool
        is_judged; /* nothing that could raise it, or an info, has been submitted since it was looked at */
    uint64_t info; /* an int for each matrix, as LAPACK gives it */
    struct {
        uint64_t address;
        size_t size;
    } parts[GSH_CUDA_LAPACK_PARTS];
    unsigned part_count;
    uint64_t device; /* the routine's own memory: see gsh_cuda_lapack_call_reserve */
    void *host;
    size_t device_bytes, host_bytes;
};

/* Matrices on the device: element (i, j) of matrix k lies (i * row + j * column + k * matrix) numbers behind `address`. */
struct gsh_cuda_view {
    uint64_t address;
    int64_t row, column, matrix;
};

/* FAILED: no memory; gsh_cuda_lapack_call_end is still to be called. */
enum gsh_status gsh_cuda_lapack_call_begin(struct gsh_cuda_lapack_call *call,
                                           const struct gsh_launch *launch, unsigned row);
/* Gives back all memory. */
void gsh_cuda_lapack_call_end(struct gsh_cuda_lapack_call *call);

/* Device memory for `count` things of `size` bytes, until the call ends. */
enum gsh_status gsh_cuda_lapack_call_take(struct gsh_cuda_lapack_call *call, int64_t count,
                                          size_t size, uint64_t *address);
/* At least so much at call->device and call->host, which routines use one after the other. */
enum gsh_status gsh_cuda_lapack_call_reserve(struct gsh_cuda_lapack_call *call, size_t device_bytes,
                                             size_t host_bytes);
/* Addresses of `count` things, `step` bytes apart, in an array on the device. */
enum gsh_status gsh_cuda_lapack_call_point(struct gsh_cuda_lapack_call *call, uint64_t first,
                                           int64_t step, int64_t count, uint64_t *pointers);

/* Operand k's extents. */
static inline int64_t gsh_cuda_lapack_rows(const struct gsh_cuda_lapack_call *call, unsigned k)
{
    return call->launch->lapack.cores[k].extent[0];
}
static inline int64_t gsh_cuda_lapack_columns(const struct gsh_cuda_lapack_call *call, unsigned k)
{
    return call->launch->lapack.cores[k].extent[1];
}

/* Operand k of every matrix, packed, in new memory: column by column, or row by row where is_flipped, which is the
 * transposed matrix column by column. Raises the flag where a number is not finite. */
enum gsh_status gsh_cuda_lapack_call_gather(struct gsh_cuda_lapack_call *call, unsigned k,
                                            bool is_flipped, struct gsh_cuda_view *view);
/* As gather into a view that is there, but for the flag. */
enum gsh_status gsh_cuda_lapack_call_gather_into(struct gsh_cuda_lapack_call *call, unsigned k,
                                                 const struct gsh_cuda_view *view);
/* The conjugates of that. */
enum gsh_status gsh_cuda_lapack_call_gather_conjugate(struct gsh_cuda_lapack_call *call, unsigned k,
                                                      const struct gsh_cuda_view *view);
/* Operand k of every matrix, packed column by column, to be read only: in the operand itself if it lies so. Does not look
 * at the numbers. */
enum gsh_status gsh_cuda_lapack_call_borrow(struct gsh_cuda_lapack_call *call, unsigned k,
                                            struct gsh_cuda_view *view);
/* Raises the flag where one of `count` numbers is not finite. */
enum gsh_status gsh_cuda_lapack_call_look(struct gsh_cuda_lapack_call *call, uint64_t address,
                                          int64_t count);
/* Where a routine may write operand k, packed as above: in the operand itself if it lies so. */
enum gsh_status gsh_cuda_lapack_call_place(struct gsh_cuda_lapack_call *call, unsigned k,
                                           bool is_flipped, struct gsh_cuda_view *view);
/* Where a routine may turn the input k into the output `to`, which has its extents: the input's numbers, column by column.
 * Raises the flag where one is not finite. */
enum gsh_status gsh_cuda_lapack_call_receive(struct gsh_cuda_lapack_call *call, unsigned k,
                                             unsigned to, struct gsh_cuda_view *view);
/* The view's matrices, or their conjugates, to operand k, unless they are there. */
enum gsh_status gsh_cuda_lapack_call_scatter(struct gsh_cuda_lapack_call *call, unsigned k,
                                             const struct gsh_cuda_view *view, bool is_conjugated);

/* Packed matrices of n x n numbers in new memory. */
enum gsh_status gsh_cuda_lapack_call_take_square(struct gsh_cuda_lapack_call *call, int64_t n,
                                                 struct gsh_cuda_view *view);
/* Packed matrices of n x n numbers become identities. */
enum gsh_status gsh_cuda_lapack_call_fill_identity(struct gsh_cuda_lapack_call *call,
                                                   const struct gsh_cuda_view *view, int64_t n);
/* The output `to` becomes the first input, but for the triangle that the launch's options name: that is the one of the
 * packed matrices in `from`, where is_unit without the diagonal, where is_hermitian with the real parts of it. */
enum gsh_status gsh_cuda_lapack_call_put_triangle(struct gsh_cuda_lapack_call *call, unsigned to,
                                                  const struct gsh_cuda_view *from, bool is_unit,
                                                  bool is_hermitian);

/* A routine for matrices first .. first + count - 1. */
typedef enum gsh_status gsh_cuda_lapack_step(struct gsh_cuda_lapack_call *call, void *what,
                                             int64_t first, int64_t count);
/* For all matrices, at most `most` at a time. */
enum gsh_status gsh_cuda_lapack_call_each(struct gsh_cuda_lapack_call *call, int64_t most,
                                          gsh_cuda_lapack_step *step, void *what);
/* Whether matrices with n columns are many and small enough for the routines that take many at a time. */
bool gsh_cuda_lapack_call_is_many(const struct gsh_cuda_lapack_call *call, int64_t n);
#define GSH_CUDA_LAPACK_JACOBI                                                                     \
    32 /* rows: more gesvdjBatched does not take, and up to so many syevjBatched is the fastest */
#define GSH_CUDA_LAPACK_MANY                                                                       \
    32768 /* at a time: a grid's second dimension holds no more than 65535 */

/* One of our kernels, on args->rows numbers or args->batch matrices. */
enum gsh_status gsh_cuda_lapack_call_kernel(struct gsh_cuda_lapack_call *call,
                                            enum gsh_cuda_lapack_call_kernel kernel,
                                            struct gsh_cuda_lapack_args args);
#define GSH_CUDA_LAPACK_LEAST                                                                      \
    8 /* units in the last place of the largest: a pivot that may be 0 to another library */
/* Raises the flag where one of the first `count` numbers on the diagonal of one of the view's matrices (`row` is 1) is not
 * finite, or at most `bound` times the matrix's largest there. */
enum gsh_status gsh_cuda_lapack_call_look_at_diagonal(struct gsh_cuda_lapack_call *call,
                                                      const struct gsh_cuda_view *view,
                                                      int64_t count, double bound);
/* Waits for what was submitted, unless it has been judged already. DECLINED: an info is not 0, or the flag is raised. */
enum gsh_status gsh_cuda_lapack_call_judge(struct gsh_cuda_lapack_call *call);
/* Before another routine is tried: no info and no flag. */
enum gsh_status gsh_cuda_lapack_call_clear_error(struct gsh_cuda_lapack_call *call);

/* C = A B, with C of m x n numbers, of `count` matrices; op_a, op_b as cuBLAS's. */
struct gsh_cuda_lapack_product {
    gsh_cuda_enum op_a, op_b;
    int64_t m, n, k, count;
    struct gsh_cuda_view a, b, c; /* `row` is 1 */
    double alpha, beta;
};
enum gsh_status gsh_cuda_lapack_call_multiply(struct gsh_cuda_lapack_call *call,
                                              const struct gsh_cuda_lapack_product *product);

/* What the launch's options say of the matrix of a system: cuBLAS's operation. */
static inline gsh_cuda_enum gsh_cuda_lapack_op(const struct gsh_cuda_lapack_call *call)
{
    unsigned options = call->launch->lapack.options;
    if ((options & GSH_LAPACK_TRANSPOSED) == 0)
        return GSH_CUBLAS_OP_N;
    bool is_adjoint = (options & GSH_LAPACK_CONJUGATED) != 0 && gsh_dtype_kind(call->loop) == 'c';
    return is_adjoint ? GSH_CUBLAS_OP_C : GSH_CUBLAS_OP_T;
}
/* And which of its triangles counts. */
static inline gsh_cuda_enum gsh_cuda_lapack_triangle(const struct gsh_cuda_lapack_call *call)
{
    return (call->launch->lapack.options & GSH_LAPACK_UPPER) != 0 ? GSH_CUBLAS_UPPER
                                                                  : GSH_CUBLAS_LOWER;
}
static inline uint64_t gsh_cuda_lapack_info(const struct gsh_cuda_lapack_call *call, int64_t matrix)
{
    return call->info + (uint64_t)matrix * sizeof(int);
}
/* The view's matrix of a number. */
static inline uint64_t gsh_cuda_lapack_at(const struct gsh_cuda_lapack_call *call,
                                          const struct gsh_cuda_view *view, int64_t matrix)
{
    return view->address + (uint64_t)(view->matrix * matrix) * call->size;
}

/* OK where a library's result is its success; else FAILED, as gsh_cuda_context_check. */
enum gsh_status gsh_cuda_lapack_call_check(gsh_cuda_enum result, const char *text, bool *said);
#define GSH_CUSOLVER(text) GSH_CUDA_CHECKED(gsh_cuda_lapack_call_check, text, #text)
/* The same, with its device time charged to the call's row. */
#define GSH_CUDA_TIMED(call, check, text)                                                          \
    __extension__({                                                                                \
        bool gsh_is_timed = gsh_cuda_timing_begin((call)->row);                                    \
        (call)->is_judged = false;                                                                 \
        enum gsh_status gsh_timed_status = GSH_CUDA_CHECKED(check, text, #text);                   \
        if (gsh_is_timed)                                                                          \
            gsh_cuda_timing_end();                                                                 \
        gsh_timed_status;                                                                          \
    })
#define GSH_CUSOLVER_TIMED(call, text) GSH_CUDA_TIMED(call, gsh_cuda_lapack_call_check, text)
#define GSH_CUBLAS_TIMED(call, text) GSH_CUDA_TIMED(call, gsh_cuda_context_check_blas, text)

/* A device address as a pointer of any type. */
#define GSH_CUDA_POINTER(address) ((void *)(uintptr_t)(address))

/* Calls FUNCTION(letter, the names of its orgqr, ormqr and syevj) for each type, in the order of `letter`. */
#define GSH_CUDA_LAPACK_LETTERS(FUNCTION)                                                          \
    FUNCTION(S, orgqr, ormqr, syevj)                                                               \
    FUNCTION(D, orgqr, ormqr, syevj)                                                               \
    FUNCTION(C, ungqr, unmqr, heevj)                                                               \
    FUNCTION(Z, ungqr, unmqr, heevj)
