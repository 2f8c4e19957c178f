/* SPDX-License-Identifier: Apache-2.0
 *
 * A block may run across the ends of rows. Where the trailing dimensions of an array step as one, the block is one
 * stretch in it; other arrays are processed row by row.
 */
#include "host_group_block.h"

#include "host_casts.h"

#include <string.h>

struct block {
    struct gsh_host_group_worker *worker;
    const struct gsh_group *group;
    const int64_t *index;
    int64_t n;
};

size_t gsh_host_group_block_shared(const struct gsh_host_group_program *program)
{
    return program->shared * program->buffer_bytes;
}

size_t gsh_host_group_block_own(const struct gsh_host_group_program *program)
{
    return program->buffers * program->buffer_bytes;
}

void gsh_host_group_block_begin(struct gsh_host_group_worker *worker,
                                const struct gsh_host_group_program *program, char *shared,
                                char *own)
{
    worker->program = program;
    for (unsigned k = 0; k < program->slot_count; k++) {
        const struct gsh_host_group_slot *slot = &program->slots[k];
        char *buffers = slot->place == GSH_HOST_GROUP_SHARED ? shared : own;
        if (slot->place != GSH_HOST_GROUP_MEMORY)
            worker->slots[k] = buffers + slot->number * program->buffer_bytes;
    }
    for (unsigned k = 0; k < program->group->step_count; k++) {
        const struct gsh_group_step *step = &program->group->steps[k];
        gsh_host_fp_check_begin(&worker->checks[k], &step->errors, step->op, step->loop, true);
    }
}

static void cast(void *out, uint8_t form, const void *src, enum gsh_dtype dtype, int64_t stride,
                 int64_t n)
{
    if (form == GSH_HOST_GROUP_FLOATS_OF_HALF)
        gsh_host_casts_load(out, GSH_FLOAT16, src, dtype, stride, n);
    else
        gsh_host_casts_run(out, (enum gsh_dtype)form, (int64_t)gsh_host_group_form_size(form), src,
                           dtype, stride, n);
}

/* A part of a block that steps as one dimension in an array: `count` elements behind the first `done`. */
struct stretch {
    char *address;
    int64_t stride, done, count;
    int64_t index[GSH_MAX_DIMS];
};

static void first_stretch(const struct block *block, unsigned k, struct stretch *stretch)
{
    const struct gsh_group *group = block->group;
    const struct gsh_host_group_worker *worker = block->worker;
    int last = group->ndim - 1;
    stretch->address = worker->arrays[k];
    stretch->stride = last >= 0 ? group->arrays[k].strides[last] : 0;
    stretch->done = 0;
    stretch->count = block->n;
    if (worker->program->is_linear[k])
        return;
    memcpy(stretch->index, block->index, (size_t)group->ndim * sizeof stretch->index[0]);
    stretch->count = GSH_MIN(block->n, group->shape[last] - block->index[last]);
}

static bool next_stretch(const struct block *block, unsigned k, struct stretch *stretch)
{
    const struct gsh_group *group = block->group;
    int64_t count = stretch->count;
    stretch->done += count;
    if (stretch->done == block->n)
        return false;
    for (int d = group->ndim - 1; d >= 0; d--, count = 1) {
        bool wraps = (stretch->index[d] += count) == group->shape[d];
        stretch->address += (wraps ? count - group->shape[d] : count) * group->arrays[k].strides[d];
        if (!wraps)
            break;
        stretch->index[d] = 0;
    }
    stretch->count = GSH_MIN(block->n - stretch->done, group->shape[group->ndim - 1]);
    return true;
}

static void gather(const struct block *block, const struct gsh_host_group_instruction *at)
{
    const struct gsh_group_array *array = &block->group->arrays[at->number];
    uint8_t form = block->worker->program->slots[at->out[0]].form;
    char *out = block->worker->slots[at->out[0]];
    size_t size = gsh_host_group_form_size(form);
    struct stretch stretch;
    first_stretch(block, at->number, &stretch);
    do {
        char *to = out + (size_t)stretch.done * size;
        if (!array->is_index)
            cast(to, form, stretch.address, array->dtype, stretch.stride, stretch.count);
        for (int64_t j = 0; array->is_index && j < stretch.count; j++)
            ((int64_t *)(void *)to)[j] = (int64_t)stretch.address + j * stretch.stride;
    } while (next_stretch(block, at->number, &stretch));
}

