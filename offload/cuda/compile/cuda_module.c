/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory cache of kernels, an open-addressed table by gsh_source_stage.key (which identifies the text; the GPU is
 * always the same), and their launch. A kernel enters the table when it is looked for among those compiled ahead and on disk; a text that failed to
 * compile stays there as failed. Modules are never unloaded: work in flight may use them.
 */
#include "cuda_module.h"

#include "cuda_compile_thread.h"
#include "cuda_context.h"
#include "cuda_dump.h"
#include "cuda_kernel_text.h"
#include "cuda_mem.h"
#include "cuda_timing.h"
#include "dense_join.h"
#include "group_split.h"
#include "hash.h"
#include "interpretation.h"
#include "options.h"
#include "source.h"
#include "source_interpreter.h"
#include "stats.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS ((size_t)256)
#define SPLIT_SHARE 4 /* of the free memory a group that is interpreted may take one part */

/* What is launched: a launch, a group or a text. */
struct work {
    const struct gsh_launch *launch;
    const struct gsh_group *group;
    gsh_cuda_kernel_text_write *write;
    const void *what;         /* of `write` */
    gsh_can_split *can_split; /* of a group that need not wait for its kernel; else NULL */
    const void *item;         /* argument of can_split */
};

struct kernel {
    uint64_t hash;
    struct gsh_cuda_job job;
    unsigned interpreted; /* times that its group ran in an interpreter */
    double work;          /* elements times steps of these */
    char key[GSH_SOURCE_KEY_SIZE];
};

static struct gsh_cuda_target target;
static struct kernel **slots; /* slot_count pointers, a power of two; NULL: free */
static size_t slot_count, used_count;

enum gsh_status gsh_cuda_module_open(void)
{
    gsh_cuda_compile_thread_open();
    target.arch = gsh_cuda_libs_nvrtc_target(gsh_cuda.arch, &target.is_ptx);
    return target.arch ? GSH_OK : GSH_FAILED;
}

static uint64_t hash_key(const char *key)
{
    uint64_t hash = GSH_HASH_BEGIN;
    for (; *key; key++)
        hash = gsh_hash_add(hash, (unsigned char)*key);
    return hash;
}

/* The slot that has the key, or the free one for it. */
static struct kernel **find_slot(struct kernel **table, size_t count, uint64_t hash,
                                 const char *key)
{
    size_t i = hash & (count - 1);
    while (table[i] && (table[i]->hash != hash || strcmp(table[i]->key, key) != 0))
        i = (i + 1) & (count - 1);
    return &table[i];
}

/* Makes room for one more kernel: at most half of the slots are used. */
static enum gsh_status reserve_slot(void)
{
    if (used_count < slot_count / 2)
        return GSH_OK;
    size_t count = GSH_MAX(slot_count * 2, FIRST_SLOTS);
    struct kernel **table = calloc(count, sizeof *table);
    if (!table)
        return GSH_FAILED;
    for (size_t i = 0; i < slot_count; i++)
        if (slots[i])
            *find_slot(table, count, slots[i]->hash, slots[i]->key) = slots[i];
    free(slots);
    slots = table;
    slot_count = count;
    return GSH_OK;
}

struct stage_of_work {
    const struct work *work;
    unsigned stage;
};

static void write_text(const void *what, struct gsh_fmt *fmt)
{
    const struct stage_of_work *of = what;
    const struct work *work = of->work;
    if (work->write)
        work->write(work->what, fmt);
    else if (work->group)
        gsh_source_group_text(work->group, of->stage, fmt);
    else
        gsh_source_text(work->launch, of->stage, fmt);
}

/* The stage's text, in memory that the caller frees; NULL: no memory. */
static char *make_text(const struct work *work, unsigned stage)
{
    return gsh_cuda_kernel_text_make(write_text, &(struct stage_of_work){work, stage});
}

