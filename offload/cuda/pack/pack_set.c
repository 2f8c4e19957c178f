/* SPDX-License-Identifier: Apache-2.0
 *
 * A text that is there already, by its key, is dropped.
 */
#include "pack_set.h"

#include "cuda_compile.h"
#include "cuda_kernel_text.h"
#include "cuda_lapack_kernels.h"
#include "pack_launches.h"
#include "source_draw.h"
#include "source_interpreter.h"

#include <stdlib.h>
#include <string.h>

/* A stage of a launch, or what no launch describes. */
struct stage {
    const struct gsh_launch *launch; /* NULL: none */
    unsigned number;
    const enum gsh_dtype *patched; /* the kernel that completes draws of this dtype; NULL: none */
    const struct gsh_cuda_lapack_kernel_text
        *lapack; /* a kernel beside cuSOLVER's; NULL: the interpreter of groups */
};

struct filling {
    struct gsh_pack_set *set;
    enum gsh_status status;
};

static void write_text(const void *what, struct gsh_fmt *fmt)
{
    const struct stage *stage = what;
    if (stage->launch != NULL)
        gsh_source_text(stage->launch, stage->number, fmt);
    else if (stage->patched != NULL)
        gsh_source_draw_patch_text(stage->patched, fmt);
    else if (stage->lapack != NULL)
        gsh_cuda_lapack_kernels_write(stage->lapack, fmt);
    else
        gsh_source_interpreter_text(fmt);
}

static bool has_key(const struct gsh_pack_set *set, const struct gsh_cuda_cache_key *key)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->kernels[i].key.hash == key->hash)
            return true;
    return false;
}

static enum gsh_status reserve(struct gsh_pack_set *set)
{
    if (set->count < set->room)
        return GSH_OK;
    size_t room = GSH_MAX(2 * set->room, 256);
    struct gsh_pack_kernel *larger = realloc(set->kernels, room * sizeof *larger);
    if (larger == NULL)
        return GSH_FAILED;
    set->kernels = larger;
    set->room = room;
    return GSH_OK;
}

static enum gsh_status add(struct gsh_pack_set *set, const struct stage *stage, const char *name)
{
    struct gsh_cuda_cache_key key;
    GSH_TRY(reserve(set));
    char *text = gsh_cuda_kernel_text_make(write_text, stage);
    if (text == NULL)
        return GSH_FAILED;
    gsh_cuda_compile_key(text, &key);
    if (has_key(set, &key)) {
        free(text);
        return GSH_OK;
    }
    struct gsh_pack_kernel *kernel = &set->kernels[set->count++];
    *kernel = (struct gsh_pack_kernel){.key = key, .text = text};
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, kernel->name, sizeof kernel->name);
    gsh_fmt_text(&fmt, name);
    return GSH_OK;
}

static bool is_wanted(const struct gsh_pack_set *set, const char *name)
{
    for (size_t i = 0; i < set->prefix_count; i++)
        if (strncmp(name, set->prefixes[i], strlen(set->prefixes[i])) == 0)
            return true;
    return set->prefix_count == 0;
}

/* First, as it takes longest to compile. */
static void add_interpreter(struct filling *filling)
{
    if (is_wanted(filling->set, GSH_SOURCE_INTERPRETER_KEY))
        filling->status =
            add(filling->set, &(struct stage){.launch = NULL}, GSH_SOURCE_INTERPRETER_KEY);
}

static void add_patches(struct filling *filling)
{
    static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64};
    struct gsh_source_stage planned;
    for (size_t i = 0; i < GSH_COUNT(dtypes) && filling->status == GSH_OK; i++) {
        gsh_source_draw_plan_patch(dtypes[i], 0, 0, 0, 1, &planned);
        if (is_wanted(filling->set, planned.key))
            filling->status =
                add(filling->set, &(struct stage){.patched = &dtypes[i]}, planned.key);
    }
}

static void add_lapack_kernel(struct filling *filling, int kernel, enum gsh_dtype dtype)
{
    const struct gsh_cuda_lapack_kernel_text text = {(enum gsh_cuda_lapack_call_kernel)kernel,
                                                     dtype};
    char name[GSH_CUDA_LAPACK_KEY];
    gsh_cuda_lapack_kernels_name(&text, name);
    if (is_wanted(filling->set, name) && filling->status == GSH_OK)
        filling->status = add(filling->set, &(struct stage){.lapack = &text}, name);
}

/* So that no decomposition waits for its kernels on the CPU. */
static void add_lapack_kernels(struct filling *filling)
{
    static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64,
                                            GSH_COMPLEX128};
    for (size_t i = 0; i < GSH_COUNT(dtypes); i++)
        for (int kernel = 0; kernel < GSH_CUDA_LAPACK_KERNEL_COUNT; kernel++)
            add_lapack_kernel(filling, kernel, dtypes[i]);
}

static void take(void *context, const struct gsh_launch *launch)
{
    struct filling *filling = context;
    struct gsh_source_plan plan;
    if (filling->status != GSH_OK || gsh_source_plan(launch, 0, &plan) != GSH_OK)
        return;
    for (unsigned i = 0; i < plan.stage_count && filling->status == GSH_OK; i++)
        if (is_wanted(filling->set, plan.stages[i].key))
            filling->status = add(filling->set, &(struct stage){.launch = launch, .number = i},
                                  plan.stages[i].key);
}

enum gsh_status gsh_pack_set_fill(struct gsh_pack_set *set)
{
    struct filling filling = {.set = set, .status = GSH_OK};
    add_interpreter(&filling);
    add_patches(&filling);
    add_lapack_kernels(&filling);
    gsh_pack_launches_walk(take, &filling);
    return filling.status;
}
