/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands are copied in and out by ELEMENTWISE COPY launches, with any strides; by a copy of bytes where both sides
 * have the same layout; tile by tile where one side is row by row and the other column by column.
 */
#include "cuda_lapack_call.h"

#include "cuda_mem.h"
#include "cuda_module.h"
#include "log.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>

struct gsh_cuda_lapack_handles gsh_cuda_lapack;

enum gsh_status gsh_cuda_lapack_call_check(gsh_cuda_enum result, const char *text, bool *said)
{
    return gsh_cuda_context_check_library("cuSOLVER", result, text, said);
}

/* ---- memory ---- */

enum gsh_status gsh_cuda_lapack_call_take(struct gsh_cuda_lapack_call *call, int64_t count,
                                          size_t size, uint64_t *address)
{
    size_t bytes;
    if (call->part_count == GSH_CUDA_LAPACK_PARTS || !gsh_mul((size_t)count, size, &bytes))
        return GSH_FAILED;
    bytes = GSH_MAX(bytes, 1);
    GSH_TRY(gsh_cuda_mem_allocate(bytes, address));
    call->parts[call->part_count].address = *address;
    call->parts[call->part_count++].size = bytes;
    return GSH_OK;
}

enum gsh_status gsh_cuda_lapack_call_reserve(struct gsh_cuda_lapack_call *call, size_t device_bytes,
                                             size_t host_bytes)
{
    if (device_bytes > call->device_bytes) {
        if (call->device_bytes != 0)
            gsh_cuda_mem_release(call->device, call->device_bytes);
        call->device_bytes = 0;
        GSH_TRY(gsh_cuda_mem_allocate(device_bytes, &call->device));
        call->device_bytes = device_bytes;
    }
    if (host_bytes > call->host_bytes) {
        if (call->host != NULL)
            GSH_TRY(gsh_cuda_mem_finish()); /* earlier work may still use it */
        free(call->host);
        call->host = malloc(host_bytes);
        call->host_bytes = call->host != NULL ? host_bytes : 0;
        return call->host != NULL ? GSH_OK : GSH_FAILED;
    }
    return GSH_OK;
}

static void describe_types(struct gsh_cuda_lapack_call *call)
{
    bool is_complex = gsh_dtype_kind(call->loop) == 'c';
    bool is_single = gsh_dtype_is_single(call->loop);
    call->real = gsh_dtype_real(call->loop);
    call->letter = (is_complex ? 2U : 0U) + (is_single ? 0U : 1U);
    call->real_type = is_single ? GSH_CUDA_R_32F : GSH_CUDA_R_64F;
    call->type = !is_complex ? call->real_type : is_single ? GSH_CUDA_C_32F : GSH_CUDA_C_64F;
    call->size = gsh_dtype_size(call->loop);
    call->real_size = gsh_dtype_size(call->real);
    call->epsilon = is_single ? (double)FLT_EPSILON : DBL_EPSILON;
}

enum gsh_status gsh_cuda_lapack_call_begin(struct gsh_cuda_lapack_call *call,
                                           const struct gsh_launch *launch, unsigned row)
{
    *call = (struct gsh_cuda_lapack_call){
        .launch = launch, .row = row, .loop = launch->loop, .batch = gsh_launch_elements(launch)};
    describe_types(call);
    GSH_TRY(gsh_cuda_lapack_call_take(call, call->batch + 1, sizeof(int), &call->flag));
    call->info = call->flag + sizeof(int);
    return gsh_cuda_lapack_call_clear_error(call);
}

void gsh_cuda_lapack_call_end(struct gsh_cuda_lapack_call *call)
{
    if (call->host != NULL && gsh_cuda_mem_finish() == GSH_OK)
        free(call->host); /* else work may still use it: it is leaked */
    if (call->device_bytes != 0)
        gsh_cuda_mem_release(call->device, call->device_bytes);
    while (call->part_count-- != 0)
        gsh_cuda_mem_release(call->parts[call->part_count].address,
                             call->parts[call->part_count].size);
}