/* Adds a NEW kernel, or a READY one if it was compiled before. NULL: no memory. */
static struct kernel *add_kernel(const struct work *work, unsigned stage, uint64_t hash,
                                 const char *key)
{
    struct gsh_fmt fmt;
    void *image;
    size_t size;
    struct kernel *kernel = calloc(1, sizeof *kernel);
    char *text = kernel ? make_text(work, stage) : NULL;
    if (!text) {
        free(kernel);
        return NULL;
    }
    kernel->hash = hash;
    gsh_fmt_init(&fmt, kernel->key, sizeof kernel->key);
    gsh_fmt_text(&fmt, key);
    kernel->job.name = kernel->key;
    if (gsh_cuda_compile_find(text, &target, &image, &size)) {
        gsh_cuda_dump(kernel->key, kernel->hash, text);
        gsh_cuda_compile_thread_load(&kernel->job, image);
        free(image);
    }
    free(text);
    return kernel;
}

/* The stage's kernel, whatever its state. NULL: no memory. */
static struct kernel *find_kernel(const struct work *work, unsigned stage, const char *key)
{
    uint64_t hash = hash_key(key);
    if (reserve_slot() != GSH_OK)
        return NULL;
    struct kernel **slot = find_slot(slots, slot_count, hash, key);
    if (GSH_UNLIKELY(!*slot)) {
        *slot = add_kernel(work, stage, hash, key);
        used_count += *slot != NULL;
    }
    return *slot;
}

/* Has a NEW kernel built, by the caller or by the compile thread. FAILED: no memory. */
static enum gsh_status build(const struct work *work, unsigned stage, struct kernel *kernel,
                             bool in_background)
{
    char *text = make_text(work, stage);
    if (!text)
        return GSH_FAILED;
    gsh_cuda_dump(kernel->key, kernel->hash, text);
    if (in_background)
        gsh_cuda_compile_thread_submit(&kernel->job, text, &target);
    else
        gsh_cuda_compile_thread_build(&kernel->job, text, &target);
    return GSH_OK;
}

/* Returns once the kernel can be launched. FAILED: it never can. */
static enum gsh_status finish_kernel(const struct work *work, unsigned stage, struct kernel *kernel)
{
    enum gsh_cuda_job_state state = gsh_cuda_compile_thread_state(&kernel->job);
    if (GSH_LIKELY(state == GSH_CUDA_JOB_READY))
        return GSH_OK;
    if (state == GSH_CUDA_JOB_NEW)
        GSH_TRY(build(work, stage, kernel, false));
    else if (state == GSH_CUDA_JOB_BUILDING)
        gsh_cuda_compile_thread_finish(&kernel->job);
    return gsh_cuda_compile_thread_state(&kernel->job) == GSH_CUDA_JOB_READY ? GSH_OK : GSH_FAILED;
}

/* Whether a kernel is available only by compiling. */
static bool lacks_one(struct kernel *const *kernels, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        enum gsh_cuda_job_state state = gsh_cuda_compile_thread_state(&kernels[i]->job);
        if (state == GSH_CUDA_JOB_NEW || state == GSH_CUDA_JOB_BUILDING)
            return true;
    }
    return false;
}

/* Finds the kernels of all stages, whatever their states. */
static enum gsh_status find_stages(const struct work *work, const struct gsh_source_plan *plan,
                                   struct kernel **kernels)
{
    for (unsigned i = 0; i < plan->stage_count; i++)
        if ((kernels[i] = find_kernel(work, i, plan->stages[i].key)) == NULL)
            return GSH_FAILED;
    return GSH_OK;
}

static enum gsh_status build_new(const struct work *work, struct kernel *const *kernels,
                                 unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (gsh_cuda_compile_thread_state(&kernels[i]->job) == GSH_CUDA_JOB_NEW)
            GSH_TRY(build(work, i, kernels[i], true));
    return GSH_OK;
}

/* Sees to it that all kernels can be launched, so that only the device itself may fail once a stage has been submitted.
 * DECLINED: the compile thread is building them. */
