/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of groups: what a key does and does not depend on, geometry, arguments, what is declined.
 * What the texts compute is tests/conformance/group_vs_launches.py's business.
 */
#include "check.h"
#include "source.h"

#include <string.h>

static struct gsh_source_plan plan;
static char text[1 << 17];

static struct gsh_group_input from(enum gsh_group_source source, unsigned index)
{
    return (struct gsh_group_input){(uint8_t)source, (uint8_t)index, 0};
}

/* c = a * b + 3 over `n` elements of float64. */
static struct gsh_group make(int64_t n)
{
    struct gsh_group group = {.ndim = 1,
                              .shape = {n},
                              .array_count = 3,
                              .constant_count = 1,
                              .step_count = 2,
                              .store_count = 1,
                              .constants = {{GSH_FLOAT64, {.f64 = 3}}},
                              .stores = {{from(GSH_FROM_STEP, 1), 2}}};
    for (unsigned k = 0; k < 3; k++)
        group.arrays[k] = (struct gsh_group_array){
            .dtype = GSH_FLOAT64, .address = 4096 * (k + 1), .strides = {8}};
    group.steps[0] =
        (struct gsh_group_step){.op = GSH_OP_MULTIPLY,
                                .loop = GSH_FLOAT64,
                                .in = {from(GSH_FROM_ARRAY, 0), from(GSH_FROM_ARRAY, 1)},
                                .out = {GSH_FLOAT64}};
    group.steps[1] =
        (struct gsh_group_step){.op = GSH_OP_ADD,
                                .loop = GSH_FLOAT64,
                                .in = {from(GSH_FROM_STEP, 0), from(GSH_FROM_CONSTANT, 0)},
                                .out = {GSH_FLOAT64}};
    return group;
}

/* As 100 rows, each with a gap behind it. */
static struct gsh_group make_rows(int64_t columns)
{
    struct gsh_group group = make(100);
    group.ndim = 2;
    group.shape[1] = columns;
    for (unsigned k = 0; k < 3; k++) {
        group.arrays[k].strides[0] = columns * 8 + 64;
        group.arrays[k].strides[1] = 8;
    }
    return group;
}

static uint64_t argument(unsigned word)
{
    uint64_t value;
    memcpy(&value, plan.stages[0].arguments + 8 * word, 8);
    return value;
}

static const char *key_of(const struct gsh_group *group)
{
    static char keys[2][GSH_SOURCE_KEY_SIZE];
    static int turn;
    CHECK_INT(gsh_source_group_plan(group, 0, &plan), GSH_OK);
    turn = !turn;
    memcpy(keys[turn], plan.stages[0].key, sizeof(keys[turn]));
    return keys[turn];
}

static const char *text_of(const struct gsh_group *group)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof(text));
    gsh_source_group_text(group, 0, &fmt);
    CHECK(fmt.required == fmt.length);
    return text;
}

static void check_arguments(void)
{
    struct gsh_group group = make(100000001);
    (void)key_of(&group);
    CHECK_INT(plan.stage_count, 1);
    CHECK_INT(argument(0), 100000001);
    CHECK_INT(argument(3), 3 * 4096);
    CHECK_INT(argument(5), 0x4008000000000000); /* behind the word of no index array */
    CHECK((int64_t)plan.stages[0].grid[0] * 256 * 2 * 2 >= 100000001);
}

/* Sizes, addresses and values of constants are arguments. */
static void check_same_key(void)
{
    struct gsh_group group = make(1000), other = make(777777);
    other.constants[0].value.f64 = -1;
    other.arrays[1].address += 160;
    CHECK_STR(key_of(&group), key_of(&other));
    group = make_rows(64);
    other = make_rows(1024);
    CHECK_STR(key_of(&group), key_of(&other));
}

#define CHECK_DIFFERS(change)                                                                      \
    do {                                                                                           \
        struct gsh_group plain = make(1000), other = plain;                                        \
        change;                                                                                    \
        CHECK(strcmp(key_of(&plain), key_of(&other)) != 0);                                        \
    } while (0)