/* ---- our kernels ---- */

enum gsh_status gsh_cuda_lapack_call_kernel(struct gsh_cuda_lapack_call *call,
                                            enum gsh_cuda_lapack_call_kernel kernel,
                                            struct gsh_cuda_lapack_args args)
{
    struct gsh_source_stage stage;
    const struct gsh_cuda_lapack_kernel_text text = {kernel, call->loop};
    int64_t threads = args.rows * (args.batch != 0 ? args.batch * args.columns : 1);
    if (kernel == GSH_CUDA_LAPACK_multiply_reflectors)
        threads = args.batch * args.columns;
    args.flag = call->flag;
    call->is_judged = false;
    gsh_cuda_lapack_kernels_plan(&text, &args, threads, &stage);
    return gsh_cuda_module_launch_text(&stage, gsh_cuda_lapack_kernels_write, &text);
}

enum gsh_status gsh_cuda_lapack_call_point(struct gsh_cuda_lapack_call *call, uint64_t first,
                                           int64_t step, int64_t count, uint64_t *pointers)
{
    GSH_TRY(gsh_cuda_lapack_call_take(call, count, sizeof(uint64_t), pointers));
    return gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_make_pointers,
        (struct gsh_cuda_lapack_args){.a = *pointers, .b = first, .rows = count, .columns = step});
}

enum gsh_status gsh_cuda_lapack_call_look_at_diagonal(struct gsh_cuda_lapack_call *call,
                                                      const struct gsh_cuda_view *view,
                                                      int64_t count, double bound)
{
    return gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_judge_diagonal,
                                       (struct gsh_cuda_lapack_args){.a = view->address,
                                                                     .batch = call->batch,
                                                                     .rows = count,
                                                                     .extra = view->column,
                                                                     .step = view->matrix,
                                                                     .bound = bound});
}

enum gsh_status gsh_cuda_lapack_call_judge(struct gsh_cuda_lapack_call *call)
{
    int flag = 0;
    if (call->is_judged)
        return GSH_OK;
    GSH_TRY(gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_look_for_nonzero,
        (struct gsh_cuda_lapack_args){.a = call->info, .rows = call->batch}));
    GSH_TRY(gsh_cuda_mem_download(&flag, call->flag, sizeof flag, false));
    call->is_judged = flag == 0;
    return flag != 0 ? GSH_DECLINED : GSH_OK;
}

enum gsh_status gsh_cuda_lapack_call_clear_error(struct gsh_cuda_lapack_call *call)
{
    return gsh_cuda_mem_clear(call->flag, (size_t)(call->batch + 1) * sizeof(int));
}

/* ---- operands ---- */

/* Describes the copy between operand k (operand `place`, 0 or 1, of the launch) and a view, in the dtype of both. */
static void describe_copy(const struct gsh_cuda_lapack_call *call, unsigned k,
                          const struct gsh_cuda_view *view, unsigned place, struct gsh_launch *copy)
{
    const struct gsh_launch *launch = call->launch;
    const struct gsh_core *core = &launch->lapack.cores[k];
    enum gsh_dtype dtype = launch->operands[k].dtype;
    int64_t size = (int64_t)gsh_dtype_size(dtype), step = view->matrix * size;
    int ndim = launch->ndim;
    *copy = (struct gsh_launch){.kind = GSH_LAUNCH_ELEMENTWISE,
                                .op = GSH_OP_COPY,
                                .loop = dtype,
                                .nin = 1,
                                .nout = 1,
                                .ndim = ndim + 2};
    copy->operands[place] = launch->operands[k];
    copy->operands[1 - place] = (struct gsh_operand){.dtype = dtype, .address = view->address};
    for (int d = ndim; d-- > 0; step *= launch->shape[d]) {
        copy->shape[d] = launch->shape[d];
        copy->strides[place][d] = launch->strides[k][d];
        copy->strides[1 - place][d] = step;
    }
    for (int d = 0; d < 2; d++) {
        copy->shape[ndim + d] = core->extent[d];
        copy->strides[place][ndim + d] = core->stride[d];
    }
    copy->strides[1 - place][ndim] = view->row * size;
    copy->strides[1 - place][ndim + 1] = view->column * size;
}

