/* SPDX-License-Identifier: Apache-2.0
 *
 * The plans that the planner makes of directed programs: how many items, and of which nodes. Results are checked too;
 * test_plan_random.c checks those of random programs.
 */
#include "plan_check.h"

/* ---- what is looked at ---- */

static void check_dead_nodes(void)
{
    begin();
    int a = new_wanted(), t = new_value(), u = new_value();
    add(line(a), line(a), line(t));
    struct gsh_node *last = add(line(t), line(a), line(u));
    expect(0, 0, 0, 0, 0);
    program_check_errors(&program, last);
    expect(1, 0, 2, 1, 0);
    program_want(&program, t);
    expect(1, 0, 2, 1, 1);
    last->launch.errors.claims = 0;
    expect(1, 1, 0, 0, 0);
}

static void check_overwritten(void)
{
    begin();
    int a = new_wanted(), x = new_wanted();
    add(line(a), line(a), line(x));
    binary(GSH_OP_MULTIPLY, line(a), line(a), line(x));
    expect(1, 1, 0, 0, 0); /* all of the first */
    begin();
    a = new_wanted(), x = new_wanted();
    add(line(a), line(a), line(x));
    struct view half = view_sliced(line(x), 0, 0, N / 2, 1);
    add(half, half, half);
    half = view_sliced(line(x), 0, N / 2, N, 1);
    add(half, half, half);
    expect(3, 3, 0, 0, 0); /* read before */
    begin();
    a = new_wanted(), x = new_wanted();
    struct view source = view_sliced(line(a), 0, 0, N / 2, 1);
    add(line(a), line(a), line(x));
    add(source, source, view_sliced(line(x), 0, 0, N / 2, 1));
    add(source, source, view_sliced(line(x), 0, N / 2, N, 1));
    expect(1, 0, 2, 1, 2); /* in two halves, which read the same */
    struct gsh_node half_node = program.nodes[1];
    program.nodes[1] = program.nodes[2];
    program.nodes[2] = half_node;
    expect(1, 0, 2, 1, 2);
}

/* Column j of four. */
static struct view column(int value, int64_t j)
{
    return view_sliced(view_whole(value, GSH_FLOAT64, SHAPE(N / 4, 4)), 1, j, j + 1, 1);
}

/* Columns overlap nowhere, although one begins before the other ends. */
static void check_columns(void)
{
    begin();
    int x = new_wanted();
    add(column(x, 0), view_constant(1), column(x, 1));
    add(column(x, 1), column(x, 0), column(x, 2));
    expect(1, 0, 2, 1, 2);
    add(line(x), view_constant(1), line(x));
    expect(2, 1, 2, 1, 2);
}

/* Every second element is written, then the others, then all are read: the read waits for both writes. */
static void check_interleaved_writes(void)
{
    begin();
    int a = new_wanted(), x = new_wanted(), y = new_wanted(), z = new_wanted();
    struct view even = view_sliced(line(x), 0, 0, N, 2), odd = view_sliced(line(x), 0, 1, N, 2);
    add(view_sliced(line(a), 0, 0, N, 2), view_constant(1), even);
    add(view_sliced(line(a), 0, 1, N, 2), view_constant(2), odd);
    add(line(x), view_constant(1), line(y));
    add(even, view_sliced(line(y), 0, 0, N, 2), view_sliced(line(z), 0, 0, N, 2));
    expect(4, 4, 0, 0, 0);
}

static void check_masked_write_keeps(void)
{
    begin();
    int a = new_wanted(), m = new_value(), x = new_wanted();
    struct view mask = view_whole(m, GSH_BOOL, SHAPE(N)), in[] = {line(a), view_constant(1)};
    struct view out = line(x);
    unary(GSH_OP_NEGATIVE, line(a), line(x));
    program_op(&program, GSH_OP_GREATER, GSH_FLOAT64, in, &mask, NULL);
    program_op(&program, GSH_OP_ADD, GSH_FLOAT64, in, &out, &mask);
    expect(1, 0, 3, 1, 1);
}

