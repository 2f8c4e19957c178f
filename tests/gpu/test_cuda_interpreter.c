/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups in the interpreter, against the kernels that are compiled for them: every byte of their arrays but those of NaN, and the
 * kinds of floating-point errors. First every operation and loop that the interpreter has in several layouts, then random groups.
 * `speed` compares times. `--shard K/N` runs a share of the cases. Skipped where no GPU is.
 */
#include "clock.h"
#include "cuda_context.h"
#include "cuda_module.h"
#include "group_random.h"
#include "open_gpu.h"
#include "shard.h"
#include "source_interpreter_table.h"

#include <math.h>

#define RANDOM_GROUPS 240
#define CONTENTS 2
#define SWEPT 8 /* operations of a group */

/* The own kernel's side, and the interpreter's. */
static struct side {
    struct random_group work;
    char *pool;                     /* of the host */
    uint64_t device, claims;        /* the pool and the claims on the device */
    struct gsh_errors_found *found; /* mapped, of every step */
    uint64_t found_device;
} sides[2];

static bool open_side(struct side *side)
{
    size_t places = GSH_GROUP_STEPS + GSH_GROUP_SINKS;
    side->pool = aligned_alloc(256, POOL_BYTES);
    side->found = dev->map_host(places * sizeof *side->found, &side->found_device);
    return CHECK(side->pool != NULL && side->found != NULL) &&
           CHECK(dev->allocate(POOL_BYTES, &side->device) == GSH_OK) &&
           CHECK(dev->allocate(places * sizeof side->work.claims[0], &side->claims) == GSH_OK);
}

/* Moves the group that was made in the host's pool to the device. */
static void upload_side(struct side *side)
{
    struct gsh_group *group = &side->work.group;
    for (unsigned k = 0; k < group->array_count; k++)
        if (!group->arrays[k].is_index)
            group->arrays[k].address += side->device - (uintptr_t)side->pool;
    for (unsigned s = 0; s < group->step_count; s++)
        if (group->steps[s].errors.claims != 0) {
            group->steps[s].errors.claims = side->claims + s * sizeof side->work.claims[0];
            group->steps[s].errors.found = side->found_device + s * sizeof *side->found;
        }
    memset(side->found, 0, GSH_GROUP_STEPS * sizeof *side->found);
    CHECK(dev->clear(side->claims, sizeof side->work.claims) == GSH_OK);
    CHECK(dev->upload(side->device, side->pool, POOL_BYTES, false) == GSH_OK);
}

static void write_interpreter(const void *unused, struct gsh_fmt *fmt)
{
    (void)unused;
    gsh_source_interpreter_text(fmt);
}

/* DECLINED where the interpreter does not take it. */
static enum gsh_status interpret(const struct gsh_group *group)
{
    struct gsh_source_stage stage;
    GSH_TRY(gsh_source_interpreter_plan(group, &stage));
    GSH_TRY(gsh_cuda_context_enter());
    enum gsh_status status = gsh_cuda_module_launch_text(&stage, write_interpreter, NULL);
    gsh_cuda_context_leave();
    return status;
}

/* The step that stored the array around the byte, and the eight bytes around it of both sides. */
static void describe_difference(const struct gsh_group *group, size_t at)
{
    uint64_t address = sides[0].device + at, own, interpreted;
    const struct gsh_group_store *nearest = NULL;
    for (unsigned k = 0; k < group->store_count; k++) {
        uint64_t base = group->arrays[group->stores[k].array].address;
        if (base <= address && (nearest == NULL || base > group->arrays[nearest->array].address))
            nearest = &group->stores[k];
    }
    memcpy(&own, sides[0].pool + at / 8 * 8, sizeof own);
    memcpy(&interpreted, sides[1].pool + at / 8 * 8, sizeof interpreted);
    fprintf(stderr, "  %s: own kernel %016llx, interpreter %016llx\n",
            nearest == NULL || nearest->from.source != GSH_FROM_STEP
                ? "-"
                : gsh_op_info(group->steps[nearest->from.index].op)->name,
            (unsigned long long)own, (unsigned long long)interpreted);
}

