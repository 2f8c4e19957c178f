/* SPDX-License-Identifier: Apache-2.0
 *
 * Slots are looked up by value and form, so that nothing is loaded or cast twice. Instructions are in the order of
 * the steps, stores last. Buffers are assigned when that order is known. Each is reused once its slot is dead, so
 * that few stay in the cache.
 */
#include "host_group_program.h"

#include <string.h>

static const struct gsh_host_group_instruction blank = {
    .in = {UINT16_MAX, UINT16_MAX, UINT16_MAX, UINT16_MAX, UINT16_MAX},
    .out = {UINT16_MAX, UINT16_MAX}};

static struct gsh_host_group_instruction *emit(struct gsh_host_group_list *list,
                                               enum gsh_host_group_action action)
{
    struct gsh_host_group_instruction *at = &list->at[list->count++];
    *at = blank;
    at->action = (uint8_t)action;
    return at;
}

static uint16_t add_slot(struct gsh_host_group_program *p, struct gsh_group_input of, uint8_t form,
                         enum gsh_host_group_place place)
{
    struct gsh_host_group_slot *slot = &p->slots[p->slot_count];
    *slot = (struct gsh_host_group_slot){.of = of, .form = form, .place = (uint8_t)place};
    p->buffer_bytes = GSH_MAX(p->buffer_bytes, gsh_host_group_form_size(form) * GSH_HOST_BLOCK);
    if (place == GSH_HOST_GROUP_SHARED)
        slot->number = (uint16_t)p->shared++;
    if (place == GSH_HOST_GROUP_MEMORY)
        slot->number = of.index;
    return (uint16_t)p->slot_count++;
}

static uint16_t find_slot(const struct gsh_host_group_program *p, struct gsh_group_input of,
                          uint8_t form)
{
    for (unsigned k = 0; k < p->slot_count; k++) {
        const struct gsh_host_group_slot *slot = &p->slots[k];
        if (slot->form == form && slot->of.source == of.source && slot->of.index == of.index &&
            slot->of.output == of.output)
            return (uint16_t)k;
    }
    return GSH_HOST_GROUP_NO_SLOT;
}

/* A copy of an array's or step's bytes, unchanged. */
static bool moves(const struct gsh_group *group, const struct gsh_group_step *step)
{
    return step->op == GSH_OP_COPY && step->in[0].source != GSH_FROM_CONSTANT &&
           gsh_group_dtype(group, step->in[0]) == step->loop && step->out[0] == step->loop;
}

static bool is_alias(const struct gsh_group *group, const struct gsh_group_step *step)
{
    return step->mask.source == GSH_FROM_NOTHING && moves(group, step);
}

static struct gsh_group_input resolve(const struct gsh_group *group, struct gsh_group_input of)
{
    while (of.source == GSH_FROM_STEP && is_alias(group, &group->steps[of.index]))
        of = group->steps[of.index].in[0];
    return of;
}

static bool is_uniform(const struct gsh_host_group_program *p, const struct gsh_group_array *array)
{
    for (int d = 0; d < p->group->ndim; d++)
        if (array->strides[d] != 0)
            return false;
    return true;
}

/* True where a block of the array is contiguous. */
static bool is_contiguous(const struct gsh_host_group_program *p, unsigned k)
{
    const struct gsh_group *group = p->group;
    const struct gsh_group_array *array = &group->arrays[k];
    return !array->is_index && p->is_linear[k] &&
           (group->ndim == 0 ||
            array->strides[group->ndim - 1] == (int64_t)gsh_dtype_size(array->dtype));
}

