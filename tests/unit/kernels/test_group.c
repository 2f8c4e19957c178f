/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups on the CPU give the bytes that their steps give one by one (group_reference.h): random
 * groups of all ops, dtypes, layouts and wirings, and what each part of the evaluation is there for.
 */
#include "check.h"
#include "group_reference.h"
#include "host_casts.h"
#include "host_group.h"
#include "host_loops.h"
#include "host_threads.h"
#include "nan_signs.h"
#include "options.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define ELEMENTS 1500              /* at most, of a random group */
#define REGION (ELEMENTS * 16 * 4) /* bytes, at most, of an array */
#define NOTHING ((struct gsh_group_input){0})

static uint64_t random_state = 88172645463325252u;

static int64_t pick(int64_t count)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int64_t)((random_state >> 11) % (uint64_t)count);
}

static bool chance(int percent)
{
    return pick(100) < percent;
}

static struct gsh_group_input from(enum gsh_group_source source, unsigned index, unsigned output)
{
    return (struct gsh_group_input){(uint8_t)source, (uint8_t)index, (uint8_t)output};
}

/* A group with the memory of its arrays and what its steps report. */
static struct subject {
    struct gsh_group group;
    _Alignas(64) char memory[GSH_GROUP_ARRAYS][REGION];
    unsigned regions;
    uint64_t claims[GSH_GROUP_STEPS + GSH_GROUP_SINKS][GSH_ERROR_KINDS];
    struct gsh_errors_found errors[GSH_GROUP_STEPS + GSH_GROUP_SINKS];
} subject, before, expected;

/* Numbers that are edges of something, and ordinary ones. */
static void write_values(char *to, enum gsh_dtype dtype, int64_t n)
{
    static const double edges[] = {0,    -0.0,  1,      -1,  2,      0.5,   127,      128,
                                   -128, 255,   256,    1e5, -1e5,   65504, 65520,    3e9,
                                   1e19, 1e300, -1e300, NAN, 1e-310, 1e39,  INFINITY, -INFINITY};
    size_t size = gsh_dtype_size(dtype);
    for (int64_t e = 0; e < n; e++, to += size) {
        double parts[2];
        for (int k = 0; k < 2; k++)
            parts[k] = chance(25) ? edges[pick(GSH_COUNT(edges))] : (double)(pick(2001) - 1000) / 8;
        gsh_host_casts_run(to, dtype, 0, parts, GSH_COMPLEX128, 0, 1);
        if (dtype == GSH_BOOL && chance(10))
            *to = (char)pick(256);
    }
}

/* Strides of elements of `step` bytes that reach every element of the first ndim dimensions once,
 * but for broadcast ones; what they reach takes up to *bytes and begins *offset before the first
 * element. */