static bool is_nan(const char *bytes, size_t size)
{
    double wide;
    float narrow;
    memcpy(&wide, bytes, sizeof wide);
    memcpy(&narrow, bytes, sizeof narrow);
    return size == sizeof wide ? isnan(wide) : isnan(narrow);
}

/* Whether both sides have a NaN around the byte: which of several NaN a result is depends on the code around the operation. */
static bool are_nan(size_t at)
{
    for (size_t size = sizeof(float); size <= sizeof(double); size *= 2)
        if (is_nan(sides[0].pool + at / size * size, size) &&
            is_nan(sides[1].pool + at / size * size, size))
            return true;
    return false;
}

static void compare_sides(const char *what, uint64_t number)
{
    const struct gsh_group *group = &sides[0].work.group;
    size_t at = 0;
    for (int i = 0; i < 2; i++)
        CHECK(dev->download(sides[i].pool, sides[i].device, POOL_BYTES, false) == GSH_OK);
    while (at < POOL_BYTES && (sides[0].pool[at] == sides[1].pool[at] || are_nan(at)))
        at++;
    bool is_same = CHECK_INT(at, POOL_BYTES);
    if (!is_same)
        describe_difference(group, at);
    for (unsigned s = 0; s < group->step_count; s++)
        for (int kind = 0; kind < GSH_ERROR_KINDS; kind++)
            is_same = CHECK_INT(sides[1].found[s].found[kind].sequence,
                                sides[0].found[s].found[kind].sequence) &&
                      is_same;
    if (is_same)
        return;
    fprintf(stderr, "  %s %llu:", what, (unsigned long long)number);
    for (unsigned s = 0; s < group->step_count; s++)
        fprintf(stderr, " %s of %s", gsh_op_info(group->steps[s].op)->name,
                gsh_dtype_name(group->steps[s].loop));
    fprintf(stderr, "\n");
}

/* Runs the group that both sides have; false: it is declined. */
static bool run_sides(const char *what, uint64_t number)
{
    for (int i = 0; i < 2; i++)
        upload_side(&sides[i]);
    enum gsh_status status = interpret(&sides[1].work.group);
    if (status == GSH_DECLINED)
        return false;
    CHECK_INT(status, GSH_OK);
    CHECK_INT(dev->run_group(&sides[0].work.group, 0, NULL, NULL), GSH_OK);
    CHECK(dev->synchronize() == GSH_OK);
    compare_sides(what, number);
    return true;
}

/* ---- every operation ---- */

static const struct form {
    int ndim;
    int64_t shape[3];
    int layout; /* of random_layout */
} forms[] = {
    {1, {4099}, 0}, {2, {37, 64}, 0}, {3, {5, 7, 9}, 1}, {2, {33, 36}, 3}, {2, {20, 64}, 2}};

/* The index, three arrays of the loop's dtype, a mask. */
static void make_arrays(struct random_group *work, char *pool, enum gsh_dtype loop,
                        const struct form *form)
{
    memset(work, 0, sizeof *work);
    memset(pool, 0x55, POOL_BYTES);
    work->pool = pool;
    work->scale = 1;
    work->structure = work->contents = (uint64_t)loop + 77;
    work->group.ndim = form->ndim;
    memcpy(work->group.shape, form->shape, sizeof form->shape);
    work->group.array_count = (unsigned)(work->read_count = 5);
    random_index(work);
    for (int k = 1; k < 5; k++) {
        work->group.arrays[k].dtype = k == 4 ? GSH_BOOL : loop;
        random_layout(work, &work->group.arrays[k], true, form->layout);
    }
}

