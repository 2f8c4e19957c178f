/* SPDX-License-Identifier: Apache-2.0
 *
 * Which values the planner computes again rather than store them, which it does not, and that it uses the device's
 * rates.
 */
#include "backend.h"
#include "plan_check.h"

/* A device that moves an element in the time that a core computes for 4 ns. */
static void set_device(bool is_there)
{
    static const struct gsh_rates rates = {.device_memory = 8, .device_cores = 4e-9};
    static const struct gsh_backend backend = {.rates = &rates};
    gsh_backend_replace(is_there ? &backend : NULL);
}

/* softmax of rows, each value written once. */
struct softmax {
    int x, m, t, e, s, y;
};

static struct softmax add_softmax(enum gsh_op op)
{
    begin();
    struct softmax v = {new_wanted(), new_value(), new_value(), new_value(), new_value(), 0};
    v.y = new_wanted();
    program_reduce(&program, GSH_REDUCE_MAX, matrix(v.x), view_whole(v.m, GSH_FLOAT64, SHAPE(20)),
                   1);
    binary(GSH_OP_SUBTRACT, matrix(v.x), spread(v.m), matrix(v.t));
    unary(op, matrix(v.t), matrix(v.e));
    sum(matrix(v.e), v.s, 1);
    return v;
}

static void end_softmax(const struct softmax *v)
{
    binary(GSH_OP_DIVIDE, matrix(v->e), spread(v->s), matrix(v->y));
}

static void expect_again(unsigned stores, unsigned again, int line)
{
    set_device(true);
    struct plan_counts counts = run();
    set_device(false);
    if (!CHECK(counts.stores == stores && counts.again == again))
        fprintf(stderr, "line %d: %u stores, %u again\n", line, counts.stores, counts.again);
}

/* x - m and its exponential are computed with the sum and again with the quotient; nothing is stored but that. */
static void check_rematerialised(void)
{
    struct softmax v = add_softmax(GSH_OP_EXP);
    end_softmax(&v);
    struct gsh_node *node = &program.nodes[2];
    program_check_errors(&program, node);
    set_device(true);
    struct plan_counts counts = run();
    set_device(false);
    CHECK_INT(counts.items, 3);
    CHECK_INT(counts.alone, 1);
    CHECK_INT(counts.steps, 5);
    CHECK_INT(counts.stores, 1);
    CHECK_INT(counts.again, 2);
    CHECK_INT(counts.loads, 5); /* x and m twice, s */
    v = add_softmax(GSH_OP_EXP);
    end_softmax(&v);
    program_op(&program, GSH_OP_LOG, GSH_FLOAT64, (const struct view[]){matrix(v.e)},
               (const struct view[]){matrix(new_wanted())}, NULL);
    expect_again(2, 2, __LINE__); /* the logarithm goes with one of them */
    CHECK_INT(run().stores, 2);   /* no device to ask: e is stored, the quotient alone */
}

/* Where two items take what a third one, which waits for neither, has the inputs of: both compute it from those. */
static void check_rematerialised_twice(void)
{
    begin();
    int x = new_wanted(), y = new_wanted(), t = new_value(), u = new_value(), out = new_wanted();
    int first = new_value(), second = new_value();
    add(matrix(x), view_constant(1), matrix(y));
    sum(matrix(y), first, 1);
    unary(GSH_OP_EXP, matrix(y), matrix(t));
    binary(GSH_OP_MULTIPLY, matrix(t), spread(first), matrix(u));
    sum(matrix(u), second, 1);
    binary(GSH_OP_DIVIDE, matrix(t), spread(second), matrix(out));
    expect_again(2, 1, __LINE__);
}

/* One that is a mask. */
static void check_rematerialised_mask(void)
{
    begin();
    int x = new_wanted(), t = new_value(), u = new_value(), s = new_value(), out = new_wanted();
    struct view mask = view_whole(t, GSH_BOOL, SHAPE(20, 30)), sums = spread(s), to = matrix(out);
    program_op(&program, GSH_OP_GREATER, GSH_FLOAT64,
               (const struct view[]){matrix(x), view_constant(0)}, &mask, NULL);
    program_op(&program, GSH_OP_SELECT, GSH_FLOAT64,
               (const struct view[]){mask, matrix(x), view_constant(1)},
               (const struct view[]){matrix(u)}, NULL);
    sum(matrix(u), s, 1);
    program_op(&program, GSH_OP_MULTIPLY, GSH_FLOAT64, (const struct view[]){matrix(x), sums}, &to,
               &mask);
    expect_again(1, 1, __LINE__);
}

/* What keeps it from being computed again. */
static void check_not_rematerialised(void)
{
    struct softmax v = add_softmax(GSH_OP_EXP);
    unary(GSH_OP_NEGATIVE, matrix(v.x), matrix(v.x)); /* what it is computed from changes */
    end_softmax(&v);
    expect_again(2, 0, __LINE__);
    v = add_softmax(GSH_OP_EXP);
    end_softmax(&v);
    program_want(&program, v.e); /* somebody has it */
    expect_again(1, 0, __LINE__);
    v = add_softmax(GSH_OP_TAN); /* takes longer than its bytes */
    end_softmax(&v);
    expect_again(1, 0, __LINE__);
    v = add_softmax(GSH_OP_EXP);
    struct view half = view_sliced(matrix(v.e), 0, 0, 10, 1), out = half;
    out.value = new_wanted();
    unary(GSH_OP_NEGATIVE, half, out); /* waits for nothing: it goes with the sum */
    end_softmax(&v);
    expect_again(1, 0, __LINE__); /* a part of it is loaded */
    v = add_softmax(GSH_OP_EXP);
    unary(GSH_OP_COPY, matrix(v.y), matrix(v.e)); /* written again */
    end_softmax(&v);
    expect_again(1, 0, __LINE__);
}

int main(void)
{
    check_rematerialised();
    check_rematerialised_twice();
    check_rematerialised_mask();
    check_not_rematerialised();
    return check_result();
}
