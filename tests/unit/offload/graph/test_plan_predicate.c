/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains from COMPRESS to EXPAND: which of them run as one group over all elements of the mask, and which are left
 * unchanged because one condition does not hold.
 */
#include "plan_check.h"

static int z, c, m, t, u,
    v; /* values of the chain z[m] = z[m] ** 2 + c[m]; of t, u, v only what m selects */

static int new_mask(int share)
{
    int value = new_value();
    mask_shares[value] = (uint8_t)share;
    return value;
}

static struct view mask(int value)
{
    return view_whole(value, GSH_BOOL, SHAPE(N));
}

static int count_true(int value, int elements)
{
    int count = 0;
    for (int k = 0; k < elements; k++)
        count += is_true(value, k);
    return count;
}

static struct view selected(int value)
{
    return view_whole(value, GSH_FLOAT64, SHAPE(count_true(m, N)));
}

static void compress(struct view in, int value, int out)
{
    program_select(&program, GSH_LAUNCH_COMPRESS, in, selected(out), mask(value));
}

static void expand(int in, int value, struct view out)
{
    program_select(&program, GSH_LAUNCH_EXPAND, selected(in), out, mask(value));
}

static void begin_chain(int share)
{
    begin();
    z = new_wanted(), c = new_wanted(), m = new_mask(share);
    t = new_value(), u = new_value(), v = new_value();
    compress(line(z), m, t);
    compress(line(c), m, u);
}

static void compute(void)
{
    binary(GSH_OP_MULTIPLY, selected(t), selected(t), selected(v));
    add(selected(v), selected(u), selected(v));
}

static void make_chain(void)
{
    begin_chain(2);
    compute();
    expand(v, m, line(z));
}

static void expect_predicated(void)
{
    expect(1, 0, 5, 3, 1);
}

static void expect_left(void)
{
    expect(4, 3, 2, 2, 1);
}

static void check_chain(void)
{
    make_chain();
    expect_predicated();
    program_want(&program, u);
    expect_left(); /* somebody looks at what is selected */
    make_chain();
    sum(selected(v), new_wanted(), 1);
    expect_left(); /* or a node that is not predicated does */
    begin_chain(15);
    compute();
    expand(v, m, line(z));
    expect_predicated();
    begin_chain(20);
    compute();
    expand(v, m, line(z));
    expect_left(); /* few are selected */
}

/* Of two chains one may be predicated, and one that has none of its values is not hindered by it. */
static void check_two_chains(void)
{
    make_chain();
    int s = new_value(), w = new_wanted();
    compress(line(w), m, s);
    add(selected(s), view_constant(1), selected(s));
    expand(s, m, line(w));
    struct plan_counts counts = run();
    CHECK_INT(counts.predicated, 5);
    program_want(&program, s);
    counts = run();
    CHECK_INT(counts.predicated, 3);
    begin_chain(2); /* what is left as it is takes along what it meets */
    s = new_value(), w = new_wanted();
    sum(selected(u), new_wanted(), 1);
    add(selected(t), selected(u), selected(v));
    expand(v, m, line(z));
    compress(line(w), m, s);
    expand(s, m, line(w));
    counts = run();
    CHECK_INT(counts.predicated, 2);
}

/* Both select as many, but not the same. */
static void check_other_masks(void)
{
    begin();
    z = new_wanted(), c = new_wanted(), t = new_value(), u = new_value(), v = new_value();
    m = new_mask(2);
    int other = new_mask(2);
    CHECK(is_true(m, 0) != is_true(other, 0));
    compress(line(z), m, t);
    compress(line(c), other, u);
    compute();
    expand(v, m, line(z));
    expect_left(); /* they meet in the sum */
    program.node_count = 0;
    compress(line(z), m, t);
    compress(line(c), m, u);
    compute();
    expand(v, other, line(z));
    expect_left();
}

/* The mask is written over with another that selects as many: before the EXPAND, or before an operation that looks for
 * errors where it is true. */