static void lay_out(const struct gsh_group *group, int ndim, int64_t step, bool may_broadcast,
                    int64_t *strides, int64_t *bytes, int64_t *offset)
{
    int order[GSH_MAX_DIMS];
    for (int d = 0; d < ndim; d++)
        order[d] = ndim - 1 - d;
    for (int d = 1; d < ndim && chance(40); d++) {
        int other = (int)pick(d + 1), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
    int gaps = chance(60) ? 0 : 2;
    bool may_flip = chance(40);
    *offset = 0;
    for (int d = 0; d < ndim; d++) {
        int64_t *stride = &strides[order[d]];
        int64_t extent = group->shape[order[d]];
        if (may_broadcast && chance(15))
            continue;
        step *= gaps > 0 && chance(30) && gaps-- > 0 ? 2 : 1;
        *stride = may_flip && chance(30) ? -step : step;
        *offset += *stride < 0 ? step * (extent - 1) : 0;
        step *= extent;
    }
    *bytes = step;
}

/* A region of its own, all of it filled. */
static unsigned add_array(struct subject *s, enum gsh_dtype dtype, int ndim, bool may_broadcast)
{
    struct gsh_group *group = &s->group;
    struct gsh_group_array *array = &group->arrays[group->array_count];
    int64_t bytes, offset, size = (int64_t)gsh_dtype_size(dtype);
    char *region = s->memory[s->regions++];
    *array = (struct gsh_group_array){.dtype = dtype};
    lay_out(group, ndim, size, may_broadcast, array->strides, &bytes, &offset);
    array->address = (uintptr_t)region + (uintptr_t)offset;
    write_values(region, dtype, bytes / size);
    return group->array_count++;
}

/* The element's index in C order, or in that of permuted or flipped dimensions. */
static unsigned add_index(struct subject *s)
{
    struct gsh_group *group = &s->group;
    struct gsh_group_array *array = &group->arrays[group->array_count];
    *array = (struct gsh_group_array){.dtype = GSH_INT64, .is_index = true};
    int64_t weight = 1;
    bool transposed = chance(50);
    for (int k = 0; k < group->ndim; k++) {
        int d = transposed ? k : group->ndim - 1 - k;
        bool flipped = chance(20);
        array->strides[d] = flipped ? -weight : weight;
        array->address += flipped ? (uint64_t)(weight * (group->shape[d] - 1)) : 0;
        weight *= group->shape[d];
    }
    return group->array_count++;
}

static unsigned add_constant(struct subject *s, enum gsh_dtype dtype)
{
    struct gsh_group_constant *constant = &s->group.constants[s->group.constant_count];
    *constant = (struct gsh_group_constant){.dtype = dtype};
    write_values((char *)&constant->value, dtype, 1);
    if (dtype == GSH_BOOL)
        constant->value.u8 = constant->value.u8 != 0;
    return s->group.constant_count++;
}

static struct gsh_group_input any_input(struct subject *s, unsigned loads, unsigned step)
{
    if (step > 0 && chance(60)) {
        unsigned k = (unsigned)pick(step);
        unsigned outputs = gsh_op_info(s->group.steps[k].op)->nout;
        return from(GSH_FROM_STEP, k, (unsigned)pick(outputs));
    }
    return chance(25) ? from(GSH_FROM_CONSTANT, (unsigned)pick(s->group.constant_count), 0)
                      : from(GSH_FROM_ARRAY, (unsigned)pick(loads), 0);
}

/* An input of this dtype: one there is, else another array. */
static struct gsh_group_input input_of(struct subject *s, unsigned loads, unsigned step,
                                       enum gsh_dtype dtype)
{
    for (int tries = 0; tries < 8; tries++) {
        struct gsh_group_input input = any_input(s, loads, step);
        if (gsh_group_dtype(&s->group, input) == dtype)
            return input;
    }
    if (s->group.array_count < GSH_GROUP_ARRAYS - GSH_GROUP_STORES - GSH_GROUP_SINKS - 1)
        return from(GSH_FROM_ARRAY, add_array(s, dtype, s->group.ndim, true), 0);
    return NOTHING;
}

static struct gsh_error_sink error_sink(struct subject *s, unsigned place)
{
    return (struct gsh_error_sink){.claims = (uintptr_t)s->claims[place],
                                   .found = (uintptr_t)&s->errors[place],
                                   .sequence = 7 + place};
}

static enum gsh_dtype any_dtype(unsigned set)
{
    for (;;) {
        int64_t dtype = pick(GSH_DTYPE_COUNT);
        if ((set >> dtype & 1) != 0)
            return (enum gsh_dtype)dtype;
    }
}

static void add_step(struct subject *s, unsigned loads, unsigned index)
{
    unsigned k = s->group.step_count;
    struct gsh_group_step *step = &s->group.steps[k];
    const struct gsh_op_info *info;
    do
        step->op = chance(15) ? GSH_OP_COPY : (enum gsh_op)pick(GSH_OP_COUNT);
    while ((info = gsh_op_info(step->op))->dtypes == 0);
    step->loop = any_dtype(info->dtypes);
    for (unsigned j = 0; j < info->nin; j++)
        step->in[j] = any_input(s, loads, k);
    if ((info->flags & GSH_USES_INDEX) != 0)
        step->index = from(GSH_FROM_ARRAY, index, 0);
    for (unsigned j = 0; j < info->nout; j++)
        step->out[j] =
            chance(70) ? gsh_op_output_dtype(step->op, step->loop, j) : any_dtype(GSH_SET_ALL);
    if (step->op == GSH_OP_COPY && chance(30)) /* bytes as they are */
        step->loop = step->out[0] = gsh_group_dtype(&s->group, step->in[0]);
    if (chance(20)) {
        step->mask = input_of(s, loads, k, GSH_BOOL);
        for (unsigned j = 0; j < info->nout && step->mask.source != GSH_FROM_NOTHING; j++) {
            step->old[j] = input_of(s, loads, k, step->out[j]);
            if (step->old[j].source == GSH_FROM_NOTHING)
                step->mask = NOTHING;
        }
    }
    if (chance(50))
        step->errors = error_sink(s, k);
    s->group.step_count++;
}

/* Stores some step's output, in an array of its own or in place of one that is read. */
static void add_store(struct subject *s, unsigned loads, bool *taken)
{
    struct gsh_group *group = &s->group;
    unsigned k = (unsigned)pick(group->step_count), victim = (unsigned)pick(loads);
    struct gsh_group_input input =
        from(GSH_FROM_STEP, k, (unsigned)pick(gsh_op_info(group->steps[k].op)->nout));
    enum gsh_dtype dtype = gsh_group_dtype(group, input);
    const struct gsh_group_array *array = &group->arrays[victim];
    bool in_place = chance(50) && !taken[victim] && !array->is_index &&
                    gsh_dtype_size(array->dtype) == gsh_dtype_size(dtype);
    for (int d = 0; d < group->ndim; d++)
        in_place = in_place && array->strides[d] != 0;
    unsigned place = group->array_count;
    if (in_place) {
        taken[victim] = true;
        group->arrays[place] = *array;
        group->arrays[place].dtype = dtype;
        group->array_count++;
    } else {
        place = add_array(s, dtype, group->ndim, false);
    }
    group->stores[group->store_count++] =
        (struct gsh_group_store){.from = input, .array = (uint8_t)place};
}

/* Whether different elements of the sink's input may lie in one place. */
static bool overlaps(const struct gsh_group *group, const struct gsh_group_sink *sink)
{
    for (int d = 0; d < group->ndim; d++)
        if (sink->strides[d] == 0 && group->shape[d] > 1)
            return true;
    return false;
}

/* Reduces an array or a step's output as if it lay in memory in some way. */
static void add_sink(struct subject *s, unsigned loads)
{
    struct gsh_group *group = &s->group;
    unsigned k = group->sink_count;
    struct gsh_group_sink *sink = &group->sinks[k];
    const struct gsh_reduction_info *info;
    int64_t bytes, offset;
    do {
        sink->reduction = (enum gsh_reduction)pick(GSH_REDUCTION_COUNT);
        info = gsh_reduction_info(sink->reduction);
        sink->loop = any_dtype(info->dtypes);
    } while (!gsh_reduction_may_sink(sink->reduction, sink->loop));
    do
        sink->in = any_input(s, loads, group->step_count);
    while (sink->in.source == GSH_FROM_CONSTANT);
    enum gsh_dtype dtype = gsh_group_dtype(group, sink->in);
    if (sink->in.source == GSH_FROM_ARRAY && !group->arrays[sink->in.index].is_index)
        memcpy(sink->strides, group->arrays[sink->in.index].strides, sizeof sink->strides);
    else
        lay_out(group, group->ndim, (int64_t)gsh_dtype_size(dtype), false, sink->strides, &bytes,
                &offset);
    if (chance(30)) {
        sink->has_initial = true;
        write_values((char *)&sink->initial, sink->loop, 1);
        if (sink->loop == GSH_BOOL)
            sink->initial.u8 = sink->initial.u8 != 0;
    }
    if (chance(30) && (info->neutral != GSH_NEUTRAL_FIRST || sink->has_initial))
        sink->mask = input_of(s, loads, group->step_count, GSH_BOOL);
    if (sink->mask.source == GSH_FROM_STEP && overlaps(group, sink))
        sink->mask.source = GSH_FROM_NOTHING; /* the reference lays it out as the input */
    if (chance(50))
        sink->errors = error_sink(s, GSH_GROUP_STEPS + k);
    sink->array =
        (uint8_t)add_array(s,
                           chance(70) ? gsh_reduction_output_dtype(sink->reduction, sink->loop)
                                      : any_dtype(GSH_SET_ALL),
                           group->ndim - group->nreduce, false);
    group->sink_count++;
}

static void make_shape(struct gsh_group *group)
{
    group->ndim = (int)pick(5);
    if (group->ndim == 1 && chance(70)) {
        group->shape[0] = 1 + pick(ELEMENTS);
        return;
    }
    int64_t room = ELEMENTS;
    for (int d = group->ndim - 1; d >= 0; d--) {
        int64_t most = chance(30) ? 700 : 12;
        group->shape[d] = 1 + pick(GSH_MIN(room, most));
        room = GSH_MAX(room / group->shape[d], 1);
    }
}

static void make_random(struct subject *s)
{
    bool taken[GSH_GROUP_ARRAYS] = {false};
    memset(s, 0, sizeof *s);
    make_shape(&s->group);
    unsigned loads = 1 + (unsigned)pick(4);
    for (unsigned k = 0; k < loads; k++)
        add_array(s, any_dtype(GSH_SET_ALL), s->group.ndim, true);
    unsigned index = add_index(s);
    loads += chance(20); /* the index as a value */
    for (int k = 0; k < 3; k++)
        add_constant(s, any_dtype(GSH_SET_ALL));
    for (int64_t count = 1 + pick(chance(10) ? 40 : 6); count > 0; count--)
        add_step(s, loads, index);
    if (chance(50))
        s->group.nreduce = (int)pick(s->group.ndim + 1);
    for (int64_t count = s->group.nreduce > 0 ? 1 + pick(3) : 0; count > 0; count--)
        add_sink(s, loads);
    for (int64_t count = pick(4) + (s->group.sink_count == 0); count > 0; count--)
        add_store(s, loads, taken);
}

static void describe(const struct gsh_group *group)
{
    for (unsigned k = 0; k < group->array_count; k++)
        fprintf(stderr, "  array %u %s index %d at %llx\n", k,
                gsh_dtype_name(group->arrays[k].dtype), group->arrays[k].is_index,
                (unsigned long long)group->arrays[k].address);
    for (unsigned k = 0; k < group->step_count; k++) {
        const struct gsh_group_step *step = &group->steps[k];
        fprintf(stderr, "  step %u %s %s -> %s", k, gsh_op_info(step->op)->name,
                gsh_dtype_name(step->loop), gsh_dtype_name(step->out[0]));
        for (unsigned j = 0; j < gsh_op_info(step->op)->nin; j++)
            fprintf(stderr, " %d:%d", step->in[j].source, step->in[j].index);
        fprintf(stderr, " mask %d:%d armed %d\n", step->mask.source, step->mask.index,
                step->errors.claims != 0);
    }
    for (unsigned k = 0; k < group->store_count; k++)
        fprintf(stderr, "  store %d.%d -> %d\n", group->stores[k].from.index,
                group->stores[k].from.output, group->stores[k].array);
    for (unsigned k = 0; k < group->sink_count; k++)
        fprintf(stderr, "  sink %s %s of %d:%d -> %d masked %d initial %d armed %d\n",
                gsh_reduction_info(group->sinks[k].reduction)->name,
                gsh_dtype_name(group->sinks[k].loop), group->sinks[k].in.source,
                group->sinks[k].in.index, group->sinks[k].array, group->sinks[k].mask.source,
                group->sinks[k].has_initial, group->sinks[k].errors.claims != 0);
}

/* ---- signs of NaNs ---- */

static bool has_special_function(const struct gsh_group *group)
{
    bool has = false;
    for (unsigned k = 0; k < group->step_count; k++)
        has |= (gsh_op_info(group->steps[k].op)->flags & GSH_SPECIAL) != 0;
    return has;
}

/* A sum of two NaNs has the sign of one of them, and each loop's compiler decides of which. Special functions make NaNs of both signs
 * and add them. The arrays' addresses are those of `subject`. */
static void clear_signs_of_nans(struct subject *s)
{
    for (unsigned a = 0; a < s->group.array_count; a++) {
        const struct gsh_group_array *array = &s->group.arrays[a];
        char kind = gsh_dtype_kind(array->dtype);
        size_t size = gsh_dtype_size(array->dtype) / (kind == 'c' ? 2 : 1);
        for (unsigned k = 0; k < s->regions; k++) {
            size_t offset = (size_t)(array->address - (uint64_t)(uintptr_t)subject.memory[k]);
            if ((kind == 'f' || kind == 'c') && !array->is_index && offset < REGION)
                clear_signs(s->memory[k] + offset % size, (REGION - offset % size) / size, size);
        }
    }
}

/* Runs the subject both ways and compares memory and reports; which element is reported only where
 * both look at all of them at once. */
static bool agree(int number)
{
    memcpy(&before, &subject, sizeof before);
    if (!CHECK_INT(group_reference_run(&subject.group), GSH_OK))
        return false;
    memcpy(&expected, &subject, sizeof expected);
    memcpy(subject.memory, before.memory, sizeof before.memory);
    memset(subject.claims, 0, sizeof subject.claims);
    memset(subject.errors, 0, sizeof subject.errors);
    struct gsh_group run = subject.group;
    if (chance(80))
        gsh_group_collapse(&run);
    bool good = CHECK_INT(gsh_host_group_run(&run), GSH_OK);
    if (has_special_function(&subject.group)) {
        clear_signs_of_nans(&subject);
        clear_signs_of_nans(&expected);
    }
    for (unsigned k = 0; k < subject.regions; k++)
        good = good && CHECK(memcmp(subject.memory[k], expected.memory[k], REGION) == 0);
    good = good && CHECK(memcmp(subject.claims, expected.claims, sizeof expected.claims) == 0);
    if (run.ndim <= 1 && run.sink_count == 0 && gsh_group_elements(&run) <= GSH_HOST_BLOCK)
        good = good && CHECK(memcmp(subject.errors, expected.errors, sizeof subject.errors) == 0);
    if (!good) {
        fprintf(stderr, "group %d of %d dimensions, collapsed to %d\n", number, subject.group.ndim,
                run.ndim);
        describe(&subject.group);
    }
    return good;
}

static void check_random(void)
{
    for (int number = 0; number < 2000; number++) {
        make_random(&subject);
        if (!agree(number))
            return;
    }
}

/* Reports name the inputs, also where these are overwritten: by the result in place of an input,
 * and by the first of two results in what was an input's buffer. */
static void check_reported_inputs(void)
{
    static uint64_t claims[2][GSH_ERROR_KINDS];
    static struct gsh_errors_found errors[2];
    double a[8] = {1e305, 0, 2, 0, 3, 0, 4, 0}, b[4] = {0, 1, 1, 1}, big[8] = {1e300};
    float rests[4];
    struct gsh_group group = {.ndim = 1,
                              .shape = {4},
                              .array_count = 5,
                              .arrays = {{.address = (uintptr_t)b, .strides = {8}},
                                         {.address = (uintptr_t)a, .strides = {16}},
                                         {.address = (uintptr_t)b, .strides = {8}},
                                         {.address = (uintptr_t)big, .strides = {16}},
                                         {.address = (uintptr_t)rests, .strides = {4}}},
                              .step_count = 2,
                              .store_count = 2};
    for (unsigned k = 0; k < group.array_count; k++)
        group.arrays[k].dtype = k == 4 ? GSH_FLOAT32 : GSH_FLOAT64;
    for (unsigned k = 0; k < 2; k++) {
        group.steps[k] =
            (struct gsh_group_step){.op = k == 0 ? GSH_OP_DIVIDE : GSH_OP_DIVMOD,
                                    .loop = GSH_FLOAT64,
                                    .in = {from(GSH_FROM_ARRAY, k == 0 ? 1 : 3, 0),
                                           from(GSH_FROM_ARRAY, k == 0 ? 0 : 1, 0)},
                                    .out = {k == 0 ? GSH_FLOAT64 : GSH_FLOAT32, GSH_FLOAT32},
                                    .errors = {(uintptr_t)claims[k], (uintptr_t)&errors[k], 1}};
        group.stores[k] = (struct gsh_group_store){.from = from(GSH_FROM_STEP, k, k),
                                                   .array = (uint8_t)(2 + 2 * k)};
    }
    CHECK_INT(gsh_host_group_run(&group), GSH_OK);
    CHECK(isinf(b[0]) && b[3] == 4 && isinf(rests[0]) && rests[3] == 0);
    CHECK_INT(errors[0].found[GSH_ERROR_POLE].sequence, 1);
    CHECK(errors[0].found[GSH_ERROR_POLE].inputs[0].f64 == 1e305);
    CHECK(errors[0].found[GSH_ERROR_POLE].inputs[1].f64 == 0);
    CHECK_INT(errors[1].found[GSH_ERROR_OVERFLOW].sequence, 1);
    CHECK(errors[1].found[GSH_ERROR_OVERFLOW].inputs[0].f64 == 1e300);
    CHECK(errors[1].found[GSH_ERROR_OVERFLOW].inputs[1].f64 == 1e305);
}

/* Groups large enough for several threads; `outputs` doubles at `out`. */
enum { LARGE = 300001 };
static double large_in[LARGE], large_out[LARGE], large_expected[LARGE], large_sinks[3][LARGE];

static unsigned add_doubles(struct gsh_group *group, const void *address)
{
    group->arrays[group->array_count] =
        (struct gsh_group_array){.dtype = GSH_FLOAT64, .address = (uintptr_t)address};
    return group->array_count++;
}

/* out = in / (in + 1) over the shape, dense; where there are reduced dimensions, its sum, the largest
 * element of `in` and the sum of those above 5000 go to large_sinks. `transposed`: the first
 * dimension is the fast one. */
static struct gsh_group make_large(int ndim, const int64_t *shape, int nreduce, bool transposed)
{
    struct gsh_group group = {.ndim = ndim, .nreduce = nreduce, .constant_count = 2};
    unsigned in = add_doubles(&group, large_in), out = add_doubles(&group, large_out);
    int64_t stride = 8, kept = 8;
    for (int k = 0; k < ndim; k++) {
        int d = transposed ? k : ndim - 1 - k;
        group.shape[d] = shape[d];
        group.arrays[in].strides[d] = group.arrays[out].strides[d] = stride;
        stride *= shape[d];
    }
    group.constants[0] = (struct gsh_group_constant){.dtype = GSH_INT8, .value = {.i8 = 1}};
    group.steps[0] =
        (struct gsh_group_step){.op = GSH_OP_ADD,
                                .loop = GSH_FLOAT64,
                                .in = {from(GSH_FROM_ARRAY, in, 0), from(GSH_FROM_CONSTANT, 0, 0)},
                                .out = {GSH_FLOAT64}};
    group.steps[1] = group.steps[0];
    group.steps[1].op = GSH_OP_DIVIDE;
    group.steps[1].in[1] = from(GSH_FROM_STEP, 0, 0);
    group.constants[1] = (struct gsh_group_constant){.dtype = GSH_INT16, .value = {.i16 = 5000}};
    group.steps[2] = group.steps[0];
    group.steps[2].op = GSH_OP_GREATER;
    group.steps[2].in[1] = from(GSH_FROM_CONSTANT, 1, 0);
    group.steps[2].out[0] = GSH_BOOL;
    group.step_count = 3;
    group.stores[0] =
        (struct gsh_group_store){.from = from(GSH_FROM_STEP, 1, 0), .array = (uint8_t)out};
    group.store_count = 1;
    group.sink_count = nreduce > 0 ? 3 : 0;
    for (unsigned k = 0; k < group.sink_count; k++) {
        struct gsh_group_sink *sink = &group.sinks[k];
        sink->reduction = k == 1 ? GSH_REDUCE_MAX : GSH_REDUCE_SUM;
        sink->loop = GSH_FLOAT64;
        sink->in = k == 0 ? from(GSH_FROM_STEP, 1, 0) : from(GSH_FROM_ARRAY, in, 0);
        sink->mask = k == 2 ? from(GSH_FROM_STEP, 2, 0) : NOTHING;
        memcpy(sink->strides, group.arrays[in].strides, sizeof sink->strides);
        sink->array = (uint8_t)add_doubles(&group, large_sinks[k]);
    }
    for (int d = ndim - nreduce - 1; d >= 0; kept *= shape[d--])
        for (unsigned k = 0; k < group.sink_count; k++)
            group.arrays[group.sinks[k].array].strides[d] = kept;
    return group;
}

static void fill_large(void)
{
    for (int64_t e = 0; e < LARGE; e++)
        large_in[e] = (double)(pick(2000001) - 1000000) / 777;
    large_in[5] = 6000;
    memset(large_out, 0, sizeof large_out);
    memset(large_sinks, 0, sizeof large_sinks);
}

static bool agree_large(struct gsh_group group, int times)
{
    static double sinks[3][LARGE];
    bool good = true;
    fill_large();
    CHECK_INT(group_reference_run(&group), GSH_OK);
    memcpy(large_expected, large_out, sizeof large_out);
    memcpy(sinks, large_sinks, sizeof sinks);
    gsh_group_collapse(&group);
    for (int k = 0; k < times && good; k++) {
        memset(large_out, 0, sizeof large_out);
        memset(large_sinks, 0, sizeof large_sinks);
        good = CHECK_INT(gsh_host_group_run(&group), GSH_OK) &&
               CHECK(memcmp(large_out, large_expected, sizeof large_out) == 0) &&
               CHECK(memcmp(large_sinks, sinks, sizeof sinks) == 0);
    }
    return good;
}

static void check_large(void)
{
    static const struct {
        int ndim, nreduce;
        bool transposed;
        int64_t shape[3];
    } rows[] = {
        {1, 0, false, {LARGE}},       /* no sinks */
        {2, 0, true, {600, 500}},     /* likewise, contiguous the other way */
        {1, 1, false, {LARGE}},       /* one row in parts, and what is left */
        {2, 1, false, {3, 100000}},   /* a few rows in parts */
        {2, 1, false, {1000, 300}},   /* many rows */
        {2, 1, true, {100, 3000}},    /* columns in parts */
        {2, 1, true, {20000, 15}},    /* many columns */
        {3, 2, true, {40, 75, 100}},  /* columns of two dimensions */
        {3, 1, false, {300, 5, 200}}, /* rows of two kept dimensions */
    };
    for (size_t k = 0; k < GSH_COUNT(rows); k++)
        if (!agree_large(
                make_large(rows[k].ndim, rows[k].shape, rows[k].nreduce, rows[k].transposed), 10))
            fprintf(stderr, "large group %zu\n", k);
}

/* A launch is the group of one step or sink, also in place, under a mask, with the index. */
static void check_launches(void)
{
    static bool mask[LARGE];
    static const enum gsh_op ops[] = {GSH_OP_ADD, GSH_OP_ARANGE};
    for (size_t k = 0; k < GSH_COUNT(ops) * 4; k++) {
        struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                    .op = ops[k / 4],
                                    .loop = GSH_FLOAT64,
                                    .nin = 2,
                                    .nout = 1,
                                    .has_mask = k % 2 == 1,
                                    .ndim = 2,
                                    .shape = {1000, LARGE / 1000},
                                    .strides = {{8, 8000}, {0, 0}, {8, 8000}, {1, 1000}}};
        launch.operands[0] = (struct gsh_operand){
            .dtype = GSH_FLOAT64,
            .address = (uintptr_t)(k % 4 < 2 ? large_in : large_out)}; /* in place */
        launch.operands[1] =
            (struct gsh_operand){.dtype = GSH_UINT8, .is_constant = true, .constant = {.u8 = 5}};
        launch.operands[2] =
            (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uintptr_t)large_out};
        launch.operands[3] = (struct gsh_operand){.dtype = GSH_BOOL, .address = (uintptr_t)mask};
        fill_large();
        for (int64_t e = 0; e < LARGE; e++)
            mask[e] = chance(50);
        CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
        memcpy(large_expected, large_out, sizeof large_out);
        memset(large_out, 0, sizeof large_out);
        CHECK_INT(gsh_host_group_run_launch(&launch), GSH_OK);
        CHECK(memcmp(large_expected, large_out, sizeof large_out) == 0);
    }
    struct gsh_launch sum = {.kind = GSH_LAUNCH_REDUCE,
                             .reduction = GSH_REDUCE_SUM,
                             .loop = GSH_FLOAT64,
                             .nin = 1,
                             .nout = 1,
                             .has_mask = true,
                             .has_initial = true,
                             .initial = {.f64 = 7},
                             .ndim = 2,
                             .nreduce = 1,
                             .shape = {3, 100000},
                             .strides = {{800000, 8}, {8, 0}, {100000, 1}}};
    double expected_sums[3], sums[3];
    sum.operands[0] = (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uintptr_t)large_in};
    sum.operands[1] =
        (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uintptr_t)expected_sums};
    sum.operands[2] = (struct gsh_operand){.dtype = GSH_BOOL, .address = (uintptr_t)mask};
    CHECK_INT(gsh_host_ops_run(&sum), GSH_OK);
    sum.operands[1].address = (uintptr_t)sums;
    CHECK_INT(gsh_host_group_run_launch(&sum), GSH_OK);
    CHECK(memcmp(sums, expected_sums, sizeof sums) == 0);
}