static bool lies_alike(const struct gsh_launch *copy)
{
    for (int d = 0; d < copy->ndim; d++)
        if (copy->shape[d] > 1 && copy->strides[0][d] != copy->strides[1][d])
            return false;
    return true;
}

/* For a copy whose output has no gaps in the last dimension, and whose input has none in another one: arguments of
 * the kernel that transposes. False: it is no such copy, or one of small matrices. */
static bool describe_turn(const struct gsh_cuda_lapack_call *call, const struct gsh_launch *copy,
                          struct gsh_cuda_lapack_args *args)
{
    const int64_t size = (int64_t)gsh_dtype_size(copy->loop), *in = copy->strides[0];
    const int64_t *out = copy->strides[1];
    int last = copy->ndim - 1, rows = -1;
    for (int d = 0; d < last; d++)
        rows = in[d] == size ? d : rows;
    if (copy->loop != call->loop || copy->ndim < 2 || copy->ndim > 3 || rows < 0 ||
        out[last] != size || copy->shape[rows] < GSH_CUDA_LAPACK_TILE ||
        copy->shape[last] < GSH_CUDA_LAPACK_TILE)
        return false;
    for (int d = 0; d <= last; d++)
        if (in[d] % size != 0 || out[d] % size != 0)
            return false;
    int batch = copy->ndim == 3 ? 1 - rows : -1;
    int64_t down = (copy->shape[rows] + GSH_CUDA_LAPACK_TILE - 1) / GSH_CUDA_LAPACK_TILE;
    int64_t across = (copy->shape[last] + GSH_CUDA_LAPACK_TILE - 1) / GSH_CUDA_LAPACK_TILE;
    *args = (struct gsh_cuda_lapack_args){.a = copy->operands[0].address,
                                          .c = copy->operands[1].address,
                                          .batch = down * across,
                                          .rows = copy->shape[rows],
                                          .columns = copy->shape[last],
                                          .extra = in[last] / size,
                                          .step = out[rows] / size};
    if (batch >= 0) {
        args->batch *= copy->shape[batch];
        args->matrix_steps[0] = in[batch] / size;
        args->matrix_steps[1] = out[batch] / size;
    }
    return args->batch <= INT_MAX;
}

static enum gsh_status run_copy(struct gsh_cuda_lapack_call *call, struct gsh_launch *copy)
{
    struct gsh_cuda_lapack_args args;
    gsh_launch_collapse(copy);
    int64_t size = (int64_t)gsh_dtype_size(copy->loop);
    bool is_packed = copy->ndim == 0 || (copy->ndim == 1 && copy->strides[0][0] == size &&
                                         copy->strides[1][0] == size);
    if (is_packed && copy->op == GSH_OP_COPY)
        return gsh_cuda_mem_copy(copy->operands[1].address, copy->operands[0].address,
                                 (size_t)(gsh_launch_elements(copy) * size));
    if (!describe_turn(call, copy, &args))
        return gsh_cuda_module_launch(copy, call->row);
    bool is_judged = call->is_judged; /* a copy raises no flag */
    enum gsh_status status = gsh_cuda_lapack_call_kernel(
        call, copy->op == GSH_OP_COPY ? GSH_CUDA_LAPACK_turn : GSH_CUDA_LAPACK_turn_conjugate,
        args);
    call->is_judged = is_judged;
    return status;
}

