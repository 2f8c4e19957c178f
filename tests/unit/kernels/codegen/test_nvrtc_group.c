/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of random groups, and that of their interpreter, compile with NVRTC, which needs no GPU: to PTX for sm_90, which checks the
 * C++; a sample to machine code for sm_80, sm_90 and sm_100. Skipped where libnvrtc is not installed.
 */
#include "group_random.h"
#include "nvrtc_batch.h"
#include "source_interpreter.h"

static struct random_group work;
static char pool[POOL_BYTES];

static void add_group(struct batch *batch, uint64_t structure)
{
    static struct gsh_source_plan plan;
    static char text[TEXT_SIZE];
    struct gsh_fmt fmt;
    random_group_make(&work, pool, structure, 0, structure % 3 == 0);
    enum gsh_status status = gsh_source_group_plan(&work.group, 0, &plan);
    if (status == GSH_DECLINED &&
        work.group.sink_count > 0) /* two sinks with a tree of their own each, ... */
        return;
    if (!CHECK_INT(status, GSH_OK))
        return;
    for (unsigned stage = 0; stage < plan.stage_count; stage++) {
        gsh_fmt_init(&fmt, text, sizeof(text));
        gsh_source_group_text(&work.group, stage, &fmt);
        batch_add_text(batch, &fmt);
    }
}

static void compile_some(const char *arch, uint64_t first, uint64_t count)
{
    struct batch batch = {.text = malloc(BATCH_SIZE), .arch = arch, .every = 1};
    if (!CHECK(batch.text != NULL))
        return;
    gsh_fmt_init(&batch.fmt, batch.text, BATCH_SIZE);
    for (uint64_t structure = first; structure < first + count; structure++)
        add_group(&batch, structure);
    batch_flush(&batch);
    printf("%s: %u kernels\n", arch, batch.kernels);
    free(batch.text);
}

static void compile_interpreter(const char *arch)
{
    static char text[TEXT_SIZE];
    struct batch batch = {.text = malloc(BATCH_SIZE), .arch = arch, .every = 1};
    struct gsh_fmt fmt;
    if (!CHECK(batch.text != NULL))
        return;
    gsh_fmt_init(&batch.fmt, batch.text, BATCH_SIZE);
    gsh_fmt_init(&fmt, text, sizeof(text));
    gsh_source_interpreter_text(&fmt);
    batch_add_text(&batch, &fmt);
    batch_flush(&batch);
    free(batch.text);
}

int main(void)
{
    if (!load_nvrtc()) {
        printf("skipped: no libnvrtc here\n");
        return CHECK_SKIP;
    }
    compile_some("--gpu-architecture=compute_90", 0, 64);
    compile_interpreter("--gpu-architecture=compute_90");
    compile_some("--gpu-architecture=sm_80", 64, 8);
    compile_some("--gpu-architecture=sm_90", 72, 8);
    compile_some("--gpu-architecture=sm_100", 80, 8);
    if (nvrtc_knows(61))
        compile_some("--gpu-architecture=sm_61", 88, 8);
    return check_result();
}
