/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of loops that is kept: whatever a launch's work depends on is part of the key.
 */
#include "launch_work.h"
#include "live.h"
#include "price.h"
#include "work_memo.h"

static struct gsh_launch add_matrices(void)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                .op = GSH_OP_ADD,
                                .loop = GSH_FLOAT64,
                                .nin = 2,
                                .nout = 1,
                                .ndim = 2,
                                .shape = {1000, 3000},
                                .strides = {{24000, 8}, {24000, 8}, {24000, 8}}};
    for (unsigned k = 0; k < 3; k++)
        launch.operands[k] = (struct gsh_operand){.dtype = GSH_FLOAT64, .address = 4096};
    return launch;
}

/* The same launch with so many dimensions of extent 1 in front that its work is not kept. */
static struct gsh_launch with_more_dimensions(const struct gsh_launch *launch)
{
    struct gsh_launch longer = *launch;
    longer.ndim = launch->ndim + GSH_WORK_MEMO_DIMS;
    for (int d = 0; d < longer.ndim; d++) {
        int from = d - GSH_WORK_MEMO_DIMS;
        longer.shape[d] = from < 0 ? 1 : launch->shape[from];
        for (unsigned k = 0; k < GSH_MAX_OPERANDS; k++)
            longer.strides[k][d] = from < 0 ? 0 : launch->strides[k][from];
    }
    return longer;
}

static bool is_equal(const struct gsh_work *x, const struct gsh_work *y)
{
    return x->kind == y->kind && x->bytes == y->bytes && x->near == y->near && x->far == y->far &&
           x->rows == y->rows && x->elements == y->elements && x->host_ns == y->host_ns;
}

/* Twice: what was kept the first time is found the second time, and is the same. */
static void check_work(const struct gsh_launch *launch)
{
    struct gsh_work_memo_key key;
    const struct gsh_launch longer = with_more_dimensions(launch);
    CHECK(!gsh_work_memo_make_key(&longer, 1, 1, &key));
    const struct gsh_work wanted = gsh_launch_work(&longer);
    for (int round = 0; round < 2; round++) {
        const struct gsh_work work = gsh_launch_work(launch);
        CHECK(is_equal(&work, &wanted));
    }
}

/* Each launch differs from the one before in one thing. */
static void test_key(void)
{
    struct gsh_launch launch = add_matrices();
    check_work(&launch);
    launch.op = GSH_OP_POWER;
    check_work(&launch);
    launch.loop = GSH_FLOAT32;
    check_work(&launch);
    launch.operands[0].dtype = GSH_FLOAT32;
    check_work(&launch);
    launch.operands[1].is_constant = true;
    check_work(&launch);
    launch.shape[1] = 1000;
    check_work(&launch);
    launch.strides[0][1] = 16;
    check_work(&launch);
    launch.strides[0][0] = 160000;
    check_work(&launch);
    launch.has_mask = true;
    launch.operands[3].dtype = GSH_BOOL;
    launch.strides[3][1] = 1;
    check_work(&launch);
    launch = add_matrices();
    launch.kind = GSH_LAUNCH_REDUCE;
    launch.reduction = GSH_REDUCE_SUM;
    launch.nin = 1;
    launch.nreduce = 1;
    launch.strides[1][1] = 0;
    check_work(&launch);
    launch.nreduce = 2;
    launch.strides[1][0] = 0;
    check_work(&launch);
}

static void test_found(void)
{
    struct gsh_launch launch = add_matrices();
    struct gsh_work_memo_key key, other;
    struct gsh_work work = {.elements = 17}, found;
    launch.shape[0] = 4321;
    CHECK(gsh_work_memo_make_key(&launch, 0.5, 1e6, &key));
    CHECK(!gsh_work_memo_find(&key, &found));
    gsh_work_memo_keep(&key, &work);
    CHECK(gsh_work_memo_find(&key, &found) && found.elements == 17);
    CHECK(gsh_work_memo_make_key(&launch, 0.6, 1e6, &other) && !gsh_work_memo_find(&other, &found));
    CHECK(gsh_work_memo_make_key(&launch, 0.5, 2e6, &other) && !gsh_work_memo_find(&other, &found));
    launch.kind = GSH_LAUNCH_TAKE; /* also depends on `indexed` */
    CHECK(!gsh_work_memo_make_key(&launch, 0.5, 1e6, &other));
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    test_key();
    test_found();
    return live_end();
}
