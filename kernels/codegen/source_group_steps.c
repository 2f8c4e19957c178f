/* SPDX-License-Identifier: Apache-2.0
 *
 * See source_group.h. A step's function takes and returns elements as they would be stored in memory, so a group
 * computes what separate launches would. Steps of the same op and dtypes share a function.
 */
#include "source_checks.h"
#include "source_group.h"

#include <string.h>

#define EVERY_OUTPUT(j, step)                                                                      \
    unsigned j = 0;                                                                                \
    j < gsh_op_info((step)->op)->nout;                                                             \
    j++
#define EVERY_INPUT(k, step)                                                                       \
    unsigned k = 0;                                                                                \
    k < gsh_op_info((step)->op)->nin;                                                              \
    k++

static bool is_there(struct gsh_group_input input)
{
    return input.source != GSH_FROM_NOTHING;
}

/* Notes that the input is read; false where it does not exist before step `end`. */
static bool take(struct gsh_source_wiring *wiring, struct gsh_group_input input, unsigned end)
{
    const struct gsh_group *group = wiring->group;
    switch ((enum gsh_group_source)input.source) {
    case GSH_FROM_STEP:
        return input.index < end;
    case GSH_FROM_CONSTANT:
        return input.index < group->constant_count;
    case GSH_FROM_ARRAY:
        if (input.index >= group->array_count)
            return false;
        wiring->roles[input.index] =
            group->arrays[input.index].is_index ? GSH_ROLE_INDEX : GSH_ROLE_ARRAY;
        return true;
    case GSH_FROM_NOTHING:
        break;
    }
    return false;
}

static struct gsh_source_operation operation_of(const struct gsh_group *group,
                                                const struct gsh_group_step *step)
{
    struct gsh_source_operation operation = {.op = step->op, .loop = step->loop};
    for (EVERY_INPUT(k, step))
        operation.in[k] = gsh_group_dtype(group, step->in[k]);
    for (EVERY_OUTPUT(j, step))
        operation.out[j] = step->out[j];
    return operation;
}

static bool wire_step(struct gsh_source_wiring *wiring, unsigned number)
{
    const struct gsh_group_step *step = &wiring->group->steps[number];
    if (!gsh_op_has_loop(step->op, step->loop))
        return false;
    for (EVERY_INPUT(k, step))
        if (!take(wiring, step->in[k], number))
            return false;
    if ((gsh_op_info(step->op)->flags & GSH_USES_INDEX) != 0 && !take(wiring, step->index, number))
        return false;
    if (is_there(step->mask) && !take(wiring, step->mask, number))
        return false;
    for (EVERY_OUTPUT(j, step))
        if (is_there(step->mask) && !take(wiring, step->old[j], number))
            return false;
    wiring->sink[number] = -1;
    if (step->errors.claims != 0)
        wiring->sink[number] = (int8_t)wiring->sinks++;
    return true;
}

/* Loops on real floats have a fast variant (cuda/group/group_paths.cuh). */
static bool is_float(enum gsh_dtype loop)
{
    return gsh_dtype_kind(loop) == 'f';
}

/* Whether the step's text checks for errors. */
static bool checks(const struct gsh_source_wiring *wiring, unsigned number)
{
    struct gsh_source_operation operation =
        operation_of(wiring->group, &wiring->group->steps[number]);
    return wiring->sink[number] >= 0 && gsh_source_checks_may_fail(&operation);
}

bool gsh_source_group_steps_is_examined(const struct gsh_source_wiring *wiring)
{
    for (unsigned s = 0; s < wiring->group->step_count; s++)
        if (is_float(wiring->group->steps[s].loop))
            return true;
    return gsh_source_group_steps_checks(wiring);
}

bool gsh_source_group_steps_checks(const struct gsh_source_wiring *wiring)
{
    for (unsigned s = 0; s < wiring->group->step_count; s++)
        if (checks(wiring, s))
            return true;
    return false;
}

bool gsh_source_group_steps_wire(const struct gsh_group *group, struct gsh_source_wiring *wiring)
{
    wiring->group = group;
    wiring->words = wiring->sinks = 0;
    for (unsigned k = 0; k < group->array_count; k++)
        wiring->roles[k] = GSH_ROLE_NONE;
    for (unsigned k = 0; k < group->constant_count; k++) {
        wiring->first_word[k] = (uint8_t)wiring->words;
        wiring->words += gsh_dtype_size(group->constants[k].dtype) > 8 ? 2 : 1;
    }
    for (unsigned k = 0; k < group->step_count; k++)
        if (!wire_step(wiring, k))
            return false;
    for (unsigned k = 0; k < group->store_count; k++)
        if (!take(wiring, group->stores[k].from, group->step_count))
            return false;
    for (unsigned k = 0; k < group->sink_count; k++)
        if (!take(wiring, group->sinks[k].in, group->step_count) ||
            (is_there(group->sinks[k].mask) &&
             !take(wiring, group->sinks[k].mask, group->step_count)))
            return false;
    return true;
}

