/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts of masks are remembered until the mask may have been written.
 */
#include "check.h"
#include "live.h"
#include "mask_count.h"

#define COUNT ((int64_t)5 << 20) /* more than one chunk of a block */

static unsigned char *mask;
static double *numbers;

/* mask[begin:end] = numbers > limit */
static void write_on_device(double limit, int64_t begin, int64_t end)
{
    struct gsh_call call = live_call(GSH_OP_GREATER, numbers + begin, NULL, limit,
                                     (double *)(void *)(mask + begin), end - begin);
    call.launch.operands[2].dtype = GSH_BOOL;
    call.launch.strides[2][0] = 1;
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
}

static void read_on_device(void)
{
    double *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    struct gsh_call call = live_call(GSH_OP_COPY, (double *)(void *)mask, NULL, 0, out, COUNT);
    call.launch.operands[0].dtype = GSH_BOOL;
    call.launch.strides[0][0] = 1;
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    gsh_arena_free(out);
}

static struct gsh_launch view(int64_t first, int64_t count, int64_t stride)
{
    struct gsh_launch launch = {.nin = 1, .ndim = 1, .shape = {count}};
    launch.operands[0] =
        (struct gsh_operand){.dtype = GSH_BOOL, .address = (uint64_t)(uintptr_t)(mask + first)};
    launch.strides[0][0] = stride;
    return launch;
}

/* What is remembered of the view; -1: nothing. */
static int64_t look_up(struct gsh_launch launch)
{
    struct gsh_mask_count of = {.mask = &launch};
    int64_t count = -1;
    return gsh_mask_count_find(&of, &count) ? count : -1;
}

/* Asks for the whole mask and remembers `count` where nothing is known. */
static int64_t count_whole(int64_t count)
{
    struct gsh_launch whole = view(0, COUNT, 1);
    struct gsh_mask_count of = {.mask = &whole};
    int64_t found;
    if (gsh_mask_count_find(&of, &found))
        return found;
    gsh_mask_count_note(&of, count);
    return count;
}

static void check_views(void)
{
    write_on_device(0, 0, COUNT);
    CHECK_INT(look_up(view(0, COUNT, 1)), -1);
    CHECK_INT(count_whole(5), 5);
    CHECK_INT(count_whole(6), 5);
    CHECK_INT(look_up(view(0, COUNT - 1, 1)), -1);
    CHECK_INT(look_up(view(1, COUNT - 1, 1)), -1);
    CHECK_INT(look_up(view(COUNT - 1, COUNT, -1)), -1);
    CHECK_INT(look_up(view(0, COUNT, 0)), -1);
    struct gsh_launch plane = view(0, COUNT, 1);
    plane.ndim = 0; /* the first element, with the whole's numbers behind */
    CHECK_INT(look_up(plane), -1);
    CHECK_INT(look_up(view(0, COUNT, 1)), 5);
}

static void check_writes(void)
{
    write_on_device(0, 0, COUNT);
    CHECK_INT(count_whole(1), 1);
    write_on_device(1, 0, COUNT);
    CHECK_INT(look_up(view(0, COUNT, 1)), -1);
    CHECK_INT(count_whole(2), 2);
    write_on_device(2, 10, 20); /* into the same value */
    CHECK_INT(look_up(view(0, COUNT, 1)), -1);
    CHECK_INT(count_whole(3), 3);
    gsh_dispatch_synchronize();
    CHECK_INT(*(volatile unsigned char *)mask, numbers[0] > 1);
    CHECK_INT(look_up(view(0, COUNT, 1)), 3); /* it was only read */
    *(volatile unsigned char *)(mask + COUNT / 2) ^= 1;
    CHECK_INT(look_up(view(0, COUNT, 1)), -1);
    CHECK_INT(count_whole(4), 4);
    CHECK_INT(look_up(view(0, COUNT, 1)), -1); /* may be written to unseen */
    read_on_device();
    CHECK_INT(look_up(view(0, COUNT, 1)), -1);
    CHECK_INT(count_whole(5), 5);
    CHECK_INT(count_whole(6), 5);
}

/* Between the question and the answer. */
static void check_write_meanwhile(void)
{
    struct gsh_launch whole = view(0, COUNT, 1);
    struct gsh_mask_count of = {.mask = &whole};
    int64_t count;
    write_on_device(0, 0, COUNT);
    CHECK(!gsh_mask_count_find(&of, &count));
    write_on_device(1, 0, COUNT);
    gsh_mask_count_note(&of, 7);
    CHECK_INT(look_up(whole), -1);
    CHECK_INT(count_whole(8), 8);
    gsh_arena_free(mask); /* another array at the same place */
    mask = gsh_arena_allocate((size_t)COUNT, GSH_ARENA_DEVICE);
    CHECK(whole.operands[0].address == (uint64_t)(uintptr_t)mask);
    write_on_device(1, 0, COUNT);
    CHECK_INT(look_up(view(0, COUNT, 1)), -1);
}

/* The oldest is forgotten first. */
static void check_many(void)
{
    write_on_device(0, 0, COUNT);
    CHECK_INT(count_whole(100), 100);
    for (int first = 1; first <= 4; first++) {
        CHECK_INT(look_up(view(0, COUNT, 1)), 100);
        struct gsh_launch part = view(first, COUNT - first, 1);
        struct gsh_mask_count of = {.mask = &part};
        int64_t count;
        CHECK(!gsh_mask_count_find(&of, &count));
        gsh_mask_count_note(&of, first);
        CHECK_INT(look_up(part), first);
    }
    CHECK_INT(look_up(view(0, COUNT, 1)), -1);
    CHECK_INT(look_up(view(1, COUNT - 1, 1)), 1);
    struct gsh_launch unknown =
        view(0, COUNT, 1); /* those of which nothing can be known take no place */
    unknown.operands[0].address = (uint64_t)(uintptr_t)numbers;
    numbers[0] = 0;
    for (int k = 0; k < 5; k++) {
        struct gsh_mask_count of = {.mask = &unknown};
        int64_t count;
        CHECK(!gsh_mask_count_find(&of, &count));
        gsh_mask_count_note(&of, k);
    }
    CHECK_INT(look_up(view(1, COUNT - 1, 1)), 1);
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    mask = gsh_arena_allocate((size_t)COUNT, GSH_ARENA_HOST);
    numbers = live_doubles(COUNT, GSH_ARENA_HOST);
    for (int64_t k = 0; k < COUNT; k++)
        numbers[k] = (double)(k % 3);
    CHECK_INT(look_up(view(0, COUNT, 1)), -1); /* the device has never seen it */
    check_views();
    check_writes();
    check_write_meanwhile();
    check_many();
    gsh_arena_free(mask);
    gsh_arena_free(numbers);
    return live_end();
}
