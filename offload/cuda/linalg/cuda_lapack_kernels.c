/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel's text is lapack.cuh, preceded by the type and the name of the routine that the kernel calls.
 */
#include "cuda_lapack_kernels.h"

#include "source_texts.h"

#include <string.h>

#define BLOCK 128U

static const struct {
    const char *name;
    unsigned block;
} kernels[] = {
#define X(name, block) {#name, block},
    GSH_CUDA_LAPACK_KERNELS(X)
#undef X
};

void gsh_cuda_lapack_kernels_write(const void *kernel_text, struct gsh_fmt *fmt)
{
    const struct gsh_cuda_lapack_kernel_text *text = kernel_text;
    gsh_fmt_printf(fmt, "typedef %s R;\n#define COMPLEX %d\n#define ROUTINE %s\n",
                   gsh_dtype_is_single(text->dtype) ? "float" : "double",
                   gsh_dtype_kind(text->dtype) == 'c', kernels[text->kernel].name);
    gsh_fmt_text(fmt, gsh_cuda_text_lapack);
}

void gsh_cuda_lapack_kernels_name(const struct gsh_cuda_lapack_kernel_text *text,
                                  char key[GSH_CUDA_LAPACK_KEY])
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, key, GSH_CUDA_LAPACK_KEY);
    gsh_fmt_printf(&fmt, "lapack_%s_%s", kernels[text->kernel].name, gsh_dtype_name(text->dtype));
}

void gsh_cuda_lapack_kernels_plan(const struct gsh_cuda_lapack_kernel_text *text,
                                  const struct gsh_cuda_lapack_args *args, int64_t threads,
                                  struct gsh_source_stage *stage)
{
    unsigned block = kernels[text->kernel].block;
    _Static_assert(sizeof *args <= sizeof stage->arguments, "room for them");
    stage->block[0] = block != 0 ? block : BLOCK;
    stage->grid[0] =
        (unsigned)(block != 0 ? args->batch : threads / BLOCK + (threads % BLOCK != 0));
    stage->grid[1] = stage->grid[2] = stage->block[1] = stage->block[2] = 1;
    stage->runs = 1;
    stage->shared_bytes = 0;
    stage->argument_bytes = sizeof *args;
    memcpy(stage->arguments, args, sizeof *args);
    _Static_assert(sizeof stage->key >= GSH_CUDA_LAPACK_KEY, "room for it");
    gsh_cuda_lapack_kernels_name(text, stage->key);
}