unsigned gsh_source_group_steps_dtypes(const struct gsh_group *group)
{
    unsigned dtypes = 0;
    for (unsigned k = 0; k < group->array_count; k++)
        dtypes |= 1u << (group->arrays[k].is_index ? GSH_INT64 : group->arrays[k].dtype);
    for (unsigned k = 0; k < group->constant_count; k++)
        dtypes |= 1u << group->constants[k].dtype;
    for (unsigned s = 0; s < group->step_count; s++) {
        const struct gsh_group_step *step = &group->steps[s];
        dtypes |= 1u << step->loop;
        for (EVERY_INPUT(k, step))
            dtypes |= 1u << gsh_op_input_dtype(step->op, step->loop, k);
        for (EVERY_OUTPUT(j, step))
            dtypes |= 1u << step->out[j] | 1u << gsh_op_output_dtype(step->op, step->loop, j);
    }
    for (unsigned k = 0; k < group->sink_count; k++)
        dtypes |= 1u << group->sinks[k].loop | 1u << GSH_FLOAT32; /* float16 is joined as float32 */
    return dtypes;
}

void gsh_source_group_steps_expressions(const struct gsh_group *group, char *text, size_t room)
{
    bool is_written[GSH_OP_COUNT] = {false};
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, room);
    for (unsigned s = 0; s < group->step_count; s++) {
        const struct gsh_group_step *step = &group->steps[s];
        for (EVERY_OUTPUT(j, step))
            if (!is_written[step->op])
                gsh_fmt_printf(&fmt, "%s ", gsh_op_info(step->op)->expressions[j]);
        is_written[step->op] = true;
    }
    for (unsigned k = 0; k < group->sink_count; k++)
        gsh_fmt_printf(
            &fmt, "%s ",
            gsh_op_info(gsh_reduction_info(group->sinks[k].reduction)->combine)->expressions[0]);
}

/* The step whose function this one shares: the first of the same op, dtypes and checks. */
static unsigned function_of(const struct gsh_source_wiring *wiring, unsigned number)
{
    const struct gsh_group_step *steps = wiring->group->steps;
    struct gsh_source_operation mine = operation_of(wiring->group, &steps[number]);
    for (unsigned s = 0; s < number; s++) {
        struct gsh_source_operation other = operation_of(wiring->group, &steps[s]);
        if (memcmp(&mine, &other, sizeof(mine)) == 0 && checks(wiring, s) == checks(wiring, number))
            return s;
    }
    return number;
}

/* A copy, or a choice, among elements of one dtype: bytes move unchanged. */
static bool is_move(const struct gsh_source_operation *operation)
{
    unsigned first = operation->op == GSH_OP_SELECT ? 1 : 0;
    if (operation->op != GSH_OP_COPY && operation->op != GSH_OP_SELECT)
        return false;
    for (unsigned k = first; k < gsh_op_info(operation->op)->nin; k++)
        if (operation->in[k] != operation->loop)
            return false;
    return operation->out[0] == operation->loop;
}

static void write_move(const struct gsh_source_operation *operation, struct gsh_fmt *fmt)
{
    if (operation->op == GSH_OP_COPY)
        gsh_fmt_text(fmt, "    y0 = in0;\n");
    else
        gsh_fmt_printf(fmt, "    y0 = value(Convert<Bool, %s>::of(in0)) ? in1 : in2;\n",
                       gsh_dtype_cuda_stored(operation->in[0]));
}

/* The inputs as the op's values a, b, c, cast to L0, L1, L2. */
static void write_values(const struct gsh_source_operation *operation, struct gsh_fmt *fmt)
{
    for (unsigned k = 0; k < gsh_op_info(operation->op)->nin; k++) {
        const char *stored = gsh_dtype_cuda_stored(operation->in[k]);
        const char *cast =
            operation->op == GSH_OP_COPY
                ? stored
                : gsh_dtype_cuda_stored(gsh_op_input_dtype(operation->op, operation->loop, k));
        gsh_fmt_printf(
            fmt, "    typedef %s L%u;\n    const auto %c = value(Convert<L%u, %s>::of(in%u));\n",
            cast, k, "abc"[k], k, stored, k);
    }
}