/* ---- groups ---- */

static void check_chain(void)
{
    begin();
    int a = new_wanted(), b = new_wanted(), t = new_value(), u = new_value(), x = new_wanted();
    binary(GSH_OP_MULTIPLY, line(a), line(b), line(t));
    add(line(b), view_constant(1), line(u));
    binary(GSH_OP_DIVIDE, line(a), line(u), line(u));
    add(line(t), line(u), line(t));
    binary(GSH_OP_SUBTRACT, line(t), line(a), line(x));
    expect(1, 0, 5, 2, 1);
    program_want(&program, u);
    expect(1, 0, 5, 2, 2);
}

static void check_equal_inputs(void)
{
    begin();
    int a = new_wanted(), x = new_wanted();
    add(line(a), view_constant(3), line(x));
    add(line(x), view_constant(3), line(x));
    binary(GSH_OP_MULTIPLY, line(x), line(a), line(x));
    add(line(x), view_constant(4), line(x));
    expect(1, 0, 4, 1, 1);
    gsh_plan_begin_locked(program.nodes, program.node_count);
    gsh_plan_make();
    const struct gsh_plan_item *item = gsh_plan_next();
    CHECK_INT(item->group.constant_count, 2);
    CHECK_INT(item->node_count, 4);
    CHECK_INT(item->nodes[3], 3);
    CHECK_INT(item->row, 1);
    CHECK_INT(item->group.ndim, 1);
    struct view zero = {.value = -1, .dtype = GSH_INT64}; /* the bytes of 0.0 */
    add(line(x), view_constant(0), line(x));
    add(line(x), zero, line(x));
    gsh_plan_begin_locked(program.nodes, program.node_count);
    gsh_plan_make();
    CHECK_INT(gsh_plan_next()->group.constant_count, 4);
}

static void check_two_outputs(void)
{
    begin();
    int a = new_wanted(), p = new_value(), q = new_value(), x = new_wanted();
    struct view in[] = {line(a), view_constant(2)}, out[] = {line(p), line(q)};
    program_op(&program, GSH_OP_DIVMOD, GSH_FLOAT64, in, out, NULL);
    add(line(p), line(q), line(x));
    expect(1, 0, 2, 1, 1);
    program_want(&program, q);
    expect(1, 0, 2, 1, 2);
}

/* A mask that is the first output of two is there until the second is stored. */
static void check_mask_is_output(void)
{
    begin();
    int a = new_wanted(), p = new_wanted(), q = new_wanted(), x = new_wanted();
    mask_shares[p] = 2;
    struct view mask = view_whole(p, GSH_BOOL, SHAPE(N));
    struct view in[] = {line(a), view_constant(2)}, out[] = {mask, line(q)};
    program_op(&program, GSH_OP_DIVMOD, GSH_FLOAT64, in, out, &mask);
    add(line(q), view_constant(1), line(x));
    expect(1, 0, 2, 3, 3);
}

/* What a step stores is what the next one takes: there is a cast in between, but no other look at the bytes. */
static void check_dtypes(void)
{
    begin();
    int a = new_wanted(), t = new_value(), x = new_wanted();
    add(line(a), line(a), view_whole(t, GSH_FLOAT32, SHAPE(N)));
    add(view_whole(t, GSH_FLOAT32, SHAPE(N)), line(a), line(x));
    expect(1, 0, 2, 1, 1);
    begin();
    a = new_wanted(), t = new_value(), x = new_wanted();
    struct view bits = view_whole(t, GSH_INT64, SHAPE(N)), out = line(x);
    add(line(a), line(a), line(t));
    program_op(&program, GSH_OP_COPY, GSH_INT64, &bits, &out, NULL);
    expect(2, 2, 0, 0, 0);
    for (int size = 4; size <= 8;
         size += 4) { /* written over by another dtype, of the same size or not */
        begin();
        a = new_wanted(), x = new_wanted();
        struct view in = view_sliced(line(a), 0, 0, N, 2);
        out = view_sliced(line(x), 0, 0, N, 2);
        add(in, in, out);
        out.dtype = size == 8 ? GSH_INT64 : GSH_FLOAT32;
        add(in, view_constant(3), out);
        if (size == 8)
            expect(1, 0, 2, 1, 1);
        else
            expect(2, 2, 0, 0, 0);
    }
}

