/* SPDX-License-Identifier: Apache-2.0
 *
 * offload/graph/node_reuse.c: when a group writes into the memory of its inputs, when it must not, a device that
 * declines the group afterwards, and arrays that are freed meanwhile.
 */
#include "backend.h"
#include "block.h"
#include "check.h"
#include "live.h"
#include "node.h"

#define COUNT ((int64_t)5000)

static void run(enum gsh_op op, const double *a, const double *b, double constant, double *out,
                int64_t count)
{
    struct gsh_call call = live_call(op, a, b, constant, out, count);
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
}

static uint64_t device_address(const double *array)
{
    const struct gsh_value *value = gsh_arena_find_block(array)->value;
    return value == NULL ? 0 : value->address;
}

/* 0, 1, 2 ... on the device, where they have run. */
static double *numbers(void)
{
    double *host = live_doubles(COUNT, GSH_ARENA_HOST),
           *array = live_doubles(COUNT, GSH_ARENA_DEVICE);
    for (int64_t i = 0; i < COUNT; i++)
        host[i] = (double)i;
    run(GSH_OP_ADD, host, NULL, 0, array, COUNT);
    gsh_dispatch_synchronize();
    gsh_arena_free(host);
    return array;
}

/* out = (a + b) * 2, or (a + 1) * 2 where b is NULL, as one group. */
static void run_pair(const double *a, const double *b, double *out, int64_t count)
{
    double *sum = live_doubles(count, GSH_ARENA_DEVICE);
    run(GSH_OP_ADD, a, b, 1, sum, count);
    run(GSH_OP_MULTIPLY, sum, NULL, 2, out, count);
    gsh_arena_free(sum);
}

static void check_what_dies_is_reused(void)
{
    double *a = numbers(), *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    uint64_t before = device_address(a);
    run_pair(a, NULL, out, COUNT);
    gsh_arena_free(a);
    gsh_dispatch_synchronize();
    CHECK_INT(device_address(out), before);
    CHECK(out[0] == 2 && out[COUNT - 1] == 2.0 * COUNT);
    gsh_arena_free(out);
}

static void check_what_is_wanted_stays(void)
{
    double *a = numbers(), *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    run_pair(a, NULL, out, COUNT);
    gsh_dispatch_synchronize();
    CHECK(device_address(out) != device_address(a));
    CHECK(a[0] == 0 && a[COUNT - 1] == COUNT - 1);
    CHECK(out[0] == 2 && out[COUNT - 1] == 2.0 * COUNT);
    gsh_arena_free(a);
    gsh_arena_free(out);
}

/* A later node of the same flush, which is in no group with the first ones, reads it too. */
static void check_what_is_read_later_stays(void)
{
    double *a = numbers(), *out = live_doubles(COUNT, GSH_ARENA_DEVICE),
           *late = live_doubles(COUNT, GSH_ARENA_DEVICE);
    run_pair(a, NULL, out, COUNT);
    run_pair(a + 1, NULL, late, COUNT / 2);
    gsh_arena_free(a);
    CHECK(out[COUNT - 1] == 2.0 * COUNT && late[0] == 4 && late[9] == 22);
    gsh_arena_free(out);
    gsh_arena_free(late);
}

/* What is read elsewhere than it is written, or there and elsewhere, would be overwritten before; and memory of another size
 * is not what the output asked for. */
static void check_other_views(size_t first, size_t second, int64_t count)
{
    double *a = numbers(), *out = live_doubles(count, GSH_ARENA_DEVICE);
    uint64_t before = device_address(a);
    run_pair(a + first, a + second, out, count);
    gsh_arena_free(a);
    gsh_dispatch_synchronize();
    CHECK(device_address(out) != before);
    double shift = (double)(first + second);
    CHECK(out[0] == 2 * shift && out[count - 1] == 2 * (2 * (double)(count - 1) + shift));
    gsh_arena_free(out);
}

static enum gsh_status decline(const struct gsh_group *group, unsigned row,
                               gsh_can_split *can_split, const void *item)
{
    (void)group, (void)row, (void)can_split, (void)item;
    return GSH_DECLINED;
}

static void check_declined(void)
{
    const struct gsh_backend *real = gsh_backend_get();
    struct gsh_backend declining = *real;
    declining.run_group = decline;
    gsh_backend_replace(&declining);
    double *a = numbers(), *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    run_pair(a, NULL, out, COUNT);
    gsh_arena_free(a);
    CHECK(out[0] == 2 && out[COUNT - 1] == 2.0 * COUNT);
    gsh_arena_free(out);
    gsh_backend_replace(real);
}

/* ---- the program frees an array while a flush that is to store it goes on ---- */

static const struct gsh_backend *below;
static double *doomed;
static unsigned groups;
static bool declines;

static enum gsh_status free_and_run(const struct gsh_group *group, unsigned row,
                                    gsh_can_split *can_split, const void *item)
{
    if (doomed != NULL)
        gsh_arena_free(doomed);
    doomed = NULL;
    groups++;
    for (unsigned k = 1; k < group->store_count; k++)
        CHECK(group->arrays[group->stores[k].array].address !=
              group->arrays[group->stores[0].array].address);
    return declines ? GSH_DECLINED : below->run_group(group, row, can_split, item);
}

static void check_what_dies_meanwhile(bool is_declined)
{
    below = gsh_backend_get();
    struct gsh_backend freeing = *below;
    freeing.run_group = free_and_run;
    declines = is_declined;
    groups = 0;
    gsh_backend_replace(&freeing);
    double *a = numbers(), *b = numbers(), *first = live_doubles(COUNT / 2, GSH_ARENA_DEVICE),
           *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    run_pair(b, NULL, first, COUNT / 2);
    doomed = live_doubles(COUNT, GSH_ARENA_DEVICE);
    run(GSH_OP_ADD, a, NULL, 1, out, COUNT);
    run(GSH_OP_MULTIPLY, out, NULL, 2, doomed, COUNT);
    gsh_arena_free(a);
    CHECK(out[0] == 1 && out[COUNT - 1] == COUNT);
    CHECK(doomed == NULL);
    CHECK_INT(groups, 2);
    gsh_arena_free(out);
    gsh_arena_free(first);
    gsh_arena_free(b);
    gsh_backend_replace(below);
}

int main(void)
{
    live_defer();
    setenv("GPUSHIM_BACKGROUND", "0", 1);
    if (!live_start())
        return CHECK_SKIP;
    check_what_dies_is_reused();
    check_what_is_wanted_stays();
    check_what_is_read_later_stays();
    check_other_views(1, 1, COUNT - 1);
    check_other_views(0, 1, COUNT - 1);
    check_other_views(0, 0, COUNT / 2);
    check_declined();
    check_what_dies_meanwhile(false);
    check_what_dies_meanwhile(true);
    return live_end();
}