/* A new slot for an array or constant. */
static uint16_t load(struct gsh_host_group_program *p, struct gsh_group_input of, uint8_t form)
{
    const struct gsh_group_array *array = &p->group->arrays[of.index];
    bool is_constant = of.source == GSH_FROM_CONSTANT;
    bool is_shared = is_constant || is_uniform(p, array);
    enum gsh_dtype dtype = gsh_group_dtype(p->group, of);
    if (!is_shared && form == dtype && is_contiguous(p, of.index))
        return add_slot(p, of, form, GSH_HOST_GROUP_MEMORY);
    struct gsh_host_group_instruction *at =
        emit(is_shared ? &p->setup : &p->body,
             is_constant ? GSH_HOST_GROUP_FILL : GSH_HOST_GROUP_GATHER);
    at->number = of.index;
    at->out[0] = add_slot(p, of, form, is_shared ? GSH_HOST_GROUP_SHARED : GSH_HOST_GROUP_BUFFER);
    return at->out[0];
}

/* The slot of a value in the form in which it would be stored. */
static uint16_t want_stored(struct gsh_host_group_program *p, struct gsh_group_input of)
{
    of = resolve(p->group, of);
    uint8_t form = (uint8_t)gsh_group_dtype(p->group, of);
    uint16_t found = find_slot(p, of, form);
    return found != GSH_HOST_GROUP_NO_SLOT ? found : load(p, of, form);
}

/* The slot of a value in the form that a loop takes; the loop's input dtype is given. */
static uint16_t want(struct gsh_host_group_program *p, struct gsh_group_input of,
                     enum gsh_dtype dtype)
{
    of = resolve(p->group, of);
    enum gsh_dtype stored = gsh_group_dtype(p->group, of);
    uint8_t form = dtype == GSH_FLOAT16 ? GSH_HOST_GROUP_FLOATS_OF_HALF : (uint8_t)dtype;
    uint16_t found = find_slot(p, of, form);
    if (found != GSH_HOST_GROUP_NO_SLOT)
        return found;
    uint16_t source = find_slot(p, of, (uint8_t)stored);
    bool is_number = of.source == GSH_FROM_ARRAY && p->group->arrays[of.index].is_index;
    if (source == GSH_HOST_GROUP_NO_SLOT && !is_number)
        return load(p, of, form);
    if (source == GSH_HOST_GROUP_NO_SLOT)
        source = load(p, of, (uint8_t)stored);
    if (form == stored)
        return source;
    enum gsh_host_group_place place = p->slots[source].place == GSH_HOST_GROUP_SHARED
                                          ? GSH_HOST_GROUP_SHARED
                                          : GSH_HOST_GROUP_BUFFER;
    struct gsh_host_group_instruction *at =
        emit(place == GSH_HOST_GROUP_SHARED ? &p->setup : &p->body, GSH_HOST_GROUP_CONVERT);
    at->in[0] = source;
    at->out[0] = add_slot(p, of, form, place);
    return at->out[0];
}

/* A slot that holds elements of `chosen` where the mask is true, else of `other`, all in stored form. */
static uint16_t blend(struct gsh_host_group_program *p, struct gsh_group_input of, uint8_t form,
                      uint16_t chosen, uint16_t other, uint16_t mask)
{
    struct gsh_host_group_instruction *at = emit(&p->body, GSH_HOST_GROUP_BLEND);
    at->in[0] = chosen;
    at->in[1] = other;
    at->in[2] = mask;
    at->out[0] = add_slot(p, of, form, GSH_HOST_GROUP_BUFFER);
    return at->out[0];
}

/* The result of a step under its mask. */
static void blend_result(struct gsh_host_group_program *p, unsigned k, unsigned j, uint16_t result,
                         uint16_t mask)
{
    const struct gsh_group_step *step = &p->group->steps[k];
    uint16_t old = want_stored(p, step->old[j]);
    struct gsh_group_input self = {GSH_FROM_STEP, (uint8_t)k, (uint8_t)j};
    blend(p, self, (uint8_t)step->out[j], result, old, mask);
}