/* ---- hazards ---- */

static void check_shifted_views(void)
{
    begin();
    int a = new_wanted(), t = new_value(), x = new_wanted();
    add(line(a), line(a), line(t));
    add(view_sliced(line(t), 0, 0, N - 1, 1), view_sliced(line(t), 0, 1, N, 1),
        view_sliced(line(x), 0, 0, N - 1, 1));
    expect(2, 2, 0, 0, 0);
    begin(); /* all of a stencil but its new contents is one group */
    int u = new_wanted();
    t = new_value(), x = new_wanted();
    struct view m = matrix(u), inner = view_sliced(view_sliced(m, 0, 1, 19, 1), 1, 1, 29, 1);
    struct view up = inner, down = inner, left = inner, right = inner, result = inner;
    struct view temporary = view_whole(t, GSH_FLOAT64, SHAPE(18, 28));
    up.offset -= m.strides[0], down.offset += m.strides[0];
    left.offset -= 8, right.offset += 8;
    result.value = x;
    add(up, down, temporary);
    add(temporary, left, temporary);
    add(temporary, right, temporary);
    binary(GSH_OP_MULTIPLY, temporary, view_constant(0.25), result);
    expect(1, 0, 4, 4, 1);
    result.value = u; /* written where it was read shifted */
    unary(GSH_OP_COPY, result, result);
    program.nodes[3].values[2] = &program.values[u];
    program.values[x].references--;
    program.values[x].pending--;
    program.values[u].references++;
    program.values[u].pending++;
    expect(2, 0, 5, 5, 2);
}

static void check_write_after_read(void)
{
    begin();
    int a = new_wanted(), x = new_wanted(), y = new_wanted();
    add(line(a), line(x), line(y));
    add(line(a), view_constant(1), line(a)); /* the same view: loads come first */
    add(line(a), line(x), line(x));
    expect(1, 0, 3, 2, 3);
    begin();
    a = new_wanted(), x = new_wanted();
    struct view low = view_sliced(line(a), 0, 0, N - 1, 1);
    struct view high = view_sliced(line(a), 0, 1, N, 1), out = view_sliced(line(x), 0, 0, N - 1, 1);
    add(low, high, out);
    add(out, view_constant(1), high); /* others' elements */
    expect(2, 2, 0, 0, 0);
}

/* An item is not brought forward past what it must come before, nor does a node go back past what it needs. */
static void check_order(void)
{
    begin();
    int x = new_wanted(), s = new_wanted(), t = new_value(), y = new_wanted();
    add(line(x), view_constant(1), line(t));
    sum(line(x), s, 1);
    binary(GSH_OP_DIVIDE, line(t),
           (struct view){.value = s, .ndim = 1, .shape = {N}, .dtype = GSH_FLOAT64}, line(y));
    expect(2, 1, 2, 2, 1); /* t waits for the sum */
    begin();
    x = new_wanted(), s = new_wanted(), t = new_value(), y = new_wanted();
    struct view first = view_sliced(line(x), 0, 0, 1, 1);
    add(line(x), view_constant(1), line(t));
    add(first, first, first);
    sum(line(x), s, 1);
    binary(GSH_OP_DIVIDE, line(t),
           (struct view){.value = s, .ndim = 1, .shape = {N}, .dtype = GSH_FLOAT64}, line(y));
    expect(4, 4, 0, 0, 0); /* but x changes before */
}