static enum gsh_status finish_kernels(const struct work *work, struct kernel *const *kernels,
                                      unsigned count)
{
    if (work->can_split != NULL && lacks_one(kernels, count) && work->can_split(work->item)) {
        GSH_TRY(build_new(work, kernels, count));
        return GSH_DECLINED;
    }
    for (unsigned i = 0; i < count; i++)
        GSH_TRY(finish_kernel(work, i, kernels[i]));
    return GSH_OK;
}

static enum gsh_status submit(CUfunction function, struct gsh_source_stage *stage)
{
    void *parameters[] = {stage->arguments};
    return GSH_CUDA(gsh_cu.cuLaunchKernel(function, stage->grid[0], stage->grid[1], stage->grid[2],
                                          stage->block[0], stage->block[1], stage->block[2],
                                          stage->shared_bytes, gsh_cuda.compute, parameters, NULL));
}

static enum gsh_status submit_runs(CUfunction function, struct gsh_source_stage *stage)
{
    GSH_TRY(submit(function, stage));
    for (uint64_t run = 1; run < stage->runs; run++) {
        memcpy(stage->arguments, &run, sizeof run);
        GSH_TRY(submit(function, stage));
    }
    return GSH_OK;
}

static uint64_t count_runs(const struct gsh_source_plan *plan)
{
    uint64_t runs = 0;
    for (unsigned i = 0; i < plan->stage_count; i++)
        runs += plan->stages[i].runs;
    return runs;
}

/* Submits the stages of the work's plan. */
static enum gsh_status launch_kernels(const struct work *work, struct gsh_source_plan *plan,
                                      struct kernel *const *kernels, unsigned row)
{
    GSH_TRY(finish_kernels(work, kernels, plan->stage_count));
    bool is_timed = gsh_cuda_timing_begin(row);
    for (unsigned i = 0; i < plan->stage_count; i++)
        GSH_TRY(submit_runs(kernels[i]->job.function, &plan->stages[i]));
    if (is_timed)
        gsh_cuda_timing_end();
    gsh_stats_add(GSH_COUNTER_LAUNCHES, count_runs(plan));
    return GSH_OK;
}

/* ---- groups in an interpreter ---- */

static void write_interpreter(const void *unused, struct gsh_fmt *fmt)
{
    (void)unused;
    gsh_source_interpreter_text(fmt);
}

/* The interpreter, if it was compiled ahead or is on disk; else NULL. It is not compiled here: that takes many seconds, for
 * which other kernels and the end of the process would wait. */
static struct kernel *find_interpreter(void)
{
    const struct work work = {.write = write_interpreter};
    struct kernel *kernel = find_kernel(&work, 0, GSH_SOURCE_INTERPRETER_KEY);
    bool is_ready =
        kernel != NULL && gsh_cuda_compile_thread_state(&kernel->job) == GSH_CUDA_JOB_READY;
    return is_ready ? kernel : NULL;
}

static enum gsh_status launch_one(const struct kernel *kernel, struct gsh_source_stage *stage,
                                  unsigned row)
{
    bool is_timed = gsh_cuda_timing_begin(row);
    GSH_TRY(submit(kernel->job.function, stage));
    if (is_timed)
        gsh_cuda_timing_end();
    gsh_stats_add(GSH_COUNTER_LAUNCHES, 1);
    return GSH_OK;
}

/* Sees to it that the sinks' launches can only fail with the device: kernels and scratch memory are there. */
static enum gsh_status prepare_sinks(const struct gsh_launch *launches, unsigned count)
{
    size_t most = 0;
    uint64_t address;
    for (unsigned k = 0; k < count; k++) {
        if (!gsh_cuda_module_is_built(&launches[k]))
            return GSH_DECLINED;
        most = GSH_MAX(most, gsh_source_scratch(&launches[k]));
    }
    return gsh_cuda_mem_scratch(most, &address);
}