/* Each kind of error is reported once, with the inputs of one element, whichever thread meets it. */
static void check_large_errors(void)
{
    static uint64_t claims[GSH_ERROR_KINDS];
    static struct gsh_errors_found errors;
    int64_t shape = LARGE;
    struct gsh_group group = make_large(1, &shape, 0, false);
    fill_large();
    for (int64_t e = 100; e < LARGE; e += 1000)
        large_in[e] = -1;
    for (uint64_t k = 1; k <= 20; k++) {
        group.steps[1].errors = (struct gsh_error_sink){
            .claims = (uintptr_t)claims, .found = (uintptr_t)&errors, .sequence = k};
        memset(&errors, 0xff, sizeof errors);
        CHECK_INT(gsh_host_group_run(&group), GSH_OK);
        CHECK_INT(claims[GSH_ERROR_POLE], k);
        CHECK_INT(errors.found[GSH_ERROR_POLE].sequence, k);
        CHECK(errors.found[GSH_ERROR_POLE].inputs[0].f64 == -1);
        CHECK(errors.found[GSH_ERROR_POLE].inputs[1].f64 == 0);
        CHECK_INT(claims[GSH_ERROR_INVALID], 0);
    }
}

static int count_threads(bool *blocked)
{
    int count = 0;
    *blocked = true;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        char path[300], line[200];
        unsigned long long mask = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        FILE *status = task->d_name[0] != '.' ? fopen(path, "r") : NULL;
        if (status == NULL)
            continue;
        while (fgets(line, sizeof line, status) != NULL)
            sscanf(line, "SigBlk: %llx", &mask);
        fclose(status);
        count++;
        bool is_main = atoi(task->d_name) == getpid();
        *blocked =
            *blocked &&
            (is_main || ((mask >> (SIGINT - 1) & 1) == 1 && (mask >> (SIGSEGV - 1) & 1) == 0));
    }
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