/* A read of two writes waits for both. */
static void check_two_writers(void)
{
    begin();
    int a = new_wanted(), x = new_wanted(), y = new_wanted(), s = new_wanted(), z = new_wanted();
    struct view low = view_sliced(line(x), 0, 0, N / 2, 1);
    struct view high = view_sliced(line(x), 0, N / 2, N, 1);
    struct view all = {.value = s, .ndim = 1, .shape = {N / 2}, .dtype = GSH_FLOAT64};
    add(view_sliced(line(a), 0, N / 2, N, 1), view_constant(1), high);
    add(view_sliced(line(a), 0, 0, N / 2, 1), view_constant(2), low);
    add(line(x), view_constant(1), line(y));
    sum(line(y), s, 1);
    binary(GSH_OP_DIVIDE, high, all, view_sliced(line(z), 0, 0, N / 2, 1));
    expect(4, 3, 1, 1, 1);
}

static void check_interleaved(void)
{
    begin();
    int x = new_wanted(), y = new_wanted();
    struct view short_line = view_sliced(line(y), 0, 0, N / 2, 1);
    for (int k = 0; k < 10; k++) {
        add(line(x), view_constant(k), line(x));
        add(short_line, view_constant(k), short_line);
    }
    expect(2, 0, 20, 2, 2);
}

/* A kind that is in no group, between the parts of one. */
static void check_stands_alone(void)
{
    begin();
    int a = new_wanted(), t = new_value(), x = new_wanted(), i = new_value(), y = new_wanted();
    struct view index = view_whole(i, GSH_INT64, SHAPE(N)),
                zero = {.value = -1, .dtype = GSH_INT64};
    add(line(a), line(a), line(t));
    program_op(&program, GSH_OP_COPY, GSH_INT64, &zero, &index, NULL);
    struct gsh_node *take = binary(GSH_OP_ADD, line(t), index, line(y));
    take->launch.kind = GSH_LAUNCH_TAKE;
    take->launch.op = GSH_OP_COPY;
    take->launch.strides[0][0] = 0;
    take->launch.indexed = (struct gsh_indexed){8, N};
    add(line(t), view_constant(2), line(x));
    add(line(x), line(y), line(x));
    expect(4, 3, 2, 1, 2);
}

/* ---- iteration spaces ---- */

static void check_arange(void)
{
    begin();
    int t = new_value(), x = new_wanted();
    struct view in[] = {view_constant(0), view_constant(1)}, out = line(t);
    program_op(&program, GSH_OP_ARANGE, GSH_FLOAT64, in, &out, NULL);
    struct view seen = view_transposed(matrix(t)), result = view_transposed(matrix(x));
    binary(GSH_OP_MULTIPLY, seen, view_constant(2), result);
    expect(1, 0, 2, 0, 1);
    gsh_plan_begin_locked(program.nodes, program.node_count);
    gsh_plan_make();
    CHECK_INT(gsh_plan_next()->group.ndim, 1);
}

/* The same elements in another order of dimensions, in others, backwards. */
static void check_layouts(void)
{
    for (int layout = 0; layout < 5; layout++) {
        begin();
        int a = new_wanted(), b = new_wanted(), t = new_value(), x = new_wanted();
        struct view row = view_broadcast(view_whole(b, GSH_FLOAT64, SHAPE(30)), 20);
        struct view seen[] = {matrix(t), line(t), view_transposed(matrix(t)),
                              view_whole(t, GSH_FLOAT64, SHAPE(20, 5, 6)),
                              view_sliced(matrix(t), 0, 0, 20, -1)};
        add(matrix(a), row, matrix(t));
        add(seen[layout], view_constant(1),
            view_whole(x, GSH_FLOAT64, seen[layout].ndim, seen[layout].shape));
        expect(1, 0, 2, 2, 1);
    }
    begin(); /* rows of other lengths have nothing in common */
    int a = new_wanted(), b = new_wanted(), t = new_value(), x = new_wanted();
    add(matrix(a), view_broadcast(view_whole(b, GSH_FLOAT64, SHAPE(30)), 20), matrix(t));
    struct view wide = view_whole(t, GSH_FLOAT64, SHAPE(15, 40));
    add(wide, view_broadcast(view_whole(b, GSH_FLOAT64, SHAPE(40)), 15),
        view_whole(x, GSH_FLOAT64, SHAPE(15, 40)));
    expect(2, 2, 0, 0, 0);
}

