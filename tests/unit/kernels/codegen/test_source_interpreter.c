/* SPDX-License-Identifier: Apache-2.0
 *
 * Which groups the interpreter takes, and the geometry of its launches. What a program computes is the business of
 * tests/conformance/interpreter_vs_groups.py.
 */
#include "check.h"
#include "source_interpreter.h"

#include <string.h>

static struct gsh_source_stage stage;

static struct gsh_group_input from(enum gsh_group_source source, unsigned index)
{
    return (struct gsh_group_input){(uint8_t)source, (uint8_t)index, 0};
}

/* c = a op b over `n` elements. */
static struct gsh_group make(enum gsh_op op, enum gsh_dtype dtype, int64_t n)
{
    struct gsh_group group = {.ndim = 1,
                              .shape = {n},
                              .array_count = 3,
                              .step_count = 1,
                              .store_count = 1,
                              .stores = {{from(GSH_FROM_STEP, 0), 2}}};
    for (unsigned k = 0; k < 3; k++)
        group.arrays[k] = (struct gsh_group_array){
            .dtype = dtype, .address = 4096 * (k + 1), .strides = {(int64_t)gsh_dtype_size(dtype)}};
    group.steps[0] =
        (struct gsh_group_step){.op = op,
                                .loop = dtype,
                                .in = {from(GSH_FROM_ARRAY, 0), from(GSH_FROM_ARRAY, 1)},
                                .out = {dtype}};
    return group;
}

static bool takes(const struct gsh_group *group)
{
    bool is_taken = gsh_source_interpreter_takes(group);
    CHECK(is_taken == (gsh_source_interpreter_plan(group, &stage) == GSH_OK));
    return is_taken;
}

static bool takes_op(enum gsh_op op, enum gsh_dtype dtype)
{
    struct gsh_group group = make(op, dtype, 1000);
    return takes(&group);
}

static void check_ops(void)
{
    CHECK(takes_op(GSH_OP_ADD, GSH_FLOAT64) && takes_op(GSH_OP_POWER, GSH_FLOAT32));
    CHECK(takes_op(GSH_OP_MULTIPLY, GSH_INT64) && takes_op(GSH_OP_BITWISE_AND, GSH_BOOL));
    CHECK(!takes_op(GSH_OP_ADD, GSH_FLOAT16) && !takes_op(GSH_OP_ADD, GSH_COMPLEX64));
    CHECK(takes_op(GSH_OP_ADD, GSH_INT8) && !takes_op(GSH_OP_LEFT_SHIFT, GSH_INT8));
    CHECK(!takes_op(GSH_OP_ADD, GSH_UINT64) && !takes_op(GSH_OP_LDEXP, GSH_FLOAT64));
    CHECK(!takes_op(GSH_OP_FLOOR_DIVIDE, GSH_INT64) && takes_op(GSH_OP_FLOOR_DIVIDE, GSH_FLOAT64));
}

static void check_spaces(void)
{
    struct gsh_group group = make(GSH_OP_ADD, GSH_FLOAT64, 1000);
    group.sink_count = 1;
    CHECK(!takes(&group));
    group = make(GSH_OP_ADD, GSH_FLOAT64, INT64_C(1) << 31);
    CHECK(!takes(&group));
    group = make(GSH_OP_ADD, GSH_FLOAT64, INT32_MAX);
    CHECK(takes(&group));
    group = make(GSH_OP_ADD, GSH_FLOAT64, 2);
    group.ndim = 5;
    for (int d = 1; d < 5; d++)
        group.shape[d] = 2;
    CHECK(!takes(&group));
}

/* A sum that is cast to a narrower dtype: no errors are looked for. A copy may look for them. */
static void check_casts(void)
{
    struct gsh_group group = make(GSH_OP_ADD, GSH_FLOAT64, 1000);
    group.steps[0].out[0] = group.arrays[2].dtype = GSH_FLOAT32;
    CHECK(takes(&group));
    group.steps[0].errors = (struct gsh_error_sink){1, 1, 1};
    CHECK(!takes(&group));
    group.steps[0].op = GSH_OP_COPY;
    CHECK(takes(&group));
}

/* The sum of all steps is stored: as many slots as steps. */
static unsigned threads_of(unsigned steps)
{
    struct gsh_group group = make(GSH_OP_ADD, GSH_FLOAT64, 1000);
    for (unsigned s = 1; s < steps; s++)
        group.steps[s] = group.steps[0];
    for (unsigned s = steps; s < 2 * steps - 1; s++) {
        group.steps[s] = group.steps[0];
        group.steps[s].in[0] = from(GSH_FROM_STEP, s - 1);
        group.steps[s].in[1] = from(GSH_FROM_STEP, 2 * steps - 2 - s);
    }
    group.step_count = 2 * steps - 1;
    group.stores[0].from = from(GSH_FROM_STEP, group.step_count - 1);
    CHECK_INT(gsh_source_interpreter_plan(&group, &stage), GSH_OK);
    CHECK(stage.shared_bytes <= 48 << 10);
    CHECK_INT(stage.grid[0], (1000 + stage.block[0] * 4 - 1) / (stage.block[0] * 4));
    return stage.block[0];
}

static void check_geometry(void)
{
    CHECK_INT(threads_of(1), 256);
    CHECK_INT(threads_of(10), 128);
    CHECK_INT(threads_of(20), 64);
    CHECK_STR(stage.key, GSH_SOURCE_INTERPRETER_KEY);
}

int main(void)
{
    check_ops();
    check_spaces();
    check_casts();
    check_geometry();
    return check_result();
}
