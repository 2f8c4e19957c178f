/* SPDX-License-Identifier: Apache-2.0
 *
 * A group as a program of the interpreter. First a list of instructions on values, each written once; then each value is
 * given a slot until its last use. Threads share 48 KiB, so a block has fewer of them where a program has many slots.
 * A plan is made at every flush, so it uses no printf.
 */
#include "source_interpreter.h"

#include "source_checks.h"
#include "source_group.h"
#include "source_interpreter_table.h"
#include "source_parts.h"

/* As in kernels/cuda/group/group_interpreter_program.cuh. */
#define ELEMENTS 4
#define DIMS 4
#define SINKS 32
#define STEPS 124
#define FIRST_CONSTANT 64
#define NOWHERE 255
#define OF_CAST 128
enum { LOAD, STORE, LOCATE };

#define MAY (unsigned)(GSH_MAY_POLE | GSH_MAY_OVERFLOW | GSH_MAY_INVALID)
#define PACK_BYTES 16
#define SHARED_BYTES (48 << 10)
#define LEAST_BLOCK 32
#define MAX_SLOTS (SHARED_BYTES / (LEAST_BLOCK * ELEMENTS * 8))
_Static_assert(MAX_SLOTS < FIRST_CONSTANT, "slots and constants are told apart");

struct step {
    uint16_t code;
    uint8_t out, in[GSH_MAX_INPUTS], mask, old;
    uint8_t sink, may, dtype, count, is_pack, unused[3];
};
struct arguments {
    uint32_t n, steps, is_packed, ndim;
    int64_t shape[DIMS];
    uint64_t magic[DIMS];
    uint64_t base[GSH_GROUP_ARRAYS];
    int64_t stride[GSH_GROUP_ARRAYS][DIMS];
    uint64_t constants[GSH_GROUP_CONSTANTS];
    struct gsh_error_sink sinks[SINKS];
    struct step step[STEPS];
};
_Static_assert(sizeof(struct arguments) <= GSH_SOURCE_ARGUMENT_BYTES, "of a kernel");

/* A value, or a constant: its number and CONSTANT. */
typedef uint8_t operand;
#define CONSTANT 128
_Static_assert(STEPS < CONSTANT && CONSTANT + GSH_GROUP_CONSTANTS < NOWHERE, "numbers of operands");

struct program {
    const struct gsh_group *group;
    struct arguments *arguments;
    bool is_packed;
    unsigned count,
        sinks; /* of steps; value k is written by step k, whose operands are values until slots are given */
    operand loaded[GSH_GROUP_ARRAYS];
    operand results[GSH_GROUP_STEPS][GSH_OP_OUTPUTS];
    uint8_t last[STEPS]; /* the last step that uses a value */
};

/* ---- what is taken ---- */

static struct gsh_source_operation operation_of(const struct gsh_group *group,
                                                const struct gsh_group_step *step)
{
    struct gsh_source_operation operation = {.op = step->op, .loop = step->loop};
    for (unsigned k = 0; k < gsh_op_info(step->op)->nin; k++)
        operation.in[k] = gsh_group_dtype(group, step->in[k]);
    for (unsigned j = 0; j < gsh_op_info(step->op)->nout; j++)
        operation.out[j] = step->out[j];
    return operation;
}

static bool takes_op(const struct gsh_group_step *step)
{
    if (step->op == GSH_OP_COPY || step->op == GSH_OP_SELECT)
        return gsh_source_interpreter_table_holds(step->loop);
    return gsh_source_interpreter_table_has(step->op, 0, step->loop);
}

/* At most one cast of a step that looks for errors may meet one, and only a copy's. */
static bool takes_errors(const struct gsh_source_operation *operation)
{
    unsigned failing = 0;
    for (unsigned j = 0; j < gsh_op_info(operation->op)->nout; j++)
        failing += gsh_dtype_cast_may_fail(gsh_op_output_dtype(operation->op, operation->loop, j),
                                           operation->out[j]);
    if (operation->op != GSH_OP_COPY)
        return failing == 0;
    bool is_first = operation->in[0] != operation->loop;
    failing += gsh_dtype_cast_may_fail(operation->in[0], operation->loop);
    return failing == 0 || !is_first || operation->loop == operation->out[0];
}

static bool takes_step(const struct gsh_group *group, const struct gsh_group_step *step)
{
    struct gsh_source_operation operation = operation_of(group, step);
    if (!takes_op(step))
        return false;
    for (unsigned k = 0; k < gsh_op_info(step->op)->nin; k++)
        if (!gsh_source_interpreter_table_holds(operation.in[k]))
            return false;
    for (unsigned j = 0; j < gsh_op_info(step->op)->nout; j++)
        if (!gsh_source_interpreter_table_holds(operation.out[j]))
            return false;
    return step->errors.claims == 0 || takes_errors(&operation);
}