/* The group's parts one after the other (kernels/group_split.h). */
static enum gsh_status launch_parts(const struct kernel *interpreter, const struct gsh_group *group,
                                    uint64_t scratch, struct gsh_source_stage *stage, unsigned row)
{
    static struct gsh_group rest; /* large */
    static struct gsh_launch launches[GSH_GROUP_SINKS];
    gsh_group_split_make(group, scratch, &rest, launches);
    for (unsigned k = 0; k < group->sink_count; k++)
        gsh_launch_collapse(&launches[k]);
    GSH_TRY(gsh_source_interpreter_plan(&rest, stage));
    GSH_TRY(prepare_sinks(launches, group->sink_count));
    GSH_TRY(launch_one(interpreter, stage, row));
    for (unsigned k = 0; k < group->sink_count; k++)
        GSH_TRY(gsh_cuda_module_launch(&launches[k], row));
    gsh_stats_add(GSH_COUNTER_INTERPRETED, 1);
    return GSH_OK;
}

/* `stage`: memory for a launch. DECLINED also where what the sinks reduce takes much of the free memory. Other launches' scratch
 * memory may then have moved. */
static enum gsh_status launch_interpreted(const struct gsh_group *group,
                                          struct gsh_source_stage *stage, unsigned row)
{
    const struct kernel *interpreter = find_interpreter();
    size_t bytes = gsh_group_split_scratch(group), free_bytes = 0, total_bytes = 0;
    uint64_t scratch = 0;
    gsh_cuda_mem_budget(&free_bytes, &total_bytes);
    if (interpreter == NULL || bytes > free_bytes / SPLIT_SHARE)
        return GSH_DECLINED;
    if (bytes > 0)
        GSH_TRY(gsh_cuda_mem_allocate(bytes, &scratch));
    enum gsh_status status = launch_parts(interpreter, group, scratch, stage, row);
    if (bytes > 0)
        gsh_cuda_mem_release(scratch, bytes);
    return status;
}

/* Runs a group whose kernels are not built yet, and has them built if it recurs. */
static enum gsh_status interpret(const struct work *work, struct gsh_source_plan *plan,
                                 struct kernel *const *kernels, unsigned row)
{
    struct kernel *own = kernels[0];
    if (plan->stage_count == GSH_SOURCE_MAX_STAGES)
        return GSH_DECLINED;
    GSH_TRY(launch_interpreted(work->group, &plan->stages[plan->stage_count], row));
    own->work += (double)gsh_group_elements(work->group) * work->group->step_count;
    if (gsh_interpretation_ends(++own->interpreted, own->work))
        (void)build_new(work, kernels, plan->stage_count);
    return GSH_OK;
}

static enum gsh_status plan_group(const struct gsh_group *group, struct gsh_source_plan *plan)
{
    uint64_t scratch;
    GSH_TRY(gsh_cuda_mem_scratch(gsh_source_group_scratch(group), &scratch));
    return gsh_source_group_plan(group, scratch, plan);
}

enum gsh_status gsh_cuda_module_launch_group(const struct gsh_group *group, unsigned row,
                                             gsh_can_split *can_split, const void *item)
{
    struct gsh_source_plan plan;
    struct kernel *kernels[GSH_SOURCE_MAX_STAGES];
    GSH_TRY(plan_group(group, &plan));
    bool in_background = gsh_option_number(GSH_OPTION_BACKGROUND) != 0;
    const struct work work = {
        .group = group, .can_split = in_background ? can_split : NULL, .item = item};
    GSH_TRY(find_stages(&work, &plan, kernels));
    if (work.can_split != NULL && lacks_one(kernels, plan.stage_count)) {
        enum gsh_status status = interpret(&work, &plan, kernels, row);
        if (status != GSH_DECLINED)
            return status;
        GSH_TRY(plan_group(group, &plan));
    }
    return launch_kernels(&work, &plan, kernels, row);
}