static void add_swept(struct random_group *work, enum gsh_op op, enum gsh_dtype loop)
{
    struct gsh_group *group = &work->group;
    const struct gsh_op_info *info = gsh_op_info(op);
    struct gsh_group_step *step = &group->steps[group->step_count];
    *step = (struct gsh_group_step){.op = op, .loop = loop};
    for (unsigned k = 0; k < info->nin; k++)
        step->in[k] = (struct gsh_group_input){
            GSH_FROM_ARRAY, gsh_op_input_dtype(op, loop, k) == loop ? (uint8_t)(k + 1) : 4, 0};
    if ((info->flags & GSH_USES_INDEX) != 0)
        step->index = (struct gsh_group_input){GSH_FROM_ARRAY, 0, 0};
    for (unsigned j = 0; j < info->nout; j++)
        step->out[j] = gsh_op_output_dtype(op, loop, j);
    if (step->out[0] == loop && info->nout == 1 && group->step_count % 3 == 2) {
        step->mask = (struct gsh_group_input){GSH_FROM_ARRAY, 4, 0};
        step->old[0] = (struct gsh_group_input){GSH_FROM_ARRAY, 3, 0};
    }
    if (op != GSH_OP_ROUND)
        step->errors = random_errors(work, group->step_count);
    group->step_count++;
}

static void store_swept(struct random_group *work, const struct form *form)
{
    struct gsh_group *group = &work->group;
    for (unsigned s = 0; s < group->step_count; s++)
        for (unsigned j = 0;
             j < gsh_op_info(group->steps[s].op)->nout && group->store_count < GSH_GROUP_STORES;
             j++) {
            struct gsh_group_array *array = &group->arrays[group->array_count];
            array->dtype = group->steps[s].out[j];
            random_layout(work, array, false, form->layout);
            group->stores[group->store_count++] = (struct gsh_group_store){
                {GSH_FROM_STEP, (uint8_t)s, (uint8_t)j}, (uint8_t)group->array_count++};
        }
}

static bool is_swept(int op, enum gsh_dtype loop)
{
    bool is_move = op == GSH_OP_SELECT || op == GSH_OP_COPY;
    return (is_move && gsh_source_interpreter_table_holds(loop)) ||
           gsh_source_interpreter_table_has((enum gsh_op)op, 0, loop);
}

/* A group of the next operations from `op` on; returns the one behind them. */
static int make_swept(struct side *side, enum gsh_dtype loop, const struct form *form, int op)
{
    make_arrays(&side->work, side->pool, loop, form);
    unsigned outputs = 0;
    for (; op < GSH_OP_COUNT && side->work.group.step_count < SWEPT; op++)
        if (is_swept(op, loop)) {
            outputs += gsh_op_info((enum gsh_op)op)->nout;
            if (outputs > GSH_GROUP_STORES)
                break;
            add_swept(&side->work, (enum gsh_op)op, loop);
        }
    store_swept(&side->work, form);
    return op;
}

static void test_every_op(void)
{
    for (size_t f = 0; f < GSH_COUNT(forms); f++)
        for (int dtype = 0; dtype < GSH_DTYPE_COUNT; dtype++)
            for (int op = 0, next; op < GSH_OP_COUNT; op = next) {
                enum gsh_dtype loop = (enum gsh_dtype)dtype;
                next = make_swept(&sides[0], loop, &forms[f], op);
                if (sides[0].work.group.step_count == 0 || !shard_takes_case())
                    continue;
                make_swept(&sides[1], loop, &forms[f], op);
                CHECK(run_sides("operations from", (uint64_t)op));
            }
}

/* ---- random groups ---- */

static void test_random(void)
{
    unsigned declined = 0, ran = 0;
    random_dtypes = GSH_SET_ALL & ~(unsigned)(GSH_SET_COMPLEX | 1 << GSH_FLOAT16);
    for (uint64_t structure = 0; structure < RANDOM_GROUPS; structure++)
        for (uint64_t contents = 0; contents < CONTENTS; contents++) {
            if (!shard_takes_case())
                continue;
            random_is_inexact = structure % 2 != 0;
            for (int i = 0; i < 2; i++)
                random_group_make(&sides[i].work, sides[i].pool, structure, contents, false);
            bool is_taken = run_sides("random group", structure);
            ran += is_taken;
            declined += !is_taken;
        }
    printf("random groups: %u ran, %u declined\n", ran, declined);
}