static void check_mask_written(void)
{
    for (int place = 0; place < 3; place++) {
        begin_chain(2);
        int other = new_mask(2), same = new_mask(2);
        struct view from = mask(is_true(other, 0) == is_true(m, 0) ? same : other), to = mask(m);
        CHECK(is_true(from.value, 0) != is_true(m, 0));
        if (place == 0) {
            program.node_count = 1;
            program_op(&program, GSH_OP_COPY, GSH_BOOL, &from, &to, NULL);
            compress(line(c), m, u);
            add(selected(u), selected(t), selected(t));
        }
        compute();
        program_check_errors(&program, &program.nodes[program.node_count - 1]);
        if (place == 1)
            program_op(&program, GSH_OP_COPY, GSH_BOOL, &from, &to, NULL);
        expand(v, m, line(z));
        if (place == 2)
            program_op(&program, GSH_OP_COPY, GSH_BOOL, &from, &to, NULL);
        program_want(&program, m);
        struct plan_counts counts = run();
        CHECK_INT(counts.predicated, place == 2 ? 3 : 0);
    }
}

/* An operation that looks for errors, after the mask was written. */
static void check_late_operation(void)
{
    begin_chain(2);
    new_value(); /* every other value is a mask of the other elements */
    int other = new_mask(2);
    struct view from = mask(other), to = mask(m);
    CHECK(is_true(other, 0) != is_true(m, 0));
    expand(t, m, line(c));
    program_op(&program, GSH_OP_COPY, GSH_BOOL, &from, &to, NULL);
    program_check_errors(&program, unary(GSH_OP_SQRT, selected(t), selected(v)));
    CHECK_INT(run().predicated, 0);
}

/* Errors are looked for where the mask is true, and only there. */
static void check_errors(void)
{
    for (int checks_errors = 0; checks_errors < 2; checks_errors++) {
        begin();
        z = new_wanted(), c = new_wanted(), m = new_value();
        t = new_value(), u = new_value(), v = new_value();
        int positive = 0;
        for (int k = 0; k < N; k++)
            positive += first_number(c, k) > 0;
        struct view in[] = {line(c), view_constant(0)}, to = mask(m);
        struct view of_z = view_whole(t, GSH_FLOAT64, SHAPE(positive)), of_c = of_z, out = of_z;
        of_c.value = u, out.value = v;
        program_op(&program, GSH_OP_GREATER, GSH_FLOAT64, in, &to, NULL);
        program_select(&program, GSH_LAUNCH_COMPRESS, line(z), of_z, to);
        program_select(&program, GSH_LAUNCH_COMPRESS, line(c), of_c, to);
        struct gsh_node *divide = binary(GSH_OP_DIVIDE, of_z, of_c, out);
        if (checks_errors)
            program_check_errors(&program, divide);
        program_select(&program, GSH_LAUNCH_EXPAND, out, line(z), to);
        expect(1, 0, 5, 2, 1);
        CHECK(plain_claims[3][GSH_ERROR_POLE] == 0);
    }
    make_chain();
    program_check_errors(&program, &program.nodes[2]);
    program_check_errors(&program, &program.nodes[3]);
    expect_predicated(); /* what is not selected is a constant, not a load */
}

/* What the group's operands must look like. */
static void check_operands(void)
{
    begin_chain(2);
    struct view one = line(c), first = view_sliced(line(c), 0, 0, count_true(m, N), 1);
    one.shape[0] = count_true(m, N);
    one.strides[0] = 0;
    add(selected(t), one, selected(v));
    expand(v, m, line(z));
    expect(1, 0, 3, 3, 1);
    begin_chain(2); /* as many elements, but not those that are selected */
    add(selected(t), first, selected(v));
    expand(v, m, line(z));
    CHECK_INT(run().predicated, 0);
    begin_chain(2); /* in another order */
    add(selected(t), view_sliced(selected(u), 0, 0, count_true(m, N), -1), selected(v));
    expand(v, m, line(z));
    CHECK_INT(run().predicated, 0);
    begin_chain(2); /* fewer of them */
    first.value = t;
    add(view_sliced(first, 0, 0, count_true(m, N) - 1, 1), view_constant(1),
        view_sliced(selected(v), 0, 0, count_true(m, N) - 1, 1));
    expand(v, m, line(z));
    CHECK_INT(run().predicated, 0);
    begin_chain(2); /* the first again and again */
    first.strides[0] = 0;
    add(first, selected(t), selected(v));
    expand(v, m, line(z));
    CHECK_INT(run().predicated, 0);
    begin_chain(2); /* with another type */
    struct view bits = selected(t), out = selected(v);
    bits.dtype = out.dtype = GSH_INT64;
    program_op(&program, GSH_OP_NEGATIVE, GSH_INT64, &bits, &out, NULL);
    program_select(&program, GSH_LAUNCH_EXPAND, out, line(z), mask(m));
    expand(u, m, line(c));
    CHECK_INT(run().predicated, 2);
}