bool gsh_source_interpreter_takes(const struct gsh_group *group)
{
    struct gsh_source_wiring wiring;
    if (group->sink_count > 0 || group->ndim > DIMS || gsh_group_elements(group) > INT32_MAX ||
        !gsh_source_group_steps_wire(group, &wiring))
        return false;
    for (unsigned s = 0; s < group->step_count; s++)
        if (!takes_step(group, &group->steps[s]))
            return false;
    return true;
}

/* ---- arrays ---- */

static int64_t last_stride(const struct gsh_group *group, unsigned k)
{
    return group->ndim > 0 ? group->arrays[k].strides[group->ndim - 1] : 0;
}

static bool is_pack(const struct gsh_group *group, unsigned k)
{
    const struct gsh_group_array *array = &group->arrays[k];
    int64_t size = (int64_t)gsh_dtype_size(array->dtype);
    uint64_t bits = array->address, unit = (uint64_t)GSH_MIN(ELEMENTS * size, PACK_BYTES);
    for (int d = 0; d + 1 < group->ndim; d++)
        bits |= (uint64_t)array->strides[d];
    return last_stride(group, k) == size && (bits & (unit - 1)) == 0;
}

/* Whether the elements of a thread are neighbours: each array then has packs, or one element for all of a pack. */
static bool is_packed(const struct gsh_group *group, uint32_t stored)
{
    int last = group->ndim - 1;
    if (last < 0 || (last > 0 && group->shape[last] % ELEMENTS != 0))
        return false;
    for (unsigned k = 0; k < group->array_count; k++) {
        bool is_same = last_stride(group, k) == 0 && (stored >> k & 1) == 0;
        if (!group->arrays[k].is_index && !is_same && !is_pack(group, k))
            return false;
    }
    return true;
}

/* The size of an element as a power of two, twice; odd where it is extended by its sign. */
static uint8_t memory_code(enum gsh_dtype dtype)
{
    size_t size = gsh_dtype_size(dtype);
    unsigned power = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    return (uint8_t)(2 * power + (gsh_dtype_kind(dtype) == 'i' && power < 3));
}

static void put_arrays(const struct gsh_group *group, struct arguments *arguments)
{
    for (unsigned k = 0; k < group->array_count; k++) {
        arguments->base[k] = group->arrays[k].address;
        for (int d = 0; d < group->ndim; d++)
            arguments->stride[k][d] = group->arrays[k].strides[d];
    }
}

/* A constant as a word: its bytes, an integer extended by its sign. */
static uint64_t word_of(const struct gsh_group_constant *constant)
{
    uint64_t word = 0;
    unsigned unused = 64 - 8 * (unsigned)gsh_dtype_size(constant->dtype);
    memcpy(&word, &constant->value, GSH_MIN(gsh_dtype_size(constant->dtype), sizeof(word)));
    if (gsh_dtype_kind(constant->dtype) == 'i')
        word = (uint64_t)((int64_t)(word << unused) >> unused);
    return word;
}

/* ---- instructions ---- */

static const struct step no_step = {
    .in = {NOWHERE, NOWHERE, NOWHERE}, .out = NOWHERE, .mask = NOWHERE, .old = NOWHERE};

static enum gsh_status append(struct program *program, const struct step *step, operand *value)
{
    if (program->count == STEPS)
        return GSH_DECLINED;
    *value = (operand)program->count;
    program->arguments->step[program->count] = *step;
    program->arguments->step[program->count++].out = *value;
    return GSH_OK;
}

static enum gsh_status load(struct program *program, unsigned array, operand *value)
{
    const struct gsh_group_array *from = &program->group->arrays[array];
    struct step step = no_step;
    step.code = from->is_index ? LOCATE : LOAD;
    step.in[1] = (uint8_t)array;
    step.dtype = memory_code(from->dtype);
    step.is_pack = program->is_packed && is_pack(program->group, array);
    return append(program, &step, value);
}

static enum gsh_status read_input(struct program *program, struct gsh_group_input input,
                                  operand *value)
{
    switch ((enum gsh_group_source)input.source) {
    case GSH_FROM_STEP:
        *value = program->results[input.index][input.output];
        break;
    case GSH_FROM_CONSTANT:
        *value = CONSTANT + input.index;
        break;
    case GSH_FROM_ARRAY:
        if (program->loaded[input.index] == NOWHERE)
            GSH_TRY(load(program, input.index, &program->loaded[input.index]));
        *value = program->loaded[input.index];
        break;
    case GSH_FROM_NOTHING:
        *value = NOWHERE;
    }
    return GSH_OK;
}