/* An elementwise launch as a group that the interpreter takes, until the next call; NULL: it is none. */
static const struct gsh_group *make_group(const struct gsh_launch *launch)
{
    static struct gsh_group group; /* large */
    if (!gsh_launch_has(launch, GSH_TRAIT_MAPS) || !gsh_group_of_launch(&group, launch))
        return NULL;
    gsh_group_collapse(&group);
    return gsh_source_interpreter_takes(&group) ? &group : NULL;
}

/* Runs a launch whose kernel is being built. `stage`: memory for a launch. */
static enum gsh_status interpret_launch(const struct gsh_launch *launch,
                                        struct gsh_source_stage *stage, unsigned row)
{
    const struct kernel *interpreter = find_interpreter();
    const struct gsh_group *group = interpreter != NULL ? make_group(launch) : NULL;
    if (group == NULL)
        return GSH_DECLINED;
    GSH_TRY(gsh_source_interpreter_plan(group, stage));
    GSH_TRY(launch_one(interpreter, stage, row));
    gsh_stats_add(GSH_COUNTER_INTERPRETED, 1);
    return GSH_OK;
}

static bool is_interpreted(const struct gsh_launch *launch)
{
    return find_interpreter() != NULL && make_group(launch) != NULL;
}

/* ---- launches by their kernels ---- */

/* Plans the work's launch, and finds its kernels, whatever their states. */
static enum gsh_status plan_launch(const struct work *work, struct gsh_source_plan *plan,
                                   struct kernel **kernels)
{
    uint64_t scratch;
    GSH_TRY(gsh_cuda_mem_scratch(gsh_source_scratch(work->launch), &scratch));
    GSH_TRY(gsh_source_plan(work->launch, scratch, plan));
    return find_stages(work, plan, kernels);
}

/* Waits for kernels that are not built. Not inlined: plans are large. */
static __attribute__((noinline)) enum gsh_status launch_whole(const struct gsh_launch *launch,
                                                              unsigned row)
{
    struct gsh_source_plan plan;
    struct kernel *kernels[GSH_SOURCE_MAX_STAGES];
    const struct work work = {.launch = launch};
    GSH_TRY(plan_launch(&work, &plan, kernels));
    return launch_kernels(&work, &plan, kernels, row);
}

/* ---- reductions and scans in two parts (kernels/dense_join.h) ---- */

/* Makes the parts; false: the launch has none that can run at once. */
static bool make_parts(const struct gsh_launch *launch, uint64_t scratch, struct gsh_launch *copy,
                       struct gsh_launch *join)
{
    size_t bytes = gsh_dense_join_scratch(launch), free_bytes = 0, total_bytes = 0;
    gsh_cuda_mem_budget(&free_bytes, &total_bytes);
    if (bytes == 0 || bytes > free_bytes / SPLIT_SHARE)
        return false;
    gsh_dense_join_make(launch, scratch, copy, join);
    return is_interpreted(copy) && gsh_cuda_module_is_built(join);
}

static bool has_parts(const struct gsh_launch *launch)
{
    struct gsh_launch copy, join;
    return make_parts(launch, 0, &copy, &join);
}

/* Runs a launch whose kernels are being built. Other launches' scratch memory may then have moved. */
static enum gsh_status launch_dense_join(const struct gsh_launch *launch,
                                         struct gsh_source_stage *stage, unsigned row)
{
    struct gsh_launch copy, join;
    size_t bytes = gsh_dense_join_scratch(launch);
    uint64_t scratch;
    if (!has_parts(launch))
        return GSH_DECLINED;
    GSH_TRY(gsh_cuda_mem_allocate(bytes, &scratch));
    enum gsh_status status = make_parts(launch, scratch, &copy, &join)
                                 ? interpret_launch(&copy, stage, row)
                                 : GSH_DECLINED;
    if (status == GSH_OK)
        status = launch_whole(&join, row);
    gsh_cuda_mem_release(scratch, bytes);
    return status;
}