static struct gsh_cuda_view packed_view(const struct gsh_cuda_lapack_call *call, unsigned k,
                                        bool is_flipped)
{
    int64_t rows = gsh_cuda_lapack_rows(call, k), columns = gsh_cuda_lapack_columns(call, k);
    return (struct gsh_cuda_view){
        .row = is_flipped ? columns : 1, .column = is_flipped ? 1 : rows, .matrix = rows * columns};
}

static enum gsh_status take_view(struct gsh_cuda_lapack_call *call, unsigned k,
                                 struct gsh_cuda_view *view)
{
    return gsh_cuda_lapack_call_take(call, call->batch * view->matrix,
                                     gsh_dtype_size(call->launch->operands[k].dtype),
                                     &view->address);
}

enum gsh_status gsh_cuda_lapack_call_gather_into(struct gsh_cuda_lapack_call *call, unsigned k,
                                                 const struct gsh_cuda_view *view)
{
    struct gsh_launch copy;
    describe_copy(call, k, view, 0, &copy);
    return run_copy(call, &copy);
}

enum gsh_status gsh_cuda_lapack_call_gather_conjugate(struct gsh_cuda_lapack_call *call, unsigned k,
                                                      const struct gsh_cuda_view *view)
{
    struct gsh_launch copy;
    describe_copy(call, k, view, 0, &copy);
    if (gsh_dtype_kind(copy.loop) == 'c')
        copy.op = GSH_OP_CONJUGATE;
    return run_copy(call, &copy);
}

enum gsh_status gsh_cuda_lapack_call_borrow(struct gsh_cuda_lapack_call *call, unsigned k,
                                            struct gsh_cuda_view *view)
{
    GSH_TRY(gsh_cuda_lapack_call_place(call, k, false, view));
    return view->address == call->launch->operands[k].address
               ? GSH_OK
               : gsh_cuda_lapack_call_gather_into(call, k, view);
}

enum gsh_status gsh_cuda_lapack_call_look(struct gsh_cuda_lapack_call *call, uint64_t address,
                                          int64_t count)
{
    int64_t parts = (int64_t)(call->size / call->real_size);
    return gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_look_for_infinite,
        (struct gsh_cuda_lapack_args){.a = address, .rows = count * parts});
}

enum gsh_status gsh_cuda_lapack_call_gather(struct gsh_cuda_lapack_call *call, unsigned k,
                                            bool is_flipped, struct gsh_cuda_view *view)
{
    *view = packed_view(call, k, is_flipped);
    GSH_TRY(take_view(call, k, view));
    GSH_TRY(gsh_cuda_lapack_call_gather_into(call, k, view));
    return gsh_cuda_lapack_call_look(call, view->address, call->batch * view->matrix);
}

enum gsh_status gsh_cuda_lapack_call_place(struct gsh_cuda_lapack_call *call, unsigned k,
                                           bool is_flipped, struct gsh_cuda_view *view)
{
    struct gsh_launch copy;
    *view = packed_view(call, k, is_flipped);
    view->address = call->launch->operands[k].address;
    describe_copy(call, k, view, 1, &copy);
    return lies_alike(&copy) ? GSH_OK : take_view(call, k, view);
}

enum gsh_status gsh_cuda_lapack_call_receive(struct gsh_cuda_lapack_call *call, unsigned k,
                                             unsigned to, struct gsh_cuda_view *view)
{
    GSH_TRY(gsh_cuda_lapack_call_place(call, to, false, view));
    GSH_TRY(gsh_cuda_lapack_call_gather_into(call, k, view));
    return gsh_cuda_lapack_call_look(call, view->address, call->batch * view->matrix);
}

enum gsh_status gsh_cuda_lapack_call_scatter(struct gsh_cuda_lapack_call *call, unsigned k,
                                             const struct gsh_cuda_view *view, bool is_conjugated)
{
    struct gsh_launch copy;
    if (view->address == call->launch->operands[k].address)
        return GSH_OK;
    describe_copy(call, k, view, 1, &copy);
    if (is_conjugated && gsh_dtype_kind(copy.loop) == 'c')
        copy.op = GSH_OP_CONJUGATE;
    return run_copy(call, &copy);
}