/* Casts the value in place; `step` has its mask and what reports its errors. */
static enum gsh_status append_cast(struct program *program, struct step step, enum gsh_dtype from,
                                   enum gsh_dtype to, operand *value)
{
    bool may_fail = gsh_dtype_cast_may_fail(from, to);
    step.code = (uint16_t)gsh_source_interpreter_table_cast_code(from, to);
    step.in[0] = *value;
    step.in[1] = step.in[2] = NOWHERE;
    step.count = 1;
    step.sink = may_fail ? step.sink : 0;
    step.may =
        (uint8_t)(OF_CAST + (gsh_dtype_kind(to) == 'f' ? GSH_ERROR_OVERFLOW : GSH_ERROR_INVALID));
    return append(program, &step, value);
}

static enum gsh_status read_as(struct program *program, struct gsh_group_input input,
                               enum gsh_dtype to, operand *value)
{
    enum gsh_dtype from = gsh_group_dtype(program->group, input);
    GSH_TRY(read_input(program, input, value));
    return from == to ? GSH_OK : append_cast(program, no_step, from, to, value);
}

/* What output j of all operations has: mask, old value, errors. */
static enum gsh_status begin_step(struct program *program, const struct gsh_group_step *from,
                                  unsigned j, struct step *step)
{
    *step = no_step;
    GSH_TRY(read_input(program, from->mask, &step->mask));
    if (step->mask != NOWHERE)
        GSH_TRY(read_input(program, from->old[j], &step->old));
    step->sink = from->errors.claims != 0 ? (uint8_t)program->sinks : 0;
    return GSH_OK;
}

/* The choice among words. */
static enum gsh_status append_select(struct program *program, struct step step, operand condition,
                                     operand first, operand second, operand *value)
{
    step.code = (uint16_t)gsh_source_interpreter_table_select_code();
    step.in[0] = condition;
    step.in[1] = first;
    step.in[2] = second;
    step.count = GSH_MAX_INPUTS;
    step.sink = 0;
    return append(program, &step, value);
}

/* A value that was computed without a mask, cast to the step's output. */
static enum gsh_status end_step(struct program *program, const struct step *step,
                                enum gsh_dtype from, enum gsh_dtype to, operand *value)
{
    struct step bare = no_step;
    if (from != to)
        return append_cast(program, *step, from, to, value);
    if (step->mask == NOWHERE)
        return GSH_OK;
    return append_select(program, bare, step->mask, *value, step->old, value);
}

/* One of the two casts may fail. */
static enum gsh_status add_copy(struct program *program, const struct gsh_group_step *from,
                                operand *value)
{
    enum gsh_dtype given = gsh_group_dtype(program->group, from->in[0]);
    struct step step;
    GSH_TRY(begin_step(program, from, 0, &step));
    GSH_TRY(read_input(program, from->in[0], value));
    if (given != from->loop && from->loop == from->out[0])
        return append_cast(program, step, given, from->loop, value);
    if (given != from->loop)
        GSH_TRY(append_cast(program, no_step, given, from->loop, value));
    return end_step(program, &step, from->loop, from->out[0], value);
}

/* Bools that are chosen among become 0 or 1 where anything is cast. */
static enum gsh_status add_select(struct program *program, const struct gsh_group_step *from,
                                  operand *value)
{
    struct gsh_source_operation operation = operation_of(program->group, from);
    bool is_move = operation.in[1] == from->loop && operation.in[2] == from->loop &&
                   from->out[0] == from->loop;
    operand in[GSH_MAX_INPUTS];
    struct step step;
    GSH_TRY(begin_step(program, from, 0, &step));
    for (unsigned k = 0; k < GSH_MAX_INPUTS; k++)
        GSH_TRY(read_as(program, from->in[k], k == 0 ? GSH_BOOL : from->loop, &in[k]));
    bool is_plain = is_move || from->loop != GSH_BOOL || from->out[0] != GSH_BOOL;
    if (from->out[0] == from->loop && is_plain)
        return append_select(program, step, in[0], in[1], in[2], value);
    GSH_TRY(append_select(program, no_step, in[0], in[1], in[2], value));
    return append_cast(program, step, from->loop, from->out[0], value);
}