/* out = a + b of bytes, out and a dense, b the same along every second dimension. */
static void add_deep(int ndim, const int64_t *shape, int a, int b, int out)
{
    struct gsh_node *node = add(line(a), line(b), line(out));
    int64_t step = 1;
    node->launch.loop = GSH_INT8;
    node->launch.ndim = ndim;
    for (int d = ndim - 1; d >= 0; d--) {
        node->launch.shape[d] = shape[d];
        node->launch.strides[0][d] = node->launch.strides[2][d] = step;
        node->launch.strides[1][d] = d % 2;
        step *= shape[d];
    }
    for (unsigned k = 0; k < 3; k++)
        node->launch.operands[k].dtype = GSH_INT8;
}

/* Two spaces whose refinement has more dimensions than there may be. */
static void check_too_deep(void)
{
    begin();
    int a = new_wanted(), b = new_wanted(), t = new_value(), x = new_wanted();
    add_deep(9, (const int64_t[]){4, 4, 4, 4, 4, 4, 4, 4, 4}, a, b, t);
    add_deep(10, (const int64_t[]){2, 4, 4, 4, 4, 4, 4, 4, 4, 2}, t, b, x);
    CHECK_INT(program_plan(&program, NULL, NULL).items, 2);
    program.node_count = 0;
    add_deep(8, (const int64_t[]){4, 4, 4, 4, 4, 4, 4, 4}, a, b, t);
    add_deep(9, (const int64_t[]){2, 4, 4, 4, 4, 4, 4, 4, 2}, t, b, x);
    CHECK_INT(program_plan(&program, NULL, NULL).items, 1);
}

static const struct gsh_group *first_group(void)
{
    const struct gsh_plan_item *item;
    gsh_plan_begin_locked(program.nodes, program.node_count);
    gsh_plan_make();
    do
        item = gsh_plan_next();
    while (item->node >= 0);
    return &item->group;
}

static const struct gsh_group_array *first_store(void)
{
    const struct gsh_group *group = first_group();
    return &group->arrays[group->stores[0].array];
}

/* What is stored has its smallest steps last, and forwards; dimensions that are one in memory are one. */
static void check_orientation(void)
{
    begin();
    int a = new_wanted(), t = new_value(), x = new_wanted();
    add(matrix(a), matrix(a), matrix(t));
    add(matrix(t), view_constant(1), view_transposed(view_whole(x, GSH_FLOAT64, SHAPE(30, 20))));
    expect(1, 0, 2, 1, 1);
    CHECK_INT(first_store()->strides[0], 160);
    CHECK_INT(first_store()->strides[1], 8);
    begin();
    a = new_wanted(), x = new_wanted();
    struct view backwards = view_sliced(line(x), 0, 0, N, -1);
    add(backwards, line(a), backwards);
    add(backwards, line(a), backwards);
    expect(1, 0, 2, 2, 1);
    CHECK_INT(first_store()->strides[0], 8);
    begin();
    a = new_wanted(), t = new_value(), x = new_wanted();
    struct view narrow = view_whole(a, GSH_FLOAT64, SHAPE(20, 25)), out = narrow;
    struct view padded = view_sliced(matrix(t), 1, 0, 25, 1);
    out.value = x;
    add(narrow, narrow, padded);
    add(padded, narrow, out);
    expect(1, 0, 2, 1, 1);
    CHECK_INT(first_group()->ndim, 1);
}