/* Runs a launch whose kernels are not all built without them, where it can. `stage`: memory for a launch. */
static enum gsh_status launch_otherwise(const struct gsh_launch *launch,
                                        struct gsh_source_stage *stage, unsigned row)
{
    enum gsh_status status = interpret_launch(launch, stage, row);
    return status == GSH_DECLINED ? launch_dense_join(launch, stage, row) : status;
}

enum gsh_status gsh_cuda_module_launch(const struct gsh_launch *launch, unsigned row)
{
    struct gsh_source_plan plan;
    struct kernel *kernels[GSH_SOURCE_MAX_STAGES];
    const struct work work = {.launch = launch};
    GSH_TRY(plan_launch(&work, &plan, kernels));
    if (GSH_UNLIKELY(lacks_one(kernels, plan.stage_count)) &&
        gsh_option_number(GSH_OPTION_BACKGROUND)) {
        enum gsh_status status = launch_otherwise(launch, &plan.stages[0], row);
        if (status == GSH_OK)
            (void)build_new(&work, kernels, plan.stage_count);
        return status == GSH_DECLINED ? launch_whole(launch, row) : status;
    }
    return launch_kernels(&work, &plan, kernels, row);
}

enum gsh_status gsh_cuda_module_launch_text(struct gsh_source_stage *stage,
                                            gsh_cuda_kernel_text_write *write, const void *what)
{
    const struct work work = {.write = write, .what = what};
    struct kernel *kernel = find_kernel(&work, 0, stage->key);
    if (kernel == NULL)
        return GSH_FAILED;
    GSH_TRY(finish_kernels(&work, &kernel, 1));
    GSH_TRY(submit(kernel->job.function, stage));
    gsh_stats_add(GSH_COUNTER_LAUNCHES, 1);
    return GSH_OK;
}

/* Finds the kernels of the launch's stages; false: the launch has none. */
static bool find_kernels(const struct work *work, struct gsh_source_plan *plan,
                         struct kernel **kernels)
{
    return gsh_source_plan(work->launch, 0, plan) == GSH_OK &&
           find_stages(work, plan, kernels) == GSH_OK;
}

bool gsh_cuda_module_is_built(const struct gsh_launch *launch)
{
    struct gsh_source_plan plan;
    struct kernel *kernels[GSH_SOURCE_MAX_STAGES];
    if (!find_kernels(&(struct work){.launch = launch}, &plan, kernels))
        return false;
    for (unsigned i = 0; i < plan.stage_count; i++)
        if (gsh_cuda_compile_thread_state(&kernels[i]->job) != GSH_CUDA_JOB_READY)
            return false;
    return true;
}

/* Whether launch_otherwise runs it. */
static bool runs_otherwise(const struct gsh_launch *launch)
{
    return is_interpreted(launch) || has_parts(launch);
}

bool gsh_cuda_module_runs_at_once(const struct gsh_launch *launch)
{
    return gsh_cuda_module_is_built(launch) || runs_otherwise(launch);
}

bool gsh_cuda_module_build(const struct gsh_launch *launch)
{
    struct gsh_source_plan plan;
    struct kernel *kernels[GSH_SOURCE_MAX_STAGES];
    const struct work work = {.launch = launch};
    if (!find_kernels(&work, &plan, kernels))
        return true;
    (void)build_new(&work, kernels, plan.stage_count);
    return !lacks_one(kernels, plan.stage_count) || runs_otherwise(launch);
}

bool gsh_cuda_module_build_text(const char *key, gsh_cuda_kernel_text_write *write,
                                const void *what)
{
    const struct work work = {.write = write, .what = what};
    struct kernel *kernel = find_kernel(&work, 0, key);
    if (kernel == NULL)
        return true;
    (void)build_new(&work, &kernel, 1);
    return !lacks_one(&kernel, 1);
}