/* From the loop's result to the form in which it would be stored. `inputs` are the step's, for reports. */
static void finish_output(struct gsh_host_group_program *p, unsigned k, unsigned j, uint16_t result,
                          uint16_t mask, const struct gsh_host_group_instruction *run)
{
    const struct gsh_group_step *step = &p->group->steps[k];
    struct gsh_group_input self = {GSH_FROM_STEP, (uint8_t)k, (uint8_t)j};
    bool masked = mask != GSH_HOST_GROUP_NO_SLOT;
    if (p->slots[result].form != step->out[j]) {
        struct gsh_host_group_instruction *at = emit(&p->body, GSH_HOST_GROUP_ROUND);
        at->step = (uint8_t)k;
        at->number = (uint8_t)j;
        at->checks_errors = run->checks_errors;
        at->in[0] = result;
        for (unsigned i = 0; run->checks_errors && i < GSH_HOST_GROUP_INPUTS - 1; i++)
            at->in[i + 1] = run->in[i];
        result = at->out[0] = add_slot(p, masked ? (struct gsh_group_input){0} : self,
                                       (uint8_t)step->out[j], GSH_HOST_GROUP_BUFFER);
    } else if (!masked) {
        p->slots[result].of = self;
    }
    if (masked)
        blend_result(p, k, j, result, mask);
}

static void add_run(struct gsh_host_group_program *p, unsigned k, uint16_t mask)
{
    const struct gsh_group_step *step = &p->group->steps[k];
    const struct gsh_op_info *info = gsh_op_info(step->op);
    struct gsh_host_group_instruction run = blank;
    run.action = GSH_HOST_GROUP_RUN;
    run.step = (uint8_t)k;
    run.checks_errors = step->errors.claims != 0;
    run.loop = gsh_host_loops_find(step->op, step->loop);
    if (run.checks_errors && step->op == GSH_OP_COPY) {
        uint16_t source = want_stored(p, step->in[0]);
        struct gsh_host_group_instruction *at = emit(&p->body, GSH_HOST_GROUP_SOURCE);
        at->step = (uint8_t)k;
        at->checks_errors = true;
        at->in[0] = source;
        at->in[1] = mask;
        run.in[1] = source; /* kept for reports */
    }
    for (unsigned j = 0; j < info->nin; j++)
        run.in[j] = want(p, step->in[j], gsh_op_input_dtype(step->op, step->loop, j));
    run.in[3] = mask;
    run.number = step->index.index;
    for (unsigned j = 0; j < info->nout; j++) {
        enum gsh_dtype result = gsh_op_output_dtype(step->op, step->loop, j);
        uint8_t form = result == GSH_FLOAT16 ? GSH_HOST_GROUP_FLOATS_OF_HALF : (uint8_t)result;
        run.out[j] = add_slot(p, (struct gsh_group_input){0}, form, GSH_HOST_GROUP_BUFFER);
    }
    p->body.at[p->body.count++] = run;
    for (unsigned j = 0; j < info->nout; j++)
        finish_output(p, k, j, run.out[j], mask, &run);
}

/* A choice among elements of one dtype moves bytes unchanged. */
static bool chooses(const struct gsh_group *group, const struct gsh_group_step *step)
{
    return step->op == GSH_OP_SELECT && step->out[0] == step->loop &&
           gsh_group_dtype(group, step->in[1]) == step->loop &&
           gsh_group_dtype(group, step->in[2]) == step->loop;
}

static void add_choice(struct gsh_host_group_program *p, unsigned k, uint16_t mask)
{
    const struct gsh_group_step *step = &p->group->steps[k];
    struct gsh_group_input self = {GSH_FROM_STEP, (uint8_t)k, 0};
    bool is_masked = mask != GSH_HOST_GROUP_NO_SLOT;
    uint16_t condition = want(p, step->in[0], GSH_BOOL);
    uint16_t chosen = want_stored(p, step->in[1]), other = want_stored(p, step->in[2]);
    uint16_t result = blend(p, is_masked ? (struct gsh_group_input){0} : self, (uint8_t)step->loop,
                            chosen, other, condition);
    if (is_masked)
        blend_result(p, k, 0, result, mask);
}