/* Reads of other elements, or of one row over and over, are not shared. */
static void check_not_shared(void)
{
    begin();
    int a = new_wanted(), b = new_wanted(), x = new_wanted(), y = new_wanted();
    struct view out = view_sliced(line(x), 0, 0, N - 30, 1), row, rows;
    add(view_sliced(line(a), 0, 30, N, 1), view_constant(1), out);
    out.value = y;
    add(view_sliced(line(a), 0, 0, N - 30, 1), view_constant(1), out);
    expect(2, 2, 0, 0, 0);
    row = view_broadcast(view_whole(b, GSH_FLOAT64, SHAPE(30)), 19);
    rows = view_sliced(matrix(a), 0, 0, 19, 1);
    x = new_wanted();
    struct view result = view_sliced(matrix(x), 0, 0, 19, 1);
    program.node_count = 1;
    add(rows, row, result);
    expect(2, 2, 0, 0, 0);
    begin();
    a = new_wanted(), b = new_wanted(), x = new_wanted(), y = new_wanted();
    row = view_broadcast(view_whole(b, GSH_FLOAT64, SHAPE(30)), 20);
    add(matrix(a), row, matrix(a));
    add(matrix(x), row, matrix(x));
    expect(2, 2, 0, 0, 0);
}

/* An item that went back to share a read has taken its place before those that it needs to come after. */
static void check_shared_order(void)
{
    begin();
    int q = new_wanted(), v = new_wanted(), t = new_wanted(), u = new_wanted();
    int z = new_wanted(), p = new_wanted(), w = new_wanted();
    struct view part = view_sliced(line(q), 0, 0, N - 1, 1), one = line(q);
    one.strides[0] = 0;
    struct view of_u = part, of_w = part;
    of_u.value = u, of_w.value = w;
    add(one, line(v), line(t));
    add(part, view_constant(1), of_u);
    add(view_sliced(line(u), 0, 1, N - 1, 1), view_constant(2),
        view_sliced(line(z), 0, 1, N - 1, 1));
    add(line(v), view_constant(3), line(p));
    add(view_sliced(line(t), 0, 1, N, 1), part, of_w);
    expect(3, 1, 4, 4, 4);
}

/* ---- limits ---- */

static void check_long_chain(void)
{
    begin();
    int x = new_wanted();
    for (int k = 0; k < 100; k++)
        add(line(x), view_constant(k % 5), line(x));
    expect(3, 0, 100, 3, 3);
}

static void check_many_arrays(void)
{
    begin();
    int x = new_wanted();
    for (int k = 0; k < 40; k++)
        add(line(x), line(new_value()), line(x));
    expect(2, 0, 40, 42, 2);
}

static void check_many_constants(void)
{
    begin();
    int x = new_wanted();
    for (int k = 0; k < 40; k++)
        add(line(x), view_constant(k), line(x));
    expect(2, 0, 40, 2, 2);
}

static void check_many_stores(void)
{
    begin();
    int before = new_wanted();
    for (int k = 0; k < 20; k++) {
        int x = new_wanted();
        add(line(before), view_constant(1), line(x));
        before = x;
    }
    expect(3, 0, 20, 3, 20);
}

/* Two chains from one array that do not fit one group stay apart. Each has `steps`, each of which reads an array of its
 * own (or none), and stores its result (or only the last). */
static void check_apart(unsigned steps, bool reads, bool stores)
{
    begin();
    int a = new_wanted(), before[] = {a, a};
    for (unsigned k = 0; k < steps; k++)
        for (int chain = 0; chain < 2; chain++) {
            int x = stores || k + 1 == steps ? new_wanted() : new_value();
            add(line(before[chain]), reads ? line(new_value()) : view_constant(chain), line(x));
            before[chain] = x;
        }
    expect(2, 0, 2 * steps, reads ? 2 * steps + 2 : 2, stores ? 2 * steps : 2);
}

/* ---- sinks ---- */