/* Signals go to the threads of the application, and a forked child has helpers of its own. */
static void check_threads(void)
{
    bool blocked;
#ifdef __SANITIZE_THREAD__
    return; /* has a thread of its own, and none may be started after fork */
#endif
    CHECK_INT(count_threads(&blocked), gsh_host_threads_count());
    CHECK(blocked);
    pid_t child = fork();
    if (child == 0) {
        gsh_host_threads_reset_after_fork();
        alarm(60);
        int64_t shape = LARGE;
        bool good = agree_large(make_large(1, &shape, 1, false), 10);
        _exit(good && count_threads(&blocked) == (int)gsh_host_threads_count() ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
}

struct caller {
    struct gsh_group group;
    double out[LARGE];
    bool good;
};

static void *call(void *argument)
{
    struct caller *caller = argument;
    for (int k = 0; k < 20 && caller->good; k++) {
        memset(caller->out, 0, sizeof caller->out);
        caller->good = gsh_host_group_run(&caller->group) == GSH_OK &&
                       memcmp(caller->out, large_expected, sizeof caller->out) == 0;
    }
    return NULL;
}

/* Two threads at once: the helpers are one's, the other goes alone. */
static void check_callers(void)
{
    static struct caller callers[2];
    pthread_t threads[2];
    int64_t shape = LARGE;
    CHECK(agree_large(make_large(1, &shape, 0, false), 1));
    for (int k = 0; k < 2; k++) {
        callers[k].group = make_large(1, &shape, 0, false);
        callers[k].group.arrays[1].address = (uintptr_t)callers[k].out;
        callers[k].good = true;
        CHECK_INT(pthread_create(&threads[k], NULL, call, &callers[k]), 0);
    }
    for (int k = 0; k < 2; k++) {
        pthread_join(threads[k], NULL);
        CHECK(callers[k].good);
    }
}

static void check_declines(void)
{
    int64_t shape = 10;
    struct gsh_group group = make_large(1, &shape, 1, false);
    CHECK(gsh_host_group_supports(&group));
    group.sinks[0].reduction = GSH_REDUCE_ARGMAX;
    CHECK(!gsh_host_group_supports(&group));
    CHECK_INT(gsh_host_group_run(&group), GSH_DECLINED);
    group = make_large(1, &shape, 0, false);
    group.steps[0].loop = GSH_BOOL;
    group.steps[0].op = GSH_OP_SUBTRACT;
    CHECK_INT(gsh_host_group_run(&group), GSH_DECLINED);
    shape = 0; /* an empty sum is its beginning, an empty maximum has none */
    group = make_large(1, &shape, 1, false);
    CHECK_INT(gsh_host_group_run(&group), GSH_DECLINED);
    group.sink_count = 1; /* the sum */
    large_sinks[0][0] = 3;
    CHECK_INT(gsh_host_group_run(&group), GSH_OK);
    CHECK(large_sinks[0][0] == 0);
}

/* Dimensions that all arrays and sinks step through as one are merged, kept and reduced ones apart. */
static void check_collapse(void)
{
    struct gsh_group group = make_large(4, (int64_t[]){2, 1, 3, 5}, 2, false);
    gsh_group_collapse(&group);
    CHECK_INT(group.ndim, 2);
    CHECK_INT(group.nreduce, 1);
    CHECK_INT(group.shape[0], 2);
    CHECK_INT(group.shape[1], 15);
    CHECK_INT(group.arrays[0].strides[0], 120);
    CHECK_INT(group.arrays[0].strides[1], 8);
    CHECK_INT(group.sinks[1].strides[1], 8);
    group = make_large(2, (int64_t[]){4, 6}, 0, false);
    group.arrays[0].strides[0] = 0;
    gsh_group_collapse(&group);
    CHECK_INT(group.ndim, 2);
    group = make_large(2, (int64_t[]){4, 6}, 2, false);
    group.sinks[0].strides[0] = 8, group.sinks[0].strides[1] = 32;
    gsh_group_collapse(&group);
    CHECK_INT(group.ndim, 2);
    CHECK_INT(gsh_group_elements(&group), 24);
}

int main(void)
{
    setenv("GPUSHIM_HOST_THREADS", "3", 1);
    gsh_options_init();
    check_collapse();
    check_declines();
    check_random();
    check_reported_inputs();
    check_large();
    check_launches();
    check_large_errors();
    check_threads();
    check_callers();
    return check_result();
}
