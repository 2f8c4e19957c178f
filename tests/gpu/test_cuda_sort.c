/* SPDX-License-Identifier: Apache-2.0
 *
 * SORT of the backend "cuda" against the host's merge sort, to the bit: each dtype, elements and their order, short and
 * long rows, in place and not, of random bits (NaNs of all kinds are among them), of few values, and of one. Each
 * launch runs twice. On a real GPU also rows of which many blocks sort parts at the same time. With the argument
 * `speed` one line of time a launch instead. Skipped where no GPU is.
 */
#include "clock.h"
#include "host_ops.h"
#include "open_gpu.h"
#include "shard.h"

#include <stdlib.h>
#include <string.h>

enum fill { RANDOM, FEW, ONE, FILLS };

static void fill_bytes(unsigned char *bytes, size_t size, size_t element, enum fill fill)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)(random_bits() >> 32);
        bool is_low = i % element == 0;
        bytes[i] = fill == RANDOM ? byte : fill == FEW && is_low ? byte % 5 : 0;
    }
}

static struct gsh_launch sort_of(enum gsh_dtype loop, bool gives_order, int64_t rows,
                                 int64_t length)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_SORT,
                                .loop = loop,
                                .nin = 1,
                                .nout = 1,
                                .ndim = 2,
                                .shape = {rows, length}};
    launch.sort.gives_order = gives_order;
    for (unsigned k = 0; k < 2; k++) {
        enum gsh_dtype dtype = k == 0 ? loop : gsh_launch_result_dtype(&launch, 0);
        launch.operands[k].dtype = dtype;
        launch.strides[k][1] = (int64_t)gsh_dtype_size(dtype);
        launch.strides[k][0] = length * launch.strides[k][1];
    }
    return launch;
}

struct sides {
    size_t bytes[2];
    unsigned char *host[2], *got;
    uint64_t device[2];
};

static bool make_sides(const struct gsh_launch *launch, enum fill fill, struct sides *sides)
{
    bool good = true;
    for (unsigned k = 0; k < 2; k++) {
        sides->bytes[k] = (size_t)(gsh_launch_elements(launch) * launch->strides[k][1]);
        sides->host[k] = calloc(1, sides->bytes[k]);
        good = CHECK_INT(dev->allocate(sides->bytes[k], &sides->device[k]), GSH_OK) && good;
    }
    sides->got = malloc(sides->bytes[1]);
    fill_bytes(sides->host[0], sides->bytes[0], (size_t)launch->strides[0][1], fill);
    return good;
}

static void drop_sides(struct sides *sides)
{
    for (unsigned k = 0; k < 2; k++) {
        free(sides->host[k]);
        dev->release(sides->device[k], sides->bytes[k]);
    }
    free(sides->got);
}

static bool run_device(struct gsh_launch launch, const struct sides *sides, bool in_place)
{
    for (unsigned k = 0; k < 2; k++)
        launch.operands[k].address = sides->device[in_place ? 0 : k];
    gsh_launch_collapse(&launch);
    return CHECK(dev->supports(&launch)) &&
           CHECK_INT(dev->upload(sides->device[0], sides->host[0], sides->bytes[0], false),
                     GSH_OK) &&
           CHECK_INT(dev->run(&launch, 0), GSH_OK) &&
           CHECK_INT(dev->download(sides->got, launch.operands[1].address, sides->bytes[1], false),
                     GSH_OK);
}

static void run_host(struct gsh_launch launch, const struct sides *sides)
{
    for (unsigned k = 0; k < 2; k++)
        launch.operands[k].address = (uint64_t)(uintptr_t)sides->host[k];
    gsh_launch_collapse(&launch);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
}

static void compare(const struct gsh_launch *launch, enum fill fill)
{
    struct sides sides;
    if (make_sides(launch, fill, &sides)) {
        run_host(*launch, &sides);
        for (int turn = 0; turn < (launch->sort.gives_order ? 2 : 3); turn++)
            if (run_device(*launch, &sides, turn == 2) &&
                !CHECK(memcmp(sides.got, sides.host[1], sides.bytes[1]) == 0))
                printf("%s order %d, %lld x %lld, fill %d, turn %d\n", gsh_dtype_name(launch->loop),
                       launch->sort.gives_order, (long long)launch->shape[0],
                       (long long)launch->shape[1], (int)fill, turn);
    }
    drop_sides(&sides);
}

static bool is_emulated(void)
{
    char text[4096];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    dev->describe(&fmt);
    return strstr(text, "emulated") != NULL;
}

static void test_all(void)
{
    static const int64_t shapes[][2] = {{1, 1},       {1, 100},    {700, 3},
                                        {5, 1000},    {1, 4096},   {2, 7000},
                                        {300, 20000}, {2, 700001}, {1, 3000000}};
    size_t count = is_emulated() ? 6 : GSH_COUNT(shapes);
    for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
        for (int form = 0; form < 2; form++)
            for (size_t s = 0; s < count; s++)
                for (enum fill fill = RANDOM;
                     fill < FILLS && (fill != RANDOM || shard_takes_case()); fill++) {
                    struct gsh_launch launch =
                        sort_of((enum gsh_dtype)loop, form != 0, shapes[s][0], shapes[s][1]);
                    compare(&launch, fill);
                }
}

static void time_sort(struct gsh_launch launch)
{
    enum { RUNS = 5 };
    struct sides sides;
    if (make_sides(&launch, RANDOM, &sides) && run_device(launch, &sides, false)) {
        for (unsigned k = 0; k < 2; k++)
            launch.operands[k].address = sides.device[k];
        gsh_launch_collapse(&launch);
        CHECK_INT(dev->synchronize(), GSH_OK);
        uint64_t begin = gsh_clock_ns();
        for (int run = 0; run < RUNS; run++)
            CHECK_INT(dev->run(&launch, 0), GSH_OK);
        CHECK_INT(dev->synchronize(), GSH_OK);
        printf("%s of %lld %s: %.3f ms\n", launch.sort.gives_order ? "order" : "sort",
               (long long)launch.shape[0], gsh_dtype_name(launch.loop),
               (double)(gsh_clock_ns() - begin) * 1e-6 / RUNS);
    }
    drop_sides(&sides);
}

static void time_all(void)
{
    static const enum gsh_dtype loops[] = {GSH_UINT8, GSH_INT32, GSH_INT64, GSH_FLOAT64};
    for (size_t i = 0; i < GSH_COUNT(loops); i++)
        for (int form = 0; form < 2; form++)
            for (int64_t length = 100000; length <= 100000000; length *= 10)
                time_sort(sort_of(loops[i], form != 0, 1, length));
}

int main(int argc, char **argv)
{
    return shard_main(argc, argv, test_all, time_all);
}
