/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of draws compile with NVRTC, which needs no GPU. Skipped where libnvrtc is not installed.
 */
#include "draw_cases.h"
#include "nvrtc_batch.h"
#include "source_draw.h"

static void add_all(struct batch *batch)
{
    for (int generator = GSH_RANDOM_PCG64; generator <= GSH_RANDOM_PHILOX; generator++)
        for (size_t k = 0; k < GSH_COUNT(draw_cases); k++) {
            const struct gsh_random_stream stream =
                draw_stream((enum gsh_random_generator)generator, 1, false, 4);
            const struct gsh_launch launch = draw_launch(&draw_cases[k], &stream, 5000000, 4096);
            add_launch(batch, &launch);
        }
}

/* The words of MT19937. */
static void add_twister(struct batch *batch)
{
    static const uint32_t key[624];
    const struct draw_case words = {"words", GSH_UINT32, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD,
                                    .range = UINT32_MAX};
    const struct gsh_random_stream stream = {.generator = GSH_RANDOM_MT19937,
                                             .twister = {key, 624}};
    const struct gsh_launch launch = draw_launch(&words, &stream, 5000000, 4096);
    add_launch(batch, &launch);
}

static void add_patches(struct batch *batch)
{
    static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64};
    static char text[TEXT_SIZE];
    struct gsh_fmt fmt;
    for (size_t d = 0; d < GSH_COUNT(dtypes); d++) {
        gsh_fmt_init(&fmt, text, sizeof text);
        gsh_source_draw_patch_text(&dtypes[d], &fmt);
        batch_add_text(batch, &fmt);
    }
}

static void compile_all(const char *arch, unsigned every)
{
    struct batch batch;
    if (!batch_open(&batch, arch, every))
        return;
    add_all(&batch);
    add_patches(&batch);
    add_twister(&batch);
    batch_close(&batch);
}

/* A plan of every shape and size: what is too large or has gaps is declined. */
static void test_plans(void)
{
    static struct gsh_source_plan plan;
    const struct gsh_random_stream stream = draw_stream(GSH_RANDOM_PCG64, 1, false, 4);
    struct gsh_launch launch = draw_launch(&draw_cases[3], &stream, 1, 4096);
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 4);
    launch.shape[0] = INT64_C(1) << 36;
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_OK);
    launch.shape[0] = INT64_C(1) << 38;
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_DECLINED);
    launch.shape[0] = 10;
    launch.strides[0][0] = 16;
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_DECLINED);
    launch.strides[0][0] = 8;
    launch.draw.form = GSH_RANDOM_EXP;
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_OK);
    launch.draw.distribution = GSH_RANDOM_EXPONENTIAL;
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_DECLINED);
}

int main(void)
{
    test_plans();
    if (!load_nvrtc()) {
        printf("skipped: no libnvrtc here\n");
        return CHECK_SKIP;
    }
    compile_all("--gpu-architecture=compute_90", 3);
    compile_all("--gpu-architecture=sm_80", 19);
    if (nvrtc_knows(61))
        compile_all("--gpu-architecture=sm_61", 19);
    return check_result();
}