static void write_output(const struct gsh_source_operation *operation, unsigned j, bool looks,
                         struct gsh_fmt *fmt)
{
    const char *result =
        gsh_dtype_cuda_stored(gsh_op_output_dtype(operation->op, operation->loop, j));
    gsh_fmt_printf(fmt, "    typedef %s R%u;\n    typedef %s Out%u;\n", result, j,
                   gsh_dtype_cuda_stored(operation->out[j]), j);
    if (operation->op == GSH_OP_COPY)
        gsh_fmt_text(fmt, "    const R0 r0 = Convert<R0, L0>::of(in0);\n");
    else
        gsh_fmt_printf(fmt, "    const R%u r%u = Cast<R%u>::of(%s);\n", j, j, j,
                       gsh_op_info(operation->op)->expressions[j]);
    gsh_fmt_printf(fmt, "    y%u = Convert<Out%u, R%u>::of(r%u);\n", j, j, j, j);
    if (looks)
        gsh_source_checks_write(fmt, operation, j, "sink");
}

static void write_body(const struct gsh_source_operation *operation, bool is_quick, bool looks,
                       struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt, "{\n    typedef %s T;\n    constexpr bool is_half = %s;\n",
                   gsh_dtype_cuda_type(operation->loop),
                   operation->loop == GSH_FLOAT16 ? "true" : "false");
    if (is_move(operation))
        write_move(operation, fmt);
    else {
        write_values(operation, fmt);
        for (unsigned j = 0; j < gsh_op_info(operation->op)->nout; j++) {
            write_output(operation, j, looks, fmt);
            if (is_quick)
                gsh_fmt_printf(fmt, "    sink.note(value(r%u));\n", j);
        }
    }
    gsh_fmt_text(fmt, "}\n");
}

/* E.g. void op3_add(const Sink &sink, const double &in0, const double &in1, double &y0). */
static void write_function(const struct gsh_source_wiring *wiring, unsigned number,
                           const char *sink, struct gsh_fmt *fmt)
{
    const struct gsh_group_step *step = &wiring->group->steps[number];
    const struct gsh_op_info *info = gsh_op_info(step->op);
    struct gsh_source_operation operation = operation_of(wiring->group, step);
    gsh_fmt_printf(fmt, "FN void op%u_%s(const %s &sink", number, info->name, sink);
    for (unsigned k = 0; k < info->nin; k++)
        gsh_fmt_printf(fmt, ", const %s &in%u", gsh_dtype_cuda_stored(operation.in[k]), k);
    gsh_fmt_text(fmt, (info->flags & GSH_USES_INDEX) != 0 ? ", i64 i" : "");
    for (unsigned j = 0; j < info->nout; j++)
        gsh_fmt_printf(fmt, ", %s &y%u", gsh_dtype_cuda_stored(operation.out[j]), j);
    gsh_fmt_text(fmt, ")\n");
    write_body(&operation, strcmp(sink, "FastPath") == 0, checks(wiring, number), fmt);
}

static void write_functions(const struct gsh_source_wiring *wiring, unsigned number,
                            struct gsh_fmt *fmt)
{
    if (function_of(wiring, number) != number)
        return;
    if (is_float(wiring->group->steps[number].loop)) {
        gsh_fmt_text(fmt, "namespace fast {\n");
        write_function(wiring, number, "FastPath", fmt);
        gsh_fmt_text(fmt, "}\n");
        write_function(wiring, number, "Sink", fmt);
    } else {
        gsh_fmt_text(fmt, "template <class Path> ");
        write_function(wiring, number, "Path", fmt);
    }
}

static void write_input(const struct gsh_source_wiring *wiring, struct gsh_group_input input,
                        struct gsh_fmt *fmt)
{
    switch ((enum gsh_group_source)input.source) {
    case GSH_FROM_STEP:
        gsh_fmt_printf(fmt, "%c%u", "vw"[input.output], input.index);
        break;
    case GSH_FROM_ARRAY:
        gsh_fmt_printf(fmt, "in.a%u", input.index);
        break;
    case GSH_FROM_CONSTANT:
        gsh_fmt_printf(fmt, "constant_of<%s>(args.constants + %u)",
                       gsh_dtype_cuda_stored(wiring->group->constants[input.index].dtype),
                       wiring->first_word[input.index]);
        break;
    case GSH_FROM_NOTHING:
        break;
    }
}

static bool reads_step(const struct gsh_group_step *step, unsigned number)
{
    for (EVERY_INPUT(k, step))
        if (step->in[k].source == GSH_FROM_STEP && step->in[k].index == number)
            return true;
    return false;
}

/* Whether a later step shows every infinity or NaN of this step, and is itself checked or passes it on. */
static bool passes_on(const struct gsh_group *group, unsigned number)
{
    const struct gsh_group_step *step = &group->steps[number];
    if (gsh_op_info(step->op)->nout != 1 || !is_float(step->loop) || !is_float(step->out[0]))
        return false;
    for (unsigned s = number + 1; s < group->step_count; s++) {
        const struct gsh_group_step *later = &group->steps[s];
        bool passes =
            (gsh_op_info(later->op)->flags & GSH_PASSES_ON) != 0 && !is_there(later->mask);
        if (passes && is_float(later->loop) && reads_step(later, number))
            return true;
    }
    return false;
}