/* ---- square matrices ---- */

enum gsh_status gsh_cuda_lapack_call_take_square(struct gsh_cuda_lapack_call *call, int64_t n,
                                                 struct gsh_cuda_view *view)
{
    *view = (struct gsh_cuda_view){.row = 1, .column = n, .matrix = n * n};
    return gsh_cuda_lapack_call_take(call, call->batch * view->matrix, call->size, &view->address);
}

enum gsh_status gsh_cuda_lapack_call_fill_identity(struct gsh_cuda_lapack_call *call,
                                                   const struct gsh_cuda_view *view, int64_t n)
{
    return gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_make_identity,
        (struct gsh_cuda_lapack_args){
            .a = view->address, .batch = call->batch, .rows = n, .columns = n});
}

enum gsh_status gsh_cuda_lapack_call_put_triangle(struct gsh_cuda_lapack_call *call, unsigned to,
                                                  const struct gsh_cuda_view *from, bool is_unit,
                                                  bool is_hermitian)
{
    struct gsh_cuda_view whole;
    int64_t n = gsh_cuda_lapack_rows(call, to);
    GSH_TRY(gsh_cuda_lapack_call_place(call, to, false, &whole));
    GSH_TRY(gsh_cuda_lapack_call_gather_into(call, 0, &whole));
    GSH_TRY(gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_copy_triangle,
        (struct gsh_cuda_lapack_args){.a = from->address,
                                      .c = whole.address,
                                      .batch = call->batch,
                                      .rows = n,
                                      .columns = n,
                                      .extra = gsh_cuda_lapack_triangle(call) == GSH_CUBLAS_UPPER,
                                      .step = is_unit,
                                      .bound = is_hermitian}));
    return gsh_cuda_lapack_call_scatter(call, to, &whole, false);
}

/* ---- routines ---- */

enum gsh_status gsh_cuda_lapack_call_each(struct gsh_cuda_lapack_call *call, int64_t most,
                                          gsh_cuda_lapack_step *step, void *what)
{
    for (int64_t first = 0; first < call->batch; first += most)
        GSH_TRY(step(call, what, first, GSH_MIN(most, call->batch - first)));
    return GSH_OK;
}

bool gsh_cuda_lapack_call_is_many(const struct gsh_cuda_lapack_call *call, int64_t n)
{
    return gsh_lapack_is_many(call->batch, n);
}

enum gsh_status gsh_cuda_lapack_call_multiply(struct gsh_cuda_lapack_call *call,
                                              const struct gsh_cuda_lapack_product *p)
{
    const float singles[2][2] = {{(float)p->alpha, 0}, {(float)p->beta, 0}};
    const double doubles[2][2] = {{p->alpha, 0}, {p->beta, 0}};
    bool is_single = call->real == GSH_FLOAT32;
    const void *alpha = is_single ? (const void *)singles[0] : doubles[0];
    const void *beta = is_single ? (const void *)singles[1] : doubles[1];
    gsh_cuda_enum compute = is_single ? GSH_CUBLAS_COMPUTE_32F : GSH_CUBLAS_COMPUTE_64F;
    return GSH_CUBLAS_TIMED(
        call, gsh_cublas.cublasGemmStridedBatchedEx(
                  gsh_cuda_lapack.blas, p->op_a, p->op_b, (int)p->m, (int)p->n, (int)p->k, alpha,
                  GSH_CUDA_POINTER(p->a.address), call->type, (int)p->a.column, p->a.matrix,
                  GSH_CUDA_POINTER(p->b.address), call->type, (int)p->b.column, p->b.matrix, beta,
                  GSH_CUDA_POINTER(p->c.address), call->type, (int)p->c.column, p->c.matrix,
                  (int)p->count, compute, GSH_CUBLAS_GEMM_DEFAULT));
}