/* The operation itself, in the loop in which it is computed. */
static void set_operation(const struct gsh_group_step *from, unsigned j, const operand *in,
                          struct step *step)
{
    const struct gsh_op_info *info = gsh_op_info(from->op);
    bool uses_index = (info->flags & GSH_USES_INDEX) != 0;
    step->code = (uint16_t)gsh_source_interpreter_table_op_code(from->op, j, from->loop);
    memcpy(step->in, in, sizeof(step->in));
    step->count = (uint8_t)(uses_index ? GSH_MAX_INPUTS : info->nin);
    step->may = info->flags & MAY;
    step->dtype = from->loop == GSH_FLOAT64;
    if (gsh_dtype_kind(from->loop) != 'f' || step->may == 0)
        step->sink = 0;
}

/* The result is cast from the computed loop's dtype to the loop's, and to the output's. The last step has the mask's old
 * value. The others look for errors where the mask is true, and the rest of what they give is not used. */
static enum gsh_status add_output(struct program *program, const struct gsh_group_step *from,
                                  unsigned j, const operand *in, operand *value)
{
    enum gsh_dtype loop = gsh_source_interpreter_table_computed(from->loop),
                   computed = gsh_op_output_dtype(from->op, loop, j),
                   result = gsh_op_output_dtype(from->op, from->loop, j);
    struct step last, step;
    GSH_TRY(begin_step(program, from, j, &last));
    step = last;
    set_operation(from, j, in, &step);
    if (computed == from->out[j] && computed == result)
        return append(program, &step, value);
    step.old = step.mask;
    GSH_TRY(append(program, &step, value));
    if (computed != result && result != from->out[j])
        GSH_TRY(append_cast(program, no_step, computed, result, value));
    return append_cast(program, last, result != from->out[j] ? result : computed, from->out[j],
                       value);
}

static enum gsh_status add_operation(struct program *program, const struct gsh_group_step *from,
                                     operand results[GSH_OP_OUTPUTS])
{
    const struct gsh_op_info *info = gsh_op_info(from->op);
    operand in[GSH_MAX_INPUTS] = {NOWHERE, NOWHERE, NOWHERE};
    for (unsigned k = 0; k < info->nin; k++)
        GSH_TRY(read_as(program, from->in[k], gsh_op_input_dtype(from->op, from->loop, k), &in[k]));
    if ((info->flags & GSH_USES_INDEX) != 0)
        GSH_TRY(read_input(program, from->index, &in[GSH_MAX_INPUTS - 1]));
    for (unsigned j = 0; j < info->nout; j++)
        GSH_TRY(add_output(program, from, j, in, &results[j]));
    return GSH_OK;
}

static enum gsh_status add_step(struct program *program, unsigned number)
{
    const struct gsh_group_step *step = &program->group->steps[number];
    operand *results = program->results[number];
    if (step->errors.claims != 0) {
        if (program->sinks == SINKS)
            return GSH_DECLINED;
        program->arguments->sinks[program->sinks++] = step->errors;
    }
    if (step->op == GSH_OP_COPY)
        return add_copy(program, step, &results[0]);
    if (step->op == GSH_OP_SELECT)
        return add_select(program, step, &results[0]);
    return add_operation(program, step, results);
}

static enum gsh_status add_store(struct program *program, const struct gsh_group_store *store)
{
    const struct gsh_group_array *to = &program->group->arrays[store->array];
    struct step step = no_step;
    operand value;
    step.code = STORE;
    GSH_TRY(read_input(program, store->from, &step.in[0]));
    step.in[1] = store->array;
    step.dtype = memory_code(to->dtype);
    step.is_pack = program->is_packed && is_pack(program->group, store->array);
    return append(program, &step, &value);
}

/* Stores read their values into slots first, so that every load comes before every store. */
static enum gsh_status add_all(struct program *program)
{
    const struct gsh_group *group = program->group;
    operand value;
    for (unsigned s = 0; s < group->step_count; s++)
        GSH_TRY(add_step(program, s));
    for (unsigned k = 0; k < group->store_count; k++)
        GSH_TRY(read_input(program, group->stores[k].from, &value));
    for (unsigned k = 0; k < group->store_count; k++)
        GSH_TRY(add_store(program, &group->stores[k]));
    return GSH_OK;
}

/* ---- slots ---- */

static bool is_memory(const struct step *step)
{
    return step->code <= LOCATE;
}

/* The operands that are values or constants. */
static unsigned list_operands(struct step *step, uint8_t *list[GSH_MAX_INPUTS + 2])
{
    unsigned count = 0;
    list[count++] = &step->in[0];
    if (!is_memory(step)) {
        list[count++] = &step->in[1];
        list[count++] = &step->in[2];
    }
    list[count++] = &step->mask;
    list[count++] = &step->old;
    return count;
}