/* E.g. double v3; op3_add(path.at(0), v1, in.a2, v3); a masked one begins with the old values. */
static void write_step(const struct gsh_source_wiring *wiring, unsigned number, struct gsh_fmt *fmt)
{
    const struct gsh_group_step *step = &wiring->group->steps[number];
    const struct gsh_op_info *info = gsh_op_info(step->op);
    bool has_mask = is_there(step->mask);
    for (EVERY_OUTPUT(j, step)) {
        gsh_fmt_printf(fmt, "    %s %c%u", gsh_dtype_cuda_stored(step->out[j]), "vw"[j], number);
        gsh_fmt_text(fmt, has_mask ? " = " : "");
        write_input(wiring, has_mask ? step->old[j] : (struct gsh_group_input){0}, fmt);
        gsh_fmt_text(fmt, ";\n");
    }
    if (has_mask) {
        gsh_fmt_text(fmt, "    if (value(");
        write_input(wiring, step->mask, fmt);
        gsh_fmt_text(fmt, "))\n    ");
    }
    gsh_fmt_printf(fmt, "    op%u_%s(path.%s(%d)", function_of(wiring, number), info->name,
                   passes_on(wiring->group, number) ? "passing" : "at",
                   GSH_MAX(wiring->sink[number], 0));
    for (EVERY_INPUT(k, step)) {
        gsh_fmt_text(fmt, ", ");
        write_input(wiring, step->in[k], fmt);
    }
    if ((info->flags & GSH_USES_INDEX) != 0) {
        gsh_fmt_text(fmt, ", ");
        write_input(wiring, step->index, fmt);
    }
    for (EVERY_OUTPUT(j, step))
        gsh_fmt_printf(fmt, ", %c%u", "vw"[j], number);
    gsh_fmt_text(fmt, ");\n");
}

static void write_structs(const struct gsh_source_wiring *wiring, struct gsh_fmt *fmt)
{
    const struct gsh_group *group = wiring->group;
    gsh_fmt_text(fmt, "struct Element {\n");
    for (unsigned k = 0; k < group->array_count; k++)
        if (wiring->roles[k] != GSH_ROLE_NONE)
            gsh_fmt_printf(fmt, "    %s a%u;\n",
                           wiring->roles[k] == GSH_ROLE_INDEX
                               ? "i64"
                               : gsh_dtype_cuda_stored(group->arrays[k].dtype),
                           k);
    gsh_fmt_text(fmt, "};\nstruct Result {\n");
    for (unsigned k = 0; k < group->store_count; k++)
        gsh_fmt_printf(fmt, "    %s s%u;\n",
                       gsh_dtype_cuda_stored(group->arrays[group->stores[k].array].dtype), k);
    for (unsigned k = 0; k < group->sink_count; k++) {
        gsh_fmt_printf(fmt, "    %s r%u;\n",
                       gsh_dtype_cuda_stored(gsh_group_dtype(group, group->sinks[k].in)), k);
        if (is_there(group->sinks[k].mask))
            gsh_fmt_printf(fmt, "    Bool m%u;\n", k);
    }
    gsh_fmt_text(fmt, "};\n");
}

static void write_result(const struct gsh_source_wiring *wiring, char name, unsigned k,
                         struct gsh_group_input from, struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt, "    result.%c%u = ", name, k);
    write_input(wiring, from, fmt);
    gsh_fmt_text(fmt, ";\n");
}

void gsh_source_group_steps_write(const struct gsh_source_wiring *wiring, struct gsh_fmt *fmt)
{
    const struct gsh_group *group = wiring->group;
    write_structs(wiring, fmt);
    for (unsigned s = 0; s < group->step_count; s++)
        write_functions(wiring, s, fmt);
    gsh_fmt_text(fmt, "template <class Path> FN Result evaluate(const Args &args, const Element "
                      "&in, const Path &path)\n{\n");
    for (unsigned s = 0; s < group->step_count; s++)
        write_step(wiring, s, fmt);
    gsh_fmt_text(fmt, "    Result result;\n");
    for (unsigned k = 0; k < group->store_count; k++)
        write_result(wiring, 's', k, group->stores[k].from, fmt);
    for (unsigned k = 0; k < group->sink_count; k++) {
        write_result(wiring, 'r', k, group->sinks[k].in, fmt);
        if (is_there(group->sinks[k].mask))
            write_result(wiring, 'm', k, group->sinks[k].mask, fmt);
    }
    gsh_fmt_text(fmt, "    return result;\n}\n");
}