static void add_step(struct gsh_host_group_program *p, unsigned k)
{
    const struct gsh_group_step *step = &p->group->steps[k];
    uint16_t mask = GSH_HOST_GROUP_NO_SLOT;
    if (is_alias(p->group, step))
        return;
    if (step->mask.source != GSH_FROM_NOTHING)
        mask = want_stored(p, step->mask);
    if (moves(p->group, step))
        blend_result(p, k, 0, want_stored(p, step->in[0]), mask);
    else if (chooses(p->group, step))
        add_choice(p, k, mask);
    else
        add_run(p, k, mask);
}

/* A slot that does not change when the group's arrays are written. */
static uint16_t detach(struct gsh_host_group_program *p, uint16_t slot)
{
    const struct gsh_group *group = p->group;
    if (p->slots[slot].place != GSH_HOST_GROUP_MEMORY)
        return slot;
    bool is_written = false;
    for (unsigned k = 0; k < group->store_count; k++)
        is_written = is_written || group->arrays[group->stores[k].array].address ==
                                       group->arrays[p->slots[slot].number].address;
    if (!is_written)
        return slot;
    struct gsh_host_group_instruction *at = emit(&p->body, GSH_HOST_GROUP_CONVERT);
    at->in[0] = slot;
    at->out[0] =
        add_slot(p, (struct gsh_group_input){0}, p->slots[slot].form, GSH_HOST_GROUP_BUFFER);
    return at->out[0];
}

/* The last instruction that reads the array in place or gathers it; -1: none. */
static int last_read(const struct gsh_host_group_program *p, unsigned array)
{
    for (int i = (int)p->body.count - 1; i >= 0; i--) {
        const struct gsh_host_group_instruction *at = &p->body.at[i];
        if (at->action == GSH_HOST_GROUP_GATHER && at->number == array)
            return i;
        for (unsigned j = 0; j < GSH_HOST_GROUP_INPUTS; j++)
            if (at->in[j] != GSH_HOST_GROUP_NO_SLOT &&
                p->slots[at->in[j]].place == GSH_HOST_GROUP_MEMORY &&
                p->slots[at->in[j]].number == array)
                return i;
    }
    return -1;
}

static int producer(const struct gsh_host_group_program *p, uint16_t slot)
{
    for (unsigned i = 0; i < p->body.count; i++)
        if (p->body.at[i].out[0] == slot || p->body.at[i].out[1] == slot)
            return (int)i;
    return -1;
}

/* True where the slot may be computed in the array itself: no later instruction reads what it overwrites, nor does
 * one that checks its inputs for errors afterwards. */
static bool can_place(const struct gsh_host_group_program *p, uint16_t slot, unsigned k)
{
    const struct gsh_group *group = p->group;
    if (p->slots[slot].place != GSH_HOST_GROUP_BUFFER || !is_contiguous(p, k))
        return false;
    int made = producer(p, slot);
    for (unsigned other = 0; other < group->array_count; other++) {
        if (other == k || group->arrays[other].is_index ||
            group->arrays[other].address != group->arrays[k].address)
            continue;
        int read = last_read(p, other);
        if (read > made || (read == made && p->body.at[made].checks_errors))
            return false;
    }
    return true;
}

static void add_stores(struct gsh_host_group_program *p)
{
    uint16_t from[GSH_GROUP_STORES];
    for (unsigned k = 0; k < p->group->store_count; k++)
        from[k] = detach(p, want_stored(p, p->group->stores[k].from));
    for (unsigned k = 0; k < p->group->store_count; k++) {
        const struct gsh_group_store *store = &p->group->stores[k];
        if (can_place(p, from[k], store->array)) {
            p->slots[from[k]].place = GSH_HOST_GROUP_MEMORY;
            p->slots[from[k]].number = store->array;
            continue;
        }
        struct gsh_host_group_instruction *at = emit(&p->body, GSH_HOST_GROUP_STORE);
        at->number = store->array;
        at->in[0] = from[k];
    }
}

