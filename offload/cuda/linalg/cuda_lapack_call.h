/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of a LAPACK launch: its temporary memory, operands converted to the libraries' layout (packed matrices,
 * column by column, one after the other) and back, and whether NumPy must compute instead. All under the DISPATCH
 * lock, with the context current.
 */
#pragma once

#include "cuda_context.h"
#include "cuda_lapack_kernels.h"
#include "cuda_timing.h"
#include "launch.h"

#define GSH_CUDA_LAPACK_PARTS 24

/* Handles and parameters passed to the libraries; created once. */
struct gsh_cuda_lapack_handles {
    cublasHandle_t blas; /* not cuda_blas.c's, whose modes are set for products */
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
    unsigned letter;               /* index of the dtype in "SDCZ": picks a typed routine */
    gsh_cuda_enum type, real_type; /* CUDA's types */
    size_t size, real_size;        /* bytes of a number */
    double epsilon;
    int64_t batch;
    uint64_t flag;  /* an int; not 0: NumPy must compute instead */
    bool is_judged; /* flag and infos were read after the last work that can set them */
    uint64_t info;  /* an int for each matrix, as LAPACK returns it */
    struct {
        uint64_t address;
        size_t size;
    } parts[GSH_CUDA_LAPACK_PARTS];
    unsigned part_count;
    uint64_t device; /* workspace of routines: see gsh_cuda_lapack_call_reserve */
    void *host;
    size_t device_bytes, host_bytes;
};

/* Matrices on the device: element (i, j) of matrix k is at `address` plus (i * row + j * column + k * matrix) numbers. */
struct gsh_cuda_view {
    uint64_t address;
    int64_t row, column, matrix;
};

/* FAILED: no memory; the caller calls gsh_cuda_lapack_call_end all the same. */
enum gsh_status gsh_cuda_lapack_call_begin(struct gsh_cuda_lapack_call *call,
                                           const struct gsh_launch *launch, unsigned row);
/* Releases all memory. */
void gsh_cuda_lapack_call_end(struct gsh_cuda_lapack_call *call);

/* Device memory for `count` elements of `size` bytes, until the call ends. */
enum gsh_status gsh_cuda_lapack_call_take(struct gsh_cuda_lapack_call *call, int64_t count,
                                          size_t size, uint64_t *address);
/* Makes the workspaces call->device and call->host at least so large. Routines use them one after the other. */
enum gsh_status gsh_cuda_lapack_call_reserve(struct gsh_cuda_lapack_call *call, size_t device_bytes,
                                             size_t host_bytes);
/* An array on the device of `count` addresses, `step` bytes apart. */
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

/* Copies operand k of every matrix, packed, to new memory: column by column, or where is_flipped row by row, which is the
 * transpose column by column. Raises the flag where a number is not finite. */
enum gsh_status gsh_cuda_lapack_call_gather(struct gsh_cuda_lapack_call *call, unsigned k,
                                            bool is_flipped, struct gsh_cuda_view *view);
/* The same into an existing view, without raising the flag. */
enum gsh_status gsh_cuda_lapack_call_gather_into(struct gsh_cuda_lapack_call *call, unsigned k,
                                                 const struct gsh_cuda_view *view);
/* The same, conjugated. */
enum gsh_status gsh_cuda_lapack_call_gather_conjugate(struct gsh_cuda_lapack_call *call, unsigned k,
                                                      const struct gsh_cuda_view *view);
/* Operand k of every matrix, packed column by column, read-only: the operand itself if it has that layout, else a copy.
 * Does not check the numbers. */
enum gsh_status gsh_cuda_lapack_call_borrow(struct gsh_cuda_lapack_call *call, unsigned k,
                                            struct gsh_cuda_view *view);
/* Raises the flag where one of `count` numbers is not finite. */
enum gsh_status gsh_cuda_lapack_call_look(struct gsh_cuda_lapack_call *call, uint64_t address,
                                          int64_t count);
/* Memory where a routine may write operand k, packed as above: the operand itself if it has that layout. */
enum gsh_status gsh_cuda_lapack_call_place(struct gsh_cuda_lapack_call *call, unsigned k,
                                           bool is_flipped, struct gsh_cuda_view *view);
/* Memory where a routine may work in place, with input k's numbers, column by column, to produce output `to` of the same
 * extents. Raises the flag where a number is not finite. */
enum gsh_status gsh_cuda_lapack_call_receive(struct gsh_cuda_lapack_call *call, unsigned k,
                                             unsigned to, struct gsh_cuda_view *view);
/* Copies the view's matrices, or their conjugates, to operand k, unless they are in it already. */
enum gsh_status gsh_cuda_lapack_call_scatter(struct gsh_cuda_lapack_call *call, unsigned k,
                                             const struct gsh_cuda_view *view, bool is_conjugated);

/* Allocates packed matrices of n x n numbers. */
enum gsh_status gsh_cuda_lapack_call_take_square(struct gsh_cuda_lapack_call *call, int64_t n,
                                                 struct gsh_cuda_view *view);