static void check_other_keys(void)
{
    CHECK_DIFFERS(other.steps[0].op = GSH_OP_ADD);
    CHECK_DIFFERS(other.steps[0].in[0].index = 1);
    CHECK_DIFFERS(other.steps[1].in[1] = from(GSH_FROM_ARRAY, 0));
    CHECK_DIFFERS(other.steps[1].out[0] = other.arrays[2].dtype = GSH_FLOAT32;
                  other.arrays[2].strides[0] = 4);
    CHECK_DIFFERS(other.constants[0].dtype = GSH_INT64);
    CHECK_DIFFERS(other.arrays[0].address += 8); /* no packs */
    CHECK_DIFFERS(other.arrays[0].strides[0] = 0);
    CHECK_DIFFERS(other.arrays[0].strides[0] = 16);
    CHECK_DIFFERS(other.shape[0] = INT64_C(1) << 32);
    CHECK_DIFFERS(other.steps[1].errors.claims = 4096);
    CHECK_DIFFERS(other.stores[0].from.index = 0);
    CHECK_DIFFERS(other.steps[1].mask = from(GSH_FROM_ARRAY, 0);
                  other.steps[1].old[0] = from(GSH_FROM_ARRAY, 1));
}

/* Arrays of equal strides share an offset. */
static void check_tracks(void)
{
    struct gsh_group group = make_rows(64);
    CHECK(strstr(text_of(&group), "TRACKS = 1;") != NULL);
    CHECK(strstr(text, "VECTOR = 2,") != NULL);
    group.arrays[1].strides[1] = 0;
    CHECK(strstr(text_of(&group), "TRACKS = 2;") != NULL);
    CHECK(strstr(text, "Pack<double, 1> a1;") != NULL); /* one value a row */
}

static void check_text(void)
{
    struct gsh_group group = make(1000);
    CHECK(strstr(text_of(&group), "gsh_times(a, b)") != NULL);
    CHECK(strstr(text, "#define ERRORS 0") != NULL);
    group.steps[1].in[0] = group.steps[1].in[1];
    group.steps[0].op = GSH_OP_ADD;
    CHECK(strstr(text_of(&group), "void op0_add(") != NULL);
    CHECK(strstr(text, "void op1_add(") == NULL); /* steps of one op share a function */
    group.steps[0].errors.claims = 4096;
    CHECK(strstr(text_of(&group), "#define ERRORS 1") != NULL);
    group.steps[0].op = GSH_OP_LESS;
    group.steps[0].out[0] = GSH_BOOL;
    CHECK(strstr(text_of(&group), "#define ERRORS 0") != NULL); /* it cannot fail */
}

static void check_declined(void)
{
    struct gsh_group group = make(1000);
    group.steps[0].loop = GSH_BOOL;
    group.steps[0].op = GSH_OP_SUBTRACT;
    CHECK_INT(gsh_source_group_plan(&group, 0, &plan), GSH_DECLINED);
    group = make(1000);
    group.steps[0].in[0] = from(GSH_FROM_STEP, 1); /* not computed yet */
    CHECK_INT(gsh_source_group_plan(&group, 0, &plan), GSH_DECLINED);
    group = make(1000);
    group.steps[1].mask = from(GSH_FROM_ARRAY, 0); /* and no old values */
    CHECK_INT(gsh_source_group_plan(&group, 0, &plan), GSH_DECLINED);
}

#define CHECK_NOTED(change)                                                                        \
    do {                                                                                           \
        struct gsh_group group = make(1000);                                                       \
        change;                                                                                    \
        CHECK(strstr(text_of(&group), "op0_multiply(path.at(") != NULL);                           \
    } while (0)

/* A step's special results are not noted where a later one's show them. */
static void check_notes(void)
{
    struct gsh_group plain = make(1000);
    CHECK(strstr(text_of(&plain), "op0_multiply(path.passing(") != NULL);
    CHECK(strstr(text, "op1_add(path.at(") != NULL);
    CHECK_NOTED(group.steps[1].op = GSH_OP_DIVIDE);
    CHECK_NOTED(group.steps[1].op = GSH_OP_FMAX);
    CHECK_NOTED(group.steps[1].loop = group.steps[1].out[0] = group.arrays[2].dtype = GSH_INT64);
    CHECK_NOTED(group.steps[0].out[0] = GSH_INT64);
    CHECK_NOTED(group.steps[0].loop = GSH_INT64); /* a division by zero gives 0 */
    CHECK_NOTED(group.steps[1].in[0] = from(GSH_FROM_ARRAY, 0));
    CHECK_NOTED(group.steps[1].mask = from(GSH_FROM_ARRAY, 0);
                group.steps[1].old[0] = from(GSH_FROM_ARRAY, 1));
}

int main(void)
{
    check_arguments();
    check_same_key();
    check_other_keys();
    check_tracks();
    check_text();
    check_notes();
    check_declined();
    return check_result();
}
