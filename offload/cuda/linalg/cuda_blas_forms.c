/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. cuBLAS takes BLAS's arguments; its trmm writes the product to a matrix of its own.
 */
#include "cuda_blas_forms.h"

#include "blas_form.h"
#include "cuda_blas.h"
#include "cuda_context.h"
#include "cuda_loader.h"

#include <complex.h>

/* One routine's arguments, for any type. */
struct call {
    gsh_cuda_enum side, triangle, op, diagonal;
    int m, n, k, a_leading, b_leading, c_leading;
    uint64_t a, b, c;
    double _Complex alpha, beta;
};

#define POINTER(number, address) ((number *)(uintptr_t)(address))
/* For a real type the real part is used. */
#define FACTOR(number, real, name)                                                                 \
    ((const number *)(const real[]){(real)creal(p->name), (real)cimag(p->name)})
#define MATRIX(number, name) POINTER(const number, p->name), p->name##_leading
#define RESULT(number) POINTER(number, p->c), p->c_leading

/* `factor`: the type of alpha and beta. */
#define FORWARD_UPDATE(routine, number, factor, real)                                              \
    static gsh_cuda_enum call_##routine(const struct call *p)                                      \
    {                                                                                              \
        return gsh_cublas.cublas##routine##_v2(                                                    \
            gsh_cuda_blas_handle(), p->triangle, p->op, p->n, p->k, FACTOR(factor, real, alpha),   \
            MATRIX(number, a), FACTOR(factor, real, beta), RESULT(number));                        \
    }
/* `factor`: the type of beta. */
#define FORWARD_UPDATE_2(routine, number, factor, real)                                            \
    static gsh_cuda_enum call_##routine(const struct call *p)                                      \
    {                                                                                              \
        return gsh_cublas.cublas##routine##_v2(                                                    \
            gsh_cuda_blas_handle(), p->triangle, p->op, p->n, p->k, FACTOR(number, real, alpha),   \
            MATRIX(number, a), MATRIX(number, b), FACTOR(factor, real, beta), RESULT(number));     \
    }
#define FORWARD_SYMMETRIC(routine, number, real)                                                   \
    static gsh_cuda_enum call_##routine(const struct call *p)                                      \
    {                                                                                              \
        return gsh_cublas.cublas##routine##_v2(                                                    \
            gsh_cuda_blas_handle(), p->side, p->triangle, p->m, p->n, FACTOR(number, real, alpha), \
            MATRIX(number, a), MATRIX(number, b), FACTOR(number, real, beta), RESULT(number));     \
    }
#define FORWARD(letter, number, real)                                                              \
    FORWARD_UPDATE(letter##syrk, number, number, real)                                             \
    FORWARD_UPDATE_2(letter##syr2k, number, number, real)                                          \
    FORWARD_SYMMETRIC(letter##symm, number, real)                                                  \
    static gsh_cuda_enum call_##letter##trmm(const struct call *p)                                 \
    {                                                                                              \
        return gsh_cublas.cublas##letter##trmm_v2(                                                 \
            gsh_cuda_blas_handle(), p->side, p->triangle, p->op, p->diagonal, p->m, p->n,          \
            FACTOR(number, real, alpha), MATRIX(number, a), MATRIX(number, b), RESULT(number));    \
    }
#define FORWARD_HERMITIAN(letter, number, real)                                                    \
    FORWARD_UPDATE(letter##herk, number, real, real)                                               \
    FORWARD_UPDATE_2(letter##her2k, number, real, real)                                            \
    FORWARD_SYMMETRIC(letter##hemm, number, real)
FORWARD(S, float, float)
FORWARD(D, double, double)
FORWARD(C, struct float2, float)
FORWARD(Z, struct double2, double)
FORWARD_HERMITIAN(C, struct float2, float)
FORWARD_HERMITIAN(Z, struct double2, double)

#define ROUTINES(letter)                                                                           \
    [GSH_GEMM_SYRK] = call_##letter##syrk, [GSH_GEMM_SYR2K] = call_##letter##syr2k,                \
    [GSH_GEMM_SYMM] = call_##letter##symm, [GSH_GEMM_TRMM] = call_##letter##trmm
#define HERMITIAN_ROUTINES(letter)                                                                 \
    [GSH_GEMM_HERK] = call_##letter##herk, [GSH_GEMM_HER2K] = call_##letter##her2k,                \
    [GSH_GEMM_HEMM] = call_##letter##hemm
static gsh_cuda_enum (*const routines[GSH_DTYPE_COUNT][GSH_GEMM_FORMS])(const struct call *) = {
    [GSH_FLOAT32] = {ROUTINES(S)},
    [GSH_FLOAT64] = {ROUTINES(D)},
    [GSH_COMPLEX64] = {ROUTINES(C), HERMITIAN_ROUTINES(C)},
    [GSH_COMPLEX128] = {ROUTINES(Z), HERMITIAN_ROUTINES(Z)},
};

bool gsh_cuda_blas_forms_supports(const struct gsh_launch *launch)
{
    struct gsh_blas_arguments arguments;
    const struct gsh_gemm *g = &launch->gemm;
    if (routines[launch->loop][g->form] == NULL || !gsh_cuda_blas_has_loop(launch->loop) ||
        launch->nin != 2 || launch->ndim != 0 || g->m <= 0 || g->n <= 0 || g->k <= 0)
        return false;
    for (unsigned k = 0; k < 3; k++)
        if (launch->operands[k].dtype != launch->loop || launch->operands[k].is_constant ||
            launch->operands[k].address % gsh_dtype_size(launch->loop) != 0)
            return false;
    return gsh_blas_form_describe(g, &arguments) && !gsh_blas_arguments_are_wide(&arguments);
}

static gsh_cuda_enum op_of(char trans)
{
    return trans == 'N' ? GSH_CUBLAS_OP_N : trans == 'T' ? GSH_CUBLAS_OP_T : GSH_CUBLAS_OP_C;
}

enum gsh_status gsh_cuda_blas_forms_run(const struct gsh_launch *launch)
{
    struct gsh_blas_arguments with;
    const struct gsh_gemm *g = &launch->gemm;
    if (!gsh_cuda_loader_is_ready(&gsh_cuda_blas_loader) || !gsh_blas_form_describe(g, &with))
        return GSH_DECLINED;
    const struct call call = {
        .side = with.side == 'L' ? GSH_CUBLAS_LEFT : GSH_CUBLAS_RIGHT,
        .triangle = with.triangle == 'L' ? GSH_CUBLAS_LOWER : GSH_CUBLAS_UPPER,
        .op = op_of(with.trans),
        .diagonal = with.diagonal == 'U' ? GSH_CUBLAS_UNIT : GSH_CUBLAS_NON_UNIT,
        .m = (int)with.m,
        .n = (int)with.n,
        .k = (int)with.k,
        .a_leading = (int)with.a_leading,
        .b_leading = (int)with.b_leading,
        .c_leading = (int)with.c_leading,
        .a = launch->operands[with.a].address,
        .b = launch->operands[with.b].address,
        .c = launch->operands[2].address,
        .alpha = g->alpha,
        .beta = g->beta};
    return GSH_CUBLAS(routines[launch->loop][g->form](&call));
}
