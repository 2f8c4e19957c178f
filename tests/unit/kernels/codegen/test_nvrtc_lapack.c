/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of kernels/cuda/lapack.cuh compile with NVRTC for every type, which needs no GPU. Skipped where libnvrtc is
 * not installed.
 */
#include "cuda_lapack_kernels.h"
#include "nvrtc_batch.h"

static void add_all(struct batch *batch)
{
    static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64,
                                            GSH_COMPLEX128};
    static char text[TEXT_SIZE];
    struct gsh_fmt fmt;
    for (size_t d = 0; d < GSH_COUNT(dtypes); d++)
        for (int k = 0; k < GSH_CUDA_LAPACK_KERNEL_COUNT; k++) {
            const struct gsh_cuda_lapack_kernel_text what = {(enum gsh_cuda_lapack_call_kernel)k,
                                                             dtypes[d]};
            gsh_fmt_init(&fmt, text, sizeof text);
            gsh_fmt_text(&fmt, "#undef COMPLEX\n#undef ROUTINE\n");
            gsh_cuda_lapack_kernels_write(&what, &fmt);
            batch_add_text(batch, &fmt);
        }
    batch_flush(batch);
}

/* Keys tell kernels apart, and a thread is there for each thing. */
static void test_plan(void)
{
    static struct gsh_source_stage stages[2];
    const struct gsh_cuda_lapack_args args = {.batch = 7, .rows = 3};
    struct gsh_cuda_lapack_kernel_text text = {GSH_CUDA_LAPACK_judge_diagonal, GSH_FLOAT32};
    gsh_cuda_lapack_kernels_plan(&text, &args, 1000, &stages[0]);
    CHECK_STR(stages[0].key, "lapack_judge_diagonal_float32");
    CHECK_INT(stages[0].grid[0], 7);
    CHECK_INT(stages[0].block[0], 128);
    text = (struct gsh_cuda_lapack_kernel_text){GSH_CUDA_LAPACK_make_identity, GSH_COMPLEX128};
    gsh_cuda_lapack_kernels_plan(&text, &args, 1001, &stages[1]);
    CHECK_STR(stages[1].key, "lapack_make_identity_complex128");
    CHECK_INT(stages[1].grid[0], 1 + 1000 / stages[1].block[0]);
    CHECK(memcmp(stages[1].arguments, &args, sizeof args) == 0);
}

int main(void)
{
    struct batch batch = {
        .text = malloc(BATCH_SIZE), .every = 1, .arch = "--gpu-architecture=sm_90"};
    gsh_fmt_init(&batch.fmt, batch.text, BATCH_SIZE);
    test_plan();
    if (load_nvrtc()) {
        add_all(&batch);
        printf("%u kernels compiled\n", batch.kernels);
    } else {
        puts("libnvrtc is not installed: nothing was compiled");
    }
    free(batch.text);
    return check_result();
}