/* ---- speed ---- */

#define SPEED_ELEMENTS ((int64_t)100 << 20)
#define REPEATS 12

static double seconds_of(enum gsh_status (*run)(const struct gsh_group *group),
                         const struct gsh_group *group)
{
    double least = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        uint64_t start = gsh_clock_ns();
        CHECK(run(group) == GSH_OK && dev->synchronize() == GSH_OK);
        least = GSH_MIN(least, (double)(gsh_clock_ns() - start) * 1e-9);
    }
    return least;
}

static enum gsh_status run_own(const struct gsh_group *group)
{
    return dev->run_group(group, 0, NULL, NULL);
}

static void put_step(struct gsh_group *group, enum gsh_op op, struct gsh_group_input a,
                     struct gsh_group_input b)
{
    struct gsh_group_step *step = &group->steps[group->step_count++];
    *step = (struct gsh_group_step){
        .op = op, .loop = group->arrays[0].dtype, .in = {a, b}, .out = {group->arrays[0].dtype}};
}

/* A letter a step: + - * / of the step before and an array, s q e: sin, sqrt, exp of the step before. */
static void time_chain(const char *chain, enum gsh_dtype dtype, const uint64_t *buffers)
{
    static const char letters[] = "+-*/sqe";
    static const enum gsh_op ops[] = {GSH_OP_ADD, GSH_OP_SUBTRACT, GSH_OP_MULTIPLY, GSH_OP_DIVIDE,
                                      GSH_OP_SIN, GSH_OP_SQRT,     GSH_OP_EXP};
    struct gsh_group group = {.ndim = 1, .shape = {SPEED_ELEMENTS}, .array_count = 3};
    for (int k = 0; k < 3; k++)
        group.arrays[k] = (struct gsh_group_array){.dtype = dtype, .address = buffers[k]};
    for (int k = 0; k < 3; k++)
        group.arrays[k].strides[0] = (int64_t)gsh_dtype_size(dtype);
    struct gsh_group_input last = {GSH_FROM_ARRAY, 0, 0};
    for (const char *at = chain; *at != '\0'; at++) {
        put_step(&group, ops[strchr(letters, *at) - letters], last,
                 (struct gsh_group_input){GSH_FROM_ARRAY, (uint8_t)((at - chain) % 2 == 0), 0});
        last = (struct gsh_group_input){GSH_FROM_STEP, (uint8_t)(at - chain), 0};
    }
    group.stores[group.store_count++] = (struct gsh_group_store){last, 2};
    double own = seconds_of(run_own, &group), interpreted = seconds_of(interpret, &group);
    printf("%-26s %-8s own kernel %.3f ms, interpreter %.3f ms, %.2f times\n", chain,
           gsh_dtype_name(dtype), own * 1e3, interpreted * 1e3, interpreted / own);
}

static void time_all(void)
{
    static const char *const chains[] = {"+", "*+/-", "*es*", "q+q*", "+*+*+*+*+*+*+*+*+*+*+*+*"};
    uint64_t buffers[3];
    for (int k = 0; k < 3; k++)
        if (!CHECK(dev->allocate(SPEED_ELEMENTS * 8, &buffers[k]) == GSH_OK) ||
            !CHECK(dev->clear(buffers[k], SPEED_ELEMENTS * 8) == GSH_OK))
            return;
    for (size_t i = 0; i < GSH_COUNT(chains); i++) {
        time_chain(chains[i], GSH_FLOAT64, buffers);
        time_chain(chains[i], GSH_FLOAT32, buffers);
    }
}

static void test_all(void)
{
    if (open_side(&sides[0]) && open_side(&sides[1])) {
        test_every_op();
        test_random();
    }
}

int main(int argc, char **argv)
{
    return shard_main(argc, argv, test_all, time_all);
}