/* Every second element from a value's beginning. */
static struct view every_second(int value)
{
    struct view view = selected(value);
    view.strides[0] = 16;
    return view;
}

/* The same of what an operation, a COMPRESS or an EXPAND takes and leaves. */
static void check_selections(void)
{
    begin_chain(3);
    add(selected(t), view_constant(1), every_second(v));
    program_select(&program, GSH_LAUNCH_EXPAND, every_second(v), line(z), mask(m));
    CHECK_INT(run().predicated, 0);
    begin_chain(3);
    add(selected(t), view_constant(1), every_second(v));
    expand(v, m, line(z));
    CHECK_INT(run().predicated, 0);
    begin_chain(3); /* written over with another type */
    struct view whole_numbers = selected(t);
    whole_numbers.dtype = GSH_INT64;
    add(selected(t), view_constant(1), whole_numbers);
    expand(t, m, line(z));
    expand(u, m, line(c));
    CHECK_INT(run().predicated, 2);
    begin_chain(3);
    program_select(&program, GSH_LAUNCH_EXPAND, every_second(t), line(z), mask(m));
    CHECK_INT(run().predicated, 0);
    begin_chain(3);
    program_select(&program, GSH_LAUNCH_COMPRESS, line(z), every_second(v), mask(m));
    program_select(&program, GSH_LAUNCH_EXPAND, selected(v), line(c), mask(m));
    CHECK_INT(run().predicated, 0);
    begin_chain(3);
    struct view bits = selected(t), target = line(z);
    bits.dtype = GSH_INT64;
    program_select(&program, GSH_LAUNCH_EXPAND, bits, target, mask(m));
    expand(u, m, line(c));
    CHECK_INT(run().predicated, 2); /* the other chain is */
    begin_chain(3);                 /* fewer than are selected */
    struct view fewer = view_sliced(selected(t), 0, 0, count_true(m, N) - 1, 1);
    program_select(&program, GSH_LAUNCH_EXPAND, fewer, line(z), mask(m));
    CHECK_INT(run().predicated, 0);
    begin_chain(3); /* to where another selection lies */
    expand(t, m, line(u));
    expand(u, m, line(z));
    CHECK_INT(run().predicated, 0);
    begin_chain(2); /* of a selection */
    struct view few = view_whole(new_mask(2), GSH_BOOL, SHAPE(N / 2));
    struct view half = view_whole(v, GSH_FLOAT64, SHAPE(count_true(few.value, N / 2)));
    program_select(&program, GSH_LAUNCH_COMPRESS, selected(t), half, few);
    program_select(&program, GSH_LAUNCH_EXPAND, half, view_sliced(line(z), 0, 0, N / 2, 1), few);
    expand(u, m, line(c));
    CHECK_INT(run().predicated, 2);
}

/* Views of one mask that select as many elements, but others. */
static void check_mask_views(void)
{
    begin();
    z = new_wanted(), m = new_mask(3), t = new_value();
    struct view square = view_whole(m, GSH_BOOL, SHAPE(20, 20));
    struct view plane = view_whole(z, GSH_FLOAT64, SHAPE(20, 20));
    struct view some = view_whole(t, GSH_FLOAT64, SHAPE(count_true(m, 400)));
    program_select(&program, GSH_LAUNCH_COMPRESS, plane, some, square);
    add(some, some, some);
    program_select(&program, GSH_LAUNCH_EXPAND, some, plane, view_transposed(square));
    CHECK_INT(run().predicated, 0);
    begin();
    z = new_wanted(), m = new_mask(2), t = new_value();
    struct view low = view_sliced(mask(m), 0, 0, N - 2, 1), part = line(z);
    struct view high = view_sliced(mask(m), 0, 1, N - 1, 1);
    part.shape[0] = N - 2;
    some = view_whole(t, GSH_FLOAT64, SHAPE(N / 2 - 1));
    program_select(&program, GSH_LAUNCH_COMPRESS, part, some, low);
    add(some, some, some);
    program_select(&program, GSH_LAUNCH_EXPAND, some, part, high);
    CHECK_INT(run().predicated, 0);
}