static void check_sinks(void)
{
    begin();
    int x = new_wanted(), t = new_value(), s = new_wanted(), q = new_wanted();
    sum(matrix(x), s, 1);
    binary(GSH_OP_MULTIPLY, matrix(x), matrix(x), matrix(t));
    sum(matrix(t), q, 1);
    struct plan_counts counts = run();
    CHECK_INT(counts.items, 1);
    CHECK_INT(counts.sinks, 2);
    CHECK_INT(counts.loads, 1);
    CHECK_INT(counts.stores, 0);
    begin(); /* reduced along other dimensions */
    x = new_wanted(), t = new_value(), s = new_wanted(), q = new_wanted();
    binary(GSH_OP_MULTIPLY, matrix(x), matrix(x), matrix(t));
    sum(matrix(t), s, 1);
    sum(view_transposed(matrix(t)), q, 1);
    expect(2, 1, 1, 1, 1);
}

static void check_sink_limit(void)
{
    begin();
    int x = new_wanted();
    for (int k = 0; k < 6; k++)
        sum(matrix(x), new_wanted(), 1);
    struct plan_counts counts = run();
    CHECK_INT(counts.items, 2);
    CHECK_INT(counts.sinks, 6);
    begin();
    x = new_wanted();
    int squares[6];
    for (int k = 0; k < 6; k++)
        add(matrix(x), view_constant(k), matrix(squares[k] = new_value()));
    for (int k = 0; k < 6; k++)
        sum(matrix(squares[k]), new_wanted(), 1);
    counts = run();
    CHECK_INT(counts.items, 2);
    CHECK_INT(counts.stores, 0);
}

/* Sinks see their elements in their own order: one that sees them backwards joins what computes them, but no other sink. */
static void check_sink_orders(void)
{
    begin();
    int x = new_wanted(), t = new_value(), s = new_wanted(), q = new_wanted();
    struct view backwards = view_sliced(line(t), 0, 0, N, -1);
    add(line(x), view_constant(0.1), line(t));
    sum(backwards, s, 1);
    expect(1, 0, 1, 1, 0);
    sum(line(t), q, 1);
    expect(2, 1, 1, 1, 1);
    begin(); /* results in another order */
    x = new_wanted(), t = new_value(), s = new_wanted(), q = new_wanted();
    struct view cube = view_whole(t, GSH_FLOAT64, SHAPE(10, 4, 15)), in = cube;
    in.value = x;
    add(in, view_constant(0.1), cube);
    program_reduce(&program, GSH_REDUCE_SUM, cube,
                   view_transposed(view_whole(s, GSH_FLOAT64, SHAPE(4, 10))), 1);
    expect(1, 0, 1, 1, 0);
    CHECK_INT(first_group()->shape[0], 4);
    CHECK_INT(first_group()->shape[1], 10);
    program_reduce(&program, GSH_REDUCE_SUM, cube, view_whole(q, GSH_FLOAT64, SHAPE(10, 4)), 1);
    expect(2, 1, 1, 1, 1);
}

/* What a sum begins with, leaves out, and runs into. */
static void check_sink_parts(void)
{
    begin();
    int x = new_wanted(), t = new_value(), m = new_value(), s = new_wanted();
    struct view mask = view_whole(m, GSH_BOOL, SHAPE(N)), in[] = {line(x), view_constant(0)};
    add(line(x), view_constant(1e308), line(t));
    program_op(&program, GSH_OP_GREATER, GSH_FLOAT64, in, &mask, NULL);
    sum(line(t), s, 1);
    struct gsh_node *node = &program.nodes[2];
    node->launch.has_initial = node->launch.has_mask = true;
    node->launch.initial.f64 = -1e308;
    program_put_operand(&program, node, 2, &mask);
    program_check_errors(&program, node);
    expect(1, 0, 2, 1, 0);
    CHECK(program.claims[2][GSH_ERROR_OVERFLOW] != 0);
    binary(GSH_OP_MULTIPLY, line(x), view_constant(1), line(t));
    struct gsh_node add_node =
        program.nodes[3]; /* small numbers: the mask and the beginning tell */
    program.nodes[0].launch = add_node.launch;
    program.node_count = 3;
    node->launch.initial.f64 = 77;
    expect(1, 0, 2, 1, 0);
}

