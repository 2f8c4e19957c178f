/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Integers are passed as int64_t; functions that read 32 bits find the value in its first bytes.
 */
#include "emu_blas_forms.h"

#include "blas_form.h"
#include "blas_number.h"
#include "host_product.h"
#include "host_routines.h"

#include <fenv.h>
#include <string.h>

/* A call of one of the functions. A real factor of a Hermitian form is the first half of a complex one. */
struct call {
    gsh_host_routines_function *function;
    struct gsh_blas_arguments *with;
    void *a, *b, *c;
    double _Complex alpha, beta;
};

static void call_update(const struct call *p)
{
    typedef void update(char *, char *, int64_t *, int64_t *, const void *, void *, int64_t *,
                        const void *, void *, int64_t *, size_t, size_t);
    struct gsh_blas_arguments *w = p->with;
    ((update *)p->function)(&w->triangle, &w->trans, &w->n, &w->k, &p->alpha, p->a, &w->a_leading,
                            &p->beta, p->c, &w->c_leading, 1, 1);
}

static void call_twofold_update(const struct call *p)
{
    typedef void update(char *, char *, int64_t *, int64_t *, const void *, void *, int64_t *,
                        void *, int64_t *, const void *, void *, int64_t *, size_t, size_t);
    struct gsh_blas_arguments *w = p->with;
    ((update *)p->function)(&w->triangle, &w->trans, &w->n, &w->k, &p->alpha, p->a, &w->a_leading,
                            p->b, &w->b_leading, &p->beta, p->c, &w->c_leading, 1, 1);
}

static void call_symmetric(const struct call *p)
{
    typedef void symmetric(char *, char *, int64_t *, int64_t *, const void *, void *, int64_t *,
                           void *, int64_t *, const void *, void *, int64_t *, size_t, size_t);
    struct gsh_blas_arguments *w = p->with;
    ((symmetric *)p->function)(&w->side, &w->triangle, &w->m, &w->n, &p->alpha, p->a, &w->a_leading,
                               p->b, &w->b_leading, &p->beta, p->c, &w->c_leading, 1, 1);
}

static void call_triangular(const struct call *p)
{
    typedef void triangular(char *, char *, char *, char *, int64_t *, int64_t *, const void *,
                            void *, int64_t *, void *, int64_t *, size_t, size_t, size_t, size_t);
    struct gsh_blas_arguments *w = p->with;
    ((triangular *)p->function)(&w->side, &w->triangle, &w->trans, &w->diagonal, &w->m, &w->n,
                                &p->alpha, p->a, &w->a_leading, p->c, &w->c_leading, 1, 1, 1, 1);
}

static void (*const calls[GSH_GEMM_FORMS])(const struct call *) = {
    [GSH_GEMM_SYRK] = call_update,          [GSH_GEMM_HERK] = call_update,
    [GSH_GEMM_SYR2K] = call_twofold_update, [GSH_GEMM_HER2K] = call_twofold_update,
    [GSH_GEMM_SYMM] = call_symmetric,       [GSH_GEMM_HEMM] = call_symmetric,
    [GSH_GEMM_TRMM] = call_triangular,
};

bool gsh_emu_blas_forms_supports(const struct gsh_launch *launch)
{
    struct gsh_blas_arguments arguments;
    return launch->ndim == 0 && gsh_blas_form_describe(&launch->gemm, &arguments);
}

/* ?trmm overwrites the matrix that it multiplies. */
static void copy_factor(const struct gsh_launch *launch, const struct gsh_blas_arguments *with)
{
    size_t size = gsh_dtype_size(launch->loop);
    const char *from = (const char *)launch->operands[with->b].address;
    char *to = (char *)launch->operands[2].address;
    for (int64_t column = 0; column < with->n; column++)
        memcpy(to + (size_t)(column * with->c_leading) * size,
               from + (size_t)(column * with->b_leading) * size, (size_t)with->m * size);
}

static void call_registered(const struct gsh_launch *launch, gsh_host_routines_function *function,
                            struct gsh_blas_arguments *with)
{
    const struct gsh_gemm *g = &launch->gemm;
    fexcept_t flags;
    struct call call = {.function = function,
                        .with = with,
                        .a = (void *)launch->operands[with->a].address,
                        .b = (void *)launch->operands[with->b].address,
                        .c = (void *)launch->operands[2].address};
    gsh_blas_number_store(&call.alpha, launch->loop, 0, g->alpha);
    gsh_blas_number_store(&call.beta, launch->loop, 0, g->beta);
    fegetexceptflag(&flags, FE_ALL_EXCEPT);
    if (g->form == GSH_GEMM_TRMM)
        copy_factor(launch, with);
    calls[g->form](&call);
    fesetexceptflag(&flags, FE_ALL_EXCEPT);
}

void gsh_emu_blas_forms_run(const struct gsh_launch *launch)
{
    struct gsh_blas_arguments arguments;
    int integer_bits;
    const struct gsh_operand *operands = launch->operands;
    gsh_host_routines_function *function = gsh_host_routines_find(
        gsh_host_routines_product(launch->gemm.form), launch->loop, &integer_bits);
    if (function != NULL && gsh_blas_form_describe(&launch->gemm, &arguments) &&
        !(integer_bits == 32 && gsh_blas_arguments_are_wide(&arguments)))
        call_registered(launch, function, &arguments);
    else
        gsh_host_product_run(&launch->gemm, launch->loop, (const void *)operands[0].address,
                             (const void *)operands[1].address, (void *)operands[2].address);
}