static void find_last_uses(struct program *program)
{
    uint8_t *list[GSH_MAX_INPUTS + 2];
    for (unsigned k = 0; k < program->count; k++) {
        unsigned count = list_operands(&program->arguments->step[k], list);
        program->last[k] = (uint8_t)k;
        for (unsigned i = 0; i < count; i++)
            if (*list[i] < CONSTANT)
                program->last[*list[i]] = (uint8_t)k;
    }
}

/* The step's values as slots; those that are used for the last time become free. */
static void resolve_operands(struct program *program, unsigned number, const uint8_t slots[STEPS],
                             uint64_t *free_slots)
{
    uint8_t *list[GSH_MAX_INPUTS + 2];
    unsigned count = list_operands(&program->arguments->step[number], list);
    for (unsigned i = 0; i < count; i++) {
        operand value = *list[i];
        if (value == NOWHERE)
            continue;
        *list[i] = value < CONSTANT ? slots[value] : (uint8_t)(value - CONSTANT + FIRST_CONSTANT);
        if (value < CONSTANT && program->last[value] == number)
            *free_slots |= UINT64_C(1) << slots[value];
    }
}

/* DECLINED where there are not enough. A step reads all its operands before it writes. */
static enum gsh_status give_slots(struct program *program, unsigned *used)
{
    uint64_t free_slots = (UINT64_C(1) << MAX_SLOTS) - 1;
    uint8_t slots[STEPS];
    *used = 1;
    for (unsigned k = 0; k < program->count; k++) {
        struct step *step = &program->arguments->step[k];
        resolve_operands(program, k, slots, &free_slots);
        if (step->code == STORE)
            continue;
        if (free_slots == 0)
            return GSH_DECLINED;
        slots[k] = step->out = (uint8_t)__builtin_ctzll(free_slots);
        *used = GSH_MAX(*used, step->out + 1u);
        if (program->last[k] != k)
            free_slots &= free_slots - 1;
    }
    return GSH_OK;
}

/* ---- the plan ---- */

static void put_space(const struct gsh_group *group, struct arguments *arguments)
{
    arguments->n = (uint32_t)gsh_group_elements(group);
    arguments->ndim = (uint32_t)group->ndim;
    for (int d = 0; d < group->ndim; d++) {
        arguments->shape[d] = group->shape[d];
        arguments->magic[d] = gsh_source_text_magic(group->shape[d]);
    }
}

static enum gsh_status write_program(const struct gsh_group *group, struct arguments *arguments,
                                     unsigned *slots)
{
    struct program program = {.group = group,
                              .arguments = arguments,
                              .is_packed = is_packed(group, gsh_group_stored(group))};
    memset(program.loaded, NOWHERE, sizeof(program.loaded));
    GSH_TRY(add_all(&program));
    find_last_uses(&program);
    GSH_TRY(give_slots(&program, slots));
    arguments->steps = program.count;
    arguments->is_packed = program.is_packed;
    return GSH_OK;
}

static unsigned threads_of(unsigned slots)
{
    unsigned threads = GSH_SOURCE_BLOCK;
    while ((size_t)threads * slots * ELEMENTS * sizeof(uint64_t) > SHARED_BYTES)
        threads /= 2;
    return threads;
}

static enum gsh_status set_geometry(struct gsh_source_stage *stage, unsigned n, unsigned slots)
{
    unsigned threads = threads_of(slots);
    GSH_TRY(gsh_source_set_grid(stage,
                                GSH_MAX(gsh_source_divide_up(n, (int64_t)threads * ELEMENTS), 1)));
    stage->block[0] = threads;
    stage->shared_bytes = threads * slots * ELEMENTS * (unsigned)sizeof(uint64_t);
    return GSH_OK;
}

enum gsh_status gsh_source_interpreter_plan(const struct gsh_group *group,
                                            struct gsh_source_stage *stage)
{
    struct arguments arguments = {0};
    struct gsh_fmt key;
    unsigned slots;
    if (!gsh_source_interpreter_takes(group))
        return GSH_DECLINED;
    GSH_TRY(write_program(group, &arguments, &slots));
    put_space(group, &arguments);
    put_arrays(group, &arguments);
    for (unsigned k = 0; k < group->constant_count; k++)
        arguments.constants[k] = word_of(&group->constants[k]);
    stage->argument_bytes = sizeof(arguments);
    memcpy(stage->arguments, &arguments, sizeof(arguments));
    gsh_fmt_init(&key, stage->key, sizeof(stage->key));
    gsh_fmt_text(&key, GSH_SOURCE_INTERPRETER_KEY);
    return set_geometry(stage, arguments.n, slots);
}
