/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory cache of kernels, an open-addressed table by gsh_source_stage.key (which names the
 * text; the GPU is always the same), and their launch. A text that failed to compile is remembered
 * as such. Modules are never unloaded: work in flight may use them.
 */
#include "cuda_module.h"

#include "cuda_compile.h"
#include "cuda_context.h"
#include "cuda_dump.h"
#include "cuda_mem.h"
#include "cuda_timing.h"
#include "source.h"
#include "stats.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS ((size_t)256)
#define FIRST_TEXT ((size_t)16 << 10)
#define ENTRY_POINT "gsh_kernel"

/* What is launched: one of the two. */
struct work {
    const struct gsh_launch *launch;
    const struct gsh_group *group;
};

struct kernel {
    uint64_t hash;
    CUfunction function; /* NULL: its text does not compile */
    char key[GSH_SOURCE_KEY_SIZE];
};

static struct gsh_cuda_target target;
static struct kernel **slots; /* slot_count pointers, a power of two; NULL: free */
static size_t slot_count, used_count;

enum gsh_status gsh_cuda_module_open(void)
{
    target.arch = gsh_cuda_libs_nvrtc_target(gsh_cuda.arch, &target.is_ptx);
    return target.arch ? GSH_OK : GSH_FAILED;
}

static uint64_t hash_key(const char *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * UINT64_C(0x100000001b3);
    return hash;
}

/* The slot that holds the key, or the free one where it belongs. */
static struct kernel **find_slot(struct kernel **table, size_t count, uint64_t hash,
                                 const char *key)
{
    size_t i = hash & (count - 1);
    while (table[i] && (table[i]->hash != hash || strcmp(table[i]->key, key) != 0))
        i = (i + 1) & (count - 1);
    return &table[i];
}

/* Room for one more kernel, at most half of the slots used. */
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

static void write_text(const struct work *work, unsigned stage, struct gsh_fmt *fmt)
{
    if (work->group)
        gsh_source_group_text(work->group, stage, fmt);
    else
        gsh_source_text(work->launch, stage, fmt);
}

/* The stage's text, in memory that the caller frees; NULL: no memory. */
static char *make_text(const struct work *work, unsigned stage)
{
    struct gsh_fmt fmt;
    char *text = NULL;
    for (size_t size = FIRST_TEXT;; size = fmt.required + 1) {
        char *larger = realloc(text, size);
        if (!larger) {
            free(text);
            return NULL;
        }
        text = larger;
        gsh_fmt_init(&fmt, text, size);
        write_text(work, stage, &fmt);
        if (fmt.required == fmt.length)
            return text;
    }
}

static CUfunction load(const void *image)
{
    CUmodule module;
    CUfunction function;
    if (GSH_CUDA(gsh_cu.cuModuleLoadData(&module, image)) != GSH_OK)
        return NULL;
    if (GSH_CUDA(gsh_cu.cuModuleGetFunction(&function, module, ENTRY_POINT)) == GSH_OK)
        return function;
    (void)GSH_CUDA(gsh_cu.cuModuleUnload(module));
    return NULL;
}

/* NULL where the text does not compile or load. */
static CUfunction build(const struct work *work, unsigned stage, const struct kernel *kernel)
{
    char *text = make_text(work, stage);
    void *image = NULL;
    size_t size;
    CUfunction function = NULL;
    if (text)
        gsh_cuda_dump(kernel->key, kernel->hash, text);
    if (text && gsh_cuda_compile(text, &target, &image, &size) == GSH_OK)
        function = load(image);
    free(image);
    free(text);
    return function;
}

static enum gsh_status find_kernel(const struct work *work, unsigned stage, const char *key,
                                   CUfunction *function)
{
    uint64_t hash = hash_key(key);
    GSH_TRY(reserve_slot());
    struct kernel **slot = find_slot(slots, slot_count, hash, key);
    if (GSH_UNLIKELY(!*slot)) {
        struct kernel *kernel = calloc(1, sizeof *kernel);
        if (!kernel)
            return GSH_FAILED;
        kernel->hash = hash;
        struct gsh_fmt fmt;
        gsh_fmt_init(&fmt, kernel->key, sizeof kernel->key);
        gsh_fmt_text(&fmt, key);
        kernel->function = build(work, stage, kernel);
        *slot = kernel;
        used_count++;
    }
    *function = (*slot)->function;
    return *function ? GSH_OK : GSH_FAILED;
}

static enum gsh_status submit(CUfunction function, struct gsh_source_stage *stage)
{
    void *parameters[] = {stage->arguments};
    return GSH_CUDA(gsh_cu.cuLaunchKernel(function, stage->grid[0], stage->grid[1], stage->grid[2],
                                          stage->block[0], stage->block[1], stage->block[2],
                                          stage->shared_bytes, gsh_cuda.compute, parameters, NULL));
}

/* Submits the stages of a plan of the work. */
static enum gsh_status launch_stages(const struct work *work, struct gsh_source_plan *plan,
                                     unsigned row)
{
    CUfunction functions[GSH_SOURCE_MAX_STAGES];
    /* All kernels first: once a stage has been submitted, nothing but the device itself may fail.
     */
    for (unsigned i = 0; i < plan->stage_count; i++)
        GSH_TRY(find_kernel(work, i, plan->stages[i].key, &functions[i]));
    bool is_timed = gsh_cuda_timing_begin(row);
    for (unsigned i = 0; i < plan->stage_count; i++)
        GSH_TRY(submit(functions[i], &plan->stages[i]));
    if (is_timed)
        gsh_cuda_timing_end();
    gsh_stats_add(GSH_COUNTER_LAUNCHES, plan->stage_count);
    return GSH_OK;
}

enum gsh_status gsh_cuda_module_launch(const struct gsh_launch *launch, unsigned row)
{
    struct gsh_source_plan plan;
    uint64_t scratch;
    GSH_TRY(gsh_cuda_mem_scratch(gsh_source_scratch(launch), &scratch));
    GSH_TRY(gsh_source_plan(launch, scratch, &plan));
    return launch_stages(&(struct work){.launch = launch}, &plan, row);
}

enum gsh_status gsh_cuda_module_launch_group(const struct gsh_group *group, unsigned row)
{
    struct gsh_source_plan plan;
    uint64_t scratch;
    GSH_TRY(gsh_cuda_mem_scratch(gsh_source_group_scratch(group), &scratch));
    GSH_TRY(gsh_source_group_plan(group, scratch, &plan));
    return launch_stages(&(struct work){.group = group}, &plan, row);
}