/* The place of a maximum, a sum of nothing, and one along nothing are no sinks. */
static void check_no_sinks(void)
{
    begin();
    int x = new_wanted(), t = new_value(), s = new_wanted(), i = new_wanted();
    add(matrix(x), matrix(x), matrix(t));
    program_reduce(&program, GSH_REDUCE_ARGMAX, matrix(t), view_whole(i, GSH_INT64, SHAPE(20)), 1);
    sum(view_whole(t, GSH_FLOAT64, SHAPE(N, 1)), s, 1);
    expect(3, 3, 0, 0, 0);
    begin();
    struct view nothing = view_whole(new_wanted(), GSH_FLOAT64, SHAPE(3, 0));
    sum(nothing, new_wanted(), 1);
    sum(nothing, new_wanted(), 1);
    expect(2, 2, 0, 0, 0);
}

static void check_softmax(void)
{
    begin();
    int x = new_wanted(), m = new_value(), t = new_value(), s = new_value(), y = new_wanted();
    program_reduce(&program, GSH_REDUCE_MAX, matrix(x), view_whole(m, GSH_FLOAT64, SHAPE(20)), 1);
    binary(GSH_OP_SUBTRACT, matrix(x), spread(m), matrix(t));
    unary(GSH_OP_EXP, matrix(t), matrix(t));
    sum(matrix(t), s, 1);
    binary(GSH_OP_DIVIDE, matrix(t), spread(s), matrix(y));
    struct plan_counts counts = run();
    CHECK_INT(counts.items, 3);
    CHECK_INT(counts.steps, 2);
    CHECK_INT(counts.sinks, 1);
    CHECK_INT(counts.stores, 1);
}

static void mean(int x, int out)
{
    struct view row = view_whole(out, GSH_FLOAT64, SHAPE(20));
    sum(matrix(x), out, 1);
    binary(GSH_OP_DIVIDE, row, view_constant(30), row);
}

/* (x - x.mean(1)) / x.std(1): the sums, the sum of squares, the result. The three small items between are one each. */
static void check_standardisation(void)
{
    begin();
    int x = new_wanted(), m = new_value(), d = new_value(), n = new_value(), e = new_value();
    int s = new_value(), y = new_wanted();
    mean(x, m);
    binary(GSH_OP_SUBTRACT, matrix(x), spread(m), matrix(d));
    mean(x, n);
    binary(GSH_OP_SUBTRACT, matrix(x), spread(n), matrix(e));
    binary(GSH_OP_MULTIPLY, matrix(e), matrix(e), matrix(e));
    mean(e, s);
    struct view row = view_whole(s, GSH_FLOAT64, SHAPE(20));
    unary(GSH_OP_SQRT, row, row);
    binary(GSH_OP_DIVIDE, matrix(d), spread(s), matrix(y));
    struct plan_counts counts = run();
    CHECK_INT(counts.items, 6);
    CHECK_INT(counts.alone, 2);
    CHECK_INT(counts.sinks, 3);
    CHECK_INT(counts.steps, 6);
    CHECK_INT(counts.stores, 2);
}

int main(void)
{
    check_dead_nodes();
    check_overwritten();
    check_columns();
    check_interleaved_writes();
    check_masked_write_keeps();
    check_chain();
    check_equal_inputs();
    check_two_outputs();
    check_mask_is_output();
    check_dtypes();
    check_shifted_views();
    check_write_after_read();
    check_order();
    check_two_writers();
    check_interleaved();
    check_stands_alone();
    check_arange();
    check_layouts();
    check_too_deep();
    check_orientation();
    check_not_shared();
    check_shared_order();
    check_long_chain();
    check_many_arrays();
    check_many_constants();
    check_many_stores();
    check_apart(30, false, false);
    check_apart(5, false, true);
    check_apart(15, true, false);
    check_sinks();
    check_sink_limit();
    check_sink_orders();
    check_sink_parts();
    check_no_sinks();
    check_softmax();
    check_standardisation();
    return check_result();
}