static void store(const struct block *block, const struct gsh_host_group_instruction *at)
{
    enum gsh_dtype dtype = block->group->arrays[at->number].dtype;
    const char *from = block->worker->slots[at->in[0]];
    int64_t size = (int64_t)gsh_dtype_size(dtype);
    struct stretch stretch;
    first_stretch(block, at->number, &stretch);
    do
        gsh_host_casts_run(stretch.address, dtype, stretch.stride, from + stretch.done * size,
                           dtype, size, stretch.count);
    while (next_stretch(block, at->number, &stretch));
}

/* Bytes of an element of an operand of a RUN. */
static int64_t operand_size(const struct block *block, uint16_t slot)
{
    return (int64_t)gsh_host_group_form_size(block->worker->program->slots[slot].form);
}

/* Runs a loop that uses the index, once for each stretch of the index array. */
static void run_indexed(const struct block *block, const struct gsh_host_group_instruction *at,
                        const struct gsh_host_block *whole, const struct gsh_op_info *info)
{
    struct stretch stretch;
    first_stretch(block, at->number, &stretch);
    do {
        struct gsh_host_block part = {
            .n = stretch.count, .first = (int64_t)stretch.address, .step = stretch.stride};
        for (unsigned k = 0; k < info->nin; k++)
            part.in[k] = (const char *)whole->in[k] + stretch.done * operand_size(block, at->in[k]);
        for (unsigned k = 0; k < info->nout; k++)
            part.out[k] = (char *)whole->out[k] + stretch.done * operand_size(block, at->out[k]);
        at->loop(&part);
    } while (next_stretch(block, at->number, &stretch));
}

static void set_mask(struct gsh_host_fp_check *check, const struct block *block, uint16_t mask)
{
    check->mask = mask != GSH_HOST_GROUP_NO_SLOT ? block->worker->slots[mask] : NULL;
    check->mask_stride = 1;
}

static void run_loop(const struct block *block, const struct gsh_host_group_instruction *at)
{
    const struct gsh_group_step *step = &block->group->steps[at->step];
    const struct gsh_op_info *info = gsh_op_info(step->op);
    struct gsh_host_fp_check *check = &block->worker->checks[at->step];
    struct gsh_host_block whole = {.n = block->n};
    for (unsigned k = 0; k < info->nin; k++)
        whole.in[k] = block->worker->slots[at->in[k]];
    for (unsigned k = 0; k < info->nout; k++)
        whole.out[k] = block->worker->slots[at->out[k]];
    if ((info->flags & GSH_USES_INDEX) != 0)
        run_indexed(block, at, &whole, info);
    else
        at->loop(&whole);
    if (!at->checks_errors || check->wanted == 0 || step->op == GSH_OP_COPY)
        return;
    set_mask(check, block, at->in[3]);
    gsh_host_fp_check_block(check, &whole);
}

static void check_source(const struct block *block, const struct gsh_host_group_instruction *at)
{
    const struct gsh_group_step *step = &block->group->steps[at->step];
    struct gsh_host_fp_check *check = &block->worker->checks[at->step];
    enum gsh_dtype dtype = gsh_group_dtype(block->group, step->in[0]);
    const void *src = block->worker->slots[at->in[0]];
    int64_t size = (int64_t)gsh_dtype_size(dtype);
    if (check->wanted == 0)
        return;
    set_mask(check, block, at->in[1]);
    check->nin = 1;
    check->samples[0] = (struct gsh_host_sample){src, size, dtype, dtype};
    gsh_host_fp_check_cast(check, step->loop, src, dtype, size, block->n);
}