/* Sets packed matrices of n x n numbers to the identity. */
enum gsh_status gsh_cuda_lapack_call_fill_identity(struct gsh_cuda_lapack_call *call,
                                                   const struct gsh_cuda_view *view, int64_t n);
/* Copies the first input to the output `to`, except the triangle that the launch's options name, which comes from the
 * packed matrices in `from`: where is_unit without the diagonal, where is_hermitian with the diagonal's real parts. */
enum gsh_status gsh_cuda_lapack_call_put_triangle(struct gsh_cuda_lapack_call *call, unsigned to,
                                                  const struct gsh_cuda_view *from, bool is_unit,
                                                  bool is_hermitian);

/* Runs a routine on matrices first .. first + count - 1. */
typedef enum gsh_status gsh_cuda_lapack_step(struct gsh_cuda_lapack_call *call, void *what,
                                             int64_t first, int64_t count);
/* Runs the step on all matrices, at most `most` at a time. */
enum gsh_status gsh_cuda_lapack_call_each(struct gsh_cuda_lapack_call *call, int64_t most,
                                          gsh_cuda_lapack_step *step, void *what);
/* Whether the matrices, of n columns, are many and small enough for batched routines. */
bool gsh_cuda_lapack_call_is_many(const struct gsh_cuda_lapack_call *call, int64_t n);
#define GSH_CUDA_LAPACK_JACOBI                                                                     \
    32 /* most rows of gesvdjBatched; up to so many syevjBatched is the fastest */
#define GSH_CUDA_LAPACK_MANY 32768 /* at a time: a grid's second dimension is at most 65535 */

/* Runs one of our kernels on args->rows numbers or args->batch matrices. */
enum gsh_status gsh_cuda_lapack_call_kernel(struct gsh_cuda_lapack_call *call,
                                            enum gsh_cuda_lapack_call_kernel kernel,
                                            struct gsh_cuda_lapack_args args);
#define GSH_CUDA_LAPACK_LEAST                                                                      \
    8 /* units in the last place of the largest: another library may find such a pivot 0 */
/* Raises the flag where one of the first `count` numbers on the diagonal of one of the view's matrices (`row` is 1) is not
 * finite, or at most `bound` times the largest one of that diagonal. */
enum gsh_status gsh_cuda_lapack_call_look_at_diagonal(struct gsh_cuda_lapack_call *call,
                                                      const struct gsh_cuda_view *view,
                                                      int64_t count, double bound);
/* Waits for the submitted work and reads infos and flag, unless is_judged. DECLINED: an info is not 0, or the flag is
 * raised. */
enum gsh_status gsh_cuda_lapack_call_judge(struct gsh_cuda_lapack_call *call);
/* Clears infos and flag, before another routine is tried. */
enum gsh_status gsh_cuda_lapack_call_clear_error(struct gsh_cuda_lapack_call *call);

/* C = A B for `count` matrices, with C of m x n numbers; op_a, op_b as cuBLAS's. */
struct gsh_cuda_lapack_product {
    gsh_cuda_enum op_a, op_b;
    int64_t m, n, k, count;
    struct gsh_cuda_view a, b, c; /* `row` is 1 */
    double alpha, beta;
};
enum gsh_status gsh_cuda_lapack_call_multiply(struct gsh_cuda_lapack_call *call,
                                              const struct gsh_cuda_lapack_product *product);

/* cuBLAS's operation on the matrix of a system, by the launch's options. */
static inline gsh_cuda_enum gsh_cuda_lapack_op(const struct gsh_cuda_lapack_call *call)
{
    unsigned options = call->launch->lapack.options;
    if ((options & GSH_LAPACK_TRANSPOSED) == 0)
        return GSH_CUBLAS_OP_N;
    bool is_adjoint = (options & GSH_LAPACK_CONJUGATED) != 0 && gsh_dtype_kind(call->loop) == 'c';
    return is_adjoint ? GSH_CUBLAS_OP_C : GSH_CUBLAS_OP_T;
}
/* The triangle of that matrix that is used. */
static inline gsh_cuda_enum gsh_cuda_lapack_triangle(const struct gsh_cuda_lapack_call *call)
{
    return (call->launch->lapack.options & GSH_LAPACK_UPPER) != 0 ? GSH_CUBLAS_UPPER
                                                                  : GSH_CUBLAS_LOWER;
}
static inline uint64_t gsh_cuda_lapack_info(const struct gsh_cuda_lapack_call *call, int64_t matrix)
{
    return call->info + (uint64_t)matrix * sizeof(int);
}
/* The address of the view's matrix number `matrix`. */
static inline uint64_t gsh_cuda_lapack_at(const struct gsh_cuda_lapack_call *call,
                                          const struct gsh_cuda_view *view, int64_t matrix)
{
    return view->address + (uint64_t)(view->matrix * matrix) * call->size;
}

/* OK if a library's result is success; else FAILED, as gsh_cuda_context_check. */
enum gsh_status gsh_cuda_lapack_call_check(gsh_cuda_enum result, const char *text, bool *said);
#define GSH_CUSOLVER(text) GSH_CUDA_CHECKED(gsh_cuda_lapack_call_check, text, #text)
/* The same, charging the device time to the call's row. */
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