static void find_last_uses(struct gsh_host_group_program *p)
{
    for (unsigned i = 0; i < p->body.count; i++) {
        const struct gsh_host_group_instruction *at = &p->body.at[i];
        for (unsigned j = 0; j < GSH_HOST_GROUP_INPUTS; j++)
            if (at->in[j] != GSH_HOST_GROUP_NO_SLOT)
                p->slots[at->in[j]].last = (uint16_t)i;
        for (unsigned j = 0; j < GSH_OP_OUTPUTS; j++)
            if (at->out[j] != GSH_HOST_GROUP_NO_SLOT)
                p->slots[at->out[j]].last = (uint16_t)i;
    }
    for (unsigned k = 0; k < GSH_GROUP_SINKS; k++) {
        if (p->sink_in[k] != GSH_HOST_GROUP_NO_SLOT)
            p->slots[p->sink_in[k]].last = UINT16_MAX;
        if (p->sink_mask[k] != GSH_HOST_GROUP_NO_SLOT)
            p->slots[p->sink_mask[k]].last = UINT16_MAX;
    }
}

static void give_buffers(struct gsh_host_group_program *p)
{
    uint16_t spare[GSH_HOST_GROUP_SLOTS];
    unsigned spares = 0;
    for (unsigned i = 0; i < p->body.count; i++) {
        const struct gsh_host_group_instruction *at = &p->body.at[i];
        for (unsigned j = 0; j < GSH_OP_OUTPUTS; j++)
            if (at->out[j] != GSH_HOST_GROUP_NO_SLOT &&
                p->slots[at->out[j]].place == GSH_HOST_GROUP_BUFFER)
                p->slots[at->out[j]].number = spares > 0 ? spare[--spares] : (uint16_t)p->buffers++;
        uint16_t used[GSH_HOST_GROUP_INPUTS + GSH_OP_OUTPUTS];
        memcpy(used, at->in, sizeof at->in);
        memcpy(used + GSH_HOST_GROUP_INPUTS, at->out, sizeof at->out);
        for (unsigned j = 0; j < GSH_COUNT(used); j++) {
            struct gsh_host_group_slot *slot =
                used[j] != GSH_HOST_GROUP_NO_SLOT ? &p->slots[used[j]] : NULL;
            if (slot == NULL || slot->last != i || slot->place != GSH_HOST_GROUP_BUFFER)
                continue;
            spare[spares++] = slot->number;
            slot->last = UINT16_MAX; /* a slot used as two operands is freed once */
        }
    }
}

static bool steps_as_one(const struct gsh_group *group, const int64_t *strides, int first)
{
    for (int d = first; d + 1 < group->ndim; d++)
        if (strides[d] != strides[d + 1] * group->shape[d + 1])
            return false;
    return true;
}

void gsh_host_group_program_make(struct gsh_host_group_program *p, const struct gsh_group *group,
                                 int trailing, unsigned sinks, bool stores)
{
    p->group = group;
    p->trailing = trailing;
    p->slot_count = p->buffers = p->shared = p->setup.count = p->body.count = 0;
    p->buffer_bytes = 0;
    for (unsigned k = 0; k < group->array_count; k++)
        p->is_linear[k] = steps_as_one(group, group->arrays[k].strides, trailing);
    for (unsigned k = 0; k < group->step_count; k++)
        add_step(p, k);
    for (unsigned k = 0; k < GSH_GROUP_SINKS; k++) {
        bool wanted = (sinks >> k & 1) != 0;
        const struct gsh_group_sink *sink = &group->sinks[k];
        p->sink_in[k] = wanted ? detach(p, want(p, sink->in, sink->loop)) : GSH_HOST_GROUP_NO_SLOT;
        p->sink_mask[k] = wanted && sink->mask.source != GSH_FROM_NOTHING
                              ? detach(p, want_stored(p, sink->mask))
                              : GSH_HOST_GROUP_NO_SLOT;
    }
    if (stores)
        add_stores(p);
    find_last_uses(p);
    give_buffers(p);
}