/* Casts the result to the output's dtype. A float16 is rounded first. */
static void round_result(const struct block *block, const struct gsh_host_group_instruction *at)
{
    const struct gsh_group_step *step = &block->group->steps[at->step];
    struct gsh_host_fp_check *check = &block->worker->checks[at->step];
    enum gsh_dtype value = gsh_op_output_dtype(step->op, step->loop, at->number);
    enum gsh_dtype array = gsh_host_loops_dtype(value), dtype = step->out[at->number];
    const void *result = block->worker->slots[at->in[0]];
    if (at->checks_errors && check->wanted != 0 && value != dtype)
        gsh_host_fp_check_cast(check, dtype, result, array, (int64_t)gsh_dtype_size(array),
                               block->n);
    gsh_host_casts_store(block->worker->slots[at->out[0]], dtype, (int64_t)gsh_dtype_size(dtype),
                         result, value, block->n);
}

static void convert(const struct block *block, const struct gsh_host_group_instruction *at)
{
    const struct gsh_host_group_slot *slots = block->worker->program->slots;
    uint8_t from = slots[at->in[0]].form, to = slots[at->out[0]].form;
    const void *src = block->worker->slots[at->in[0]];
    void *out = block->worker->slots[at->out[0]];
    size_t size = gsh_host_group_form_size(from);
    if (from == to)
        memcpy(out, src, (size_t)block->n * size);
    else
        cast(out, to, src, (enum gsh_dtype)from, (int64_t)size, block->n);
}

static void fill(const struct block *block, const struct gsh_host_group_instruction *at)
{
    const struct gsh_group_constant *constant = &block->group->constants[at->number];
    cast(block->worker->slots[at->out[0]], block->worker->program->slots[at->out[0]].form,
         &constant->value, constant->dtype, 0, block->n);
}

static void blend(const struct block *block, const struct gsh_host_group_instruction *at)
{
    void *const *slots = block->worker->slots;
    gsh_host_loops_blend(slots[at->out[0]], slots[at->in[0]], slots[at->in[1]], slots[at->in[2]],
                         block->n,
                         gsh_host_group_form_size(block->worker->program->slots[at->out[0]].form));
}

static void run_list(const struct block *block, const struct gsh_host_group_list *list)
{
    static void (*const actions[])(const struct block *,
                                   const struct gsh_host_group_instruction *) = {
        [GSH_HOST_GROUP_FILL] = fill,       [GSH_HOST_GROUP_GATHER] = gather,
        [GSH_HOST_GROUP_CONVERT] = convert, [GSH_HOST_GROUP_SOURCE] = check_source,
        [GSH_HOST_GROUP_RUN] = run_loop,    [GSH_HOST_GROUP_ROUND] = round_result,
        [GSH_HOST_GROUP_BLEND] = blend,     [GSH_HOST_GROUP_STORE] = store,
    };
    for (unsigned i = 0; i < list->count; i++)
        actions[list->at[i].action](block, &list->at[i]);
}

static void place(struct gsh_host_group_worker *worker, const int64_t *index)
{
    const struct gsh_host_group_program *program = worker->program;
    const struct gsh_group *group = program->group;
    for (unsigned k = 0; k < group->array_count; k++) {
        worker->arrays[k] = (char *)(uintptr_t)group->arrays[k].address;
        for (int d = 0; d < group->ndim; d++)
            worker->arrays[k] += index[d] * group->arrays[k].strides[d];
    }
    for (unsigned k = 0; k < program->slot_count; k++)
        if (program->slots[k].place == GSH_HOST_GROUP_MEMORY)
            worker->slots[k] = worker->arrays[program->slots[k].number];
}

void gsh_host_group_block_setup(struct gsh_host_group_worker *worker)
{
    const int64_t origin[GSH_MAX_DIMS] = {0};
    struct block block = {worker, worker->program->group, origin, GSH_HOST_BLOCK};
    place(worker, origin);
    run_list(&block, &worker->program->setup);
}

void gsh_host_group_block_run(struct gsh_host_group_worker *worker, const int64_t *index, int64_t n)
{
    struct block block = {worker, worker->program->group, index, n};
    place(worker, index);
    run_list(&block, &worker->program->body);
}