/* Operations that say more than which elements they take. */
static void check_operations(void)
{
    begin_chain(2); /* a mask of their own */
    struct view in[] = {selected(t), selected(u)}, out = selected(t), own = selected(new_mask(3));
    own.dtype = GSH_BOOL, own.strides[0] = 1;
    program_op(&program, GSH_OP_ADD, GSH_FLOAT64, in, &out, &own);
    expand(t, m, line(z));
    CHECK_INT(run().predicated, 0);
    begin_chain(2); /* the number of the element */
    program_op(&program, GSH_OP_ARANGE, GSH_FLOAT64, in, &out, NULL);
    expand(t, m, line(z));
    CHECK_INT(run().predicated, 0);
    make_chain(); /* written before */
    struct gsh_node chain[5];
    memcpy(chain, program.nodes, sizeof chain);
    program.node_count = 0;
    add(selected(c), selected(c), selected(t));
    memcpy(&program.nodes[1], chain, sizeof chain);
    program.node_count = 6;
    CHECK_INT(run().predicated, 0);
}

/* Rows and columns: c is the other way round; the result has another type. */
static void check_layouts(void)
{
    begin();
    z = new_wanted(), c = new_wanted(), m = new_mask(2);
    t = new_value(), u = new_value(), v = new_value();
    int x = new_wanted();
    struct view mask_2d = view_whole(m, GSH_BOOL, SHAPE(20, 30));
    struct view turned = view_transposed(view_whole(c, GSH_FLOAT64, SHAPE(30, 20)));
    program_select(&program, GSH_LAUNCH_COMPRESS, matrix(z), selected(t), mask_2d);
    program_select(&program, GSH_LAUNCH_COMPRESS, turned, selected(u), mask_2d);
    compute();
    program_select(&program, GSH_LAUNCH_EXPAND, selected(v),
                   view_whole(x, GSH_INT32, SHAPE(20, 30)), mask_2d);
    expect(1, 0, 5, 4, 1);
}

/* What cannot be one group is left as it is. */
static void check_no_group(void)
{
    begin_chain(2);
    for (int k = 0; k < GSH_GROUP_STEPS; k++)
        add(selected(t), selected(u), selected(t));
    expand(t, m, line(z));
    struct plan_counts counts = run();
    CHECK_INT(counts.predicated, 0);
    CHECK_INT(counts.steps, GSH_GROUP_STEPS);
    begin_chain(2);
    for (int k = 0; k <= GSH_GROUP_CONSTANTS; k++)
        add(selected(t), view_constant(k), selected(t));
    expand(t, m, line(z));
    CHECK_INT(run().predicated, 0);
    begin_chain(2); /* other elements are stored than were read */
    program.node_count = 0;
    struct view shorter = view_sliced(mask(m), 0, 0, N - 1, 1);
    struct view few = view_whole(t, GSH_FLOAT64, SHAPE(count_true(m, N - 1)));
    program_select(&program, GSH_LAUNCH_COMPRESS, view_sliced(line(z), 0, 0, N - 1, 1), few,
                   shorter);
    add(few, few, few);
    program_select(&program, GSH_LAUNCH_EXPAND, few, view_sliced(line(z), 0, 1, N, 1), shorter);
    expect(3, 3, 0, 0, 0);
}

int main(void)
{
    check_chain();
    check_two_chains();
    check_other_masks();
    check_mask_written();
    check_late_operation();
    check_errors();
    check_operands();
    check_selections();
    check_mask_views();
    check_operations();
    check_layouts();
    check_no_group();
    return check_result();
}
