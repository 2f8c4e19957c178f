/* SPDX-License-Identifier: Apache-2.0
 *
 * SELECT of the backend "cuda" against a sort of each window by the host, and against the host's loops: each dtype, windows of 1 to 81
 * elements, ranks in the middle and elsewhere, few values and values of random bits, one to three dimensions, outputs with gaps.
 * Skipped where no GPU is.
 */
#include "gpu_operands.h"
#include "host_ops.h"
#include "shard.h"

#include <stdlib.h>
#include <string.h>

enum { PADDED, OFFSETS, OUTPUT, SIDES };
enum { DIMS = 3 };

struct windows {
    enum gsh_dtype dtype;
    bool is_few; /* values */
    int count, rank;
    int64_t padded[DIMS], shape[DIMS];
    int64_t gap; /* the output's elements are so many elements apart */
    size_t bytes[SIDES];
    unsigned char *host[SIDES], *got;
    uint64_t device[SIDES];
};

static int64_t elements_of(const int64_t *shape)
{
    return shape[0] * shape[1] * shape[2];
}

static struct gsh_launch launch_of(const struct windows *windows, const uint64_t *addresses)
{
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_SELECT, .loop = windows->dtype, .nin = 2, .nout = 1, .ndim = DIMS};
    int64_t size = (int64_t)gsh_dtype_size(windows->dtype), in = size, out = windows->gap * size;
    launch.selection =
        (struct gsh_selection){{size, elements_of(windows->padded)}, windows->count, windows->rank};
    for (unsigned k = 0; k < SIDES; k++)
        launch.operands[k] = (struct gsh_operand){
            .dtype = k == OFFSETS ? GSH_INT64 : windows->dtype, .address = addresses[k]};
    for (int d = DIMS; d-- > 0;) {
        launch.shape[d] = windows->shape[d];
        launch.strides[PADDED][d] = in;
        launch.strides[OUTPUT][d] = out;
        in *= windows->padded[d];
        out *= windows->shape[d];
    }
    gsh_launch_collapse(&launch);
    return launch;
}

/* Neither NaN nor -0.0. */
static void fill_values(const struct windows *windows)
{
    size_t size = gsh_dtype_size(windows->dtype);
    for (size_t i = 0; i < windows->bytes[PADDED] / size; i++) {
        uint64_t bits = random_bits() >> 8;
        double value = windows->is_few ? (double)(bits % 7) - 2 : ((double)bits - 1) * 0x1p-40;
        float narrow = (float)value;
        unsigned char *at = windows->host[PADDED] + i * size;
        bits = windows->is_few ? bits % 7 - (windows->dtype == GSH_BOOL ? 0 : 2) : bits;
        if (windows->dtype == GSH_BOOL)
            bits %= 2;
        memcpy(at,
               windows->dtype == GSH_FLOAT64   ? (void *)&value
               : windows->dtype == GSH_FLOAT32 ? (void *)&narrow
                                               : (void *)&bits,
               size);
    }
}

/* So that no window leaves the padded array. */
static void fill_offsets(const struct windows *windows)
{
    int64_t *offsets = (int64_t *)(void *)windows->host[OFFSETS];
    for (int k = 0; k < windows->count; k++) {
        offsets[k] = 0;
        for (int d = 0; d < DIMS; d++) {
            uint64_t room = (uint64_t)(windows->padded[d] - windows->shape[d] + 1);
            offsets[k] = offsets[k] * windows->padded[d] + (int64_t)(random_bits() % room);
        }
    }
}

static bool make(struct windows *windows)
{
    bool good = true;
    size_t size = gsh_dtype_size(windows->dtype);
    windows->bytes[PADDED] = (size_t)elements_of(windows->padded) * size;
    windows->bytes[OFFSETS] = (size_t)windows->count * sizeof(int64_t);
    windows->bytes[OUTPUT] = (size_t)(elements_of(windows->shape) * windows->gap) * size;
    for (int side = 0; side < SIDES; side++) {
        windows->host[side] = calloc(1, windows->bytes[side]);
        good =
            CHECK_INT(dev->allocate(windows->bytes[side], &windows->device[side]), GSH_OK) && good;
    }
    windows->got = calloc(1, windows->bytes[OUTPUT]);
    fill_values(windows);
    fill_offsets(windows);
    return good;
}

static void drop(struct windows *windows)
{
    for (int side = 0; side < SIDES; side++) {
        free(windows->host[side]);
        dev->release(windows->device[side], windows->bytes[side]);
    }
    free(windows->got);
}

static bool upload(const struct windows *windows)
{
    bool good = true;
    for (int side = 0; side < SIDES && good; side++)
        good = CHECK_INT(
            dev->upload(windows->device[side], windows->host[side], windows->bytes[side], false),
            GSH_OK);
    return good;
}

static bool run_device(const struct windows *windows)
{
    struct gsh_launch launch = launch_of(windows, windows->device);
    return upload(windows) && CHECK(dev->supports(&launch)) &&
           CHECK_INT(dev->run(&launch, 0), GSH_OK) &&
           CHECK_INT(
               dev->download(windows->got, windows->device[OUTPUT], windows->bytes[OUTPUT], false),
               GSH_OK);
}

/* Sorts `count` elements. */
static void sort(enum gsh_dtype dtype, unsigned char *elements, int64_t count)
{
    int64_t size = (int64_t)gsh_dtype_size(dtype);
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_SORT, .loop = dtype, .nin = 1, .nout = 1, .ndim = 1, .shape = {count}};
    for (unsigned k = 0; k < 2; k++) {
        launch.operands[k] =
            (struct gsh_operand){.dtype = dtype, .address = (uint64_t)(uintptr_t)elements};
        launch.strides[k][0] = size;
    }
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
}

/* Checks the window at this place, counted in C order. */
static bool is_right(const struct windows *windows, const unsigned char *output, int64_t number)
{
    unsigned char elements[GSH_SELECTION_MOST * sizeof(int64_t)];
    const int64_t *offsets = (const int64_t *)(const void *)windows->host[OFFSETS];
    size_t size = gsh_dtype_size(windows->dtype);
    int64_t at = 0, left = number, step = 1;
    for (int d = DIMS; d-- > 0; left /= windows->shape[d], step *= windows->padded[d])
        at += left % windows->shape[d] * step;
    for (int k = 0; k < windows->count; k++)
        memcpy(elements + (size_t)k * size,
               windows->host[PADDED] + (size_t)(at + offsets[k]) * size, size);
    sort(windows->dtype, elements, windows->count);
    return memcmp(elements + (size_t)windows->rank * size,
                  output + (size_t)(number * windows->gap) * size, size) == 0;
}

static void compare(struct windows windows)
{
    if (make(&windows) && run_device(&windows)) {
        uint64_t addresses[SIDES];
        for (int side = 0; side < SIDES; side++)
            addresses[side] = (uint64_t)(uintptr_t)windows.host[side];
        struct gsh_launch launch = launch_of(&windows, addresses);
        CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
        bool good = memcmp(windows.got, windows.host[OUTPUT], windows.bytes[OUTPUT]) == 0;
        for (int64_t i = 0; i < elements_of(windows.shape) && good; i += 3)
            good = is_right(&windows, windows.got, i);
        if (!CHECK(good))
            printf("%s, rank %d of %d, few values %d\n", gsh_dtype_name(windows.dtype),
                   windows.rank, windows.count, windows.is_few);
    }
    drop(&windows);
}

static void compare_shapes(enum gsh_dtype dtype, int count, int rank)
{
    static const int64_t shapes[][2 * DIMS] = {
        {1, 1, 400, 1, 1, 301}, {1, 23, 90, 1, 19, 70}, {8, 9, 30, 5, 7, 21}, {1, 1, 1, 1, 1, 1}};
    for (size_t s = 0; s < GSH_COUNT(shapes); s++)
        for (int form = 0; form < 2; form++) {
            struct windows windows = {
                .dtype = dtype, .is_few = form != 0, .count = count, .rank = rank, .gap = form + 1};
            memcpy(windows.padded, shapes[s], sizeof windows.padded);
            memcpy(windows.shape, shapes[s] + DIMS, sizeof windows.shape);
            compare(windows);
        }
}

/* The middle one, another one, and in turn the ends. */
static void test_count(enum gsh_dtype dtype, int count)
{
    compare_shapes(dtype, count, count / 2);
    compare_shapes(dtype, count, (int)(random_bits() % (uint64_t)count));
    if (count % 5 == 0)
        compare_shapes(dtype, count, count % 2 ? 0 : count - 1);
}

static void test_all(void)
{
    static const int more[] = {63, 80, GSH_SELECTION_MOST};
    const unsigned dtypes = GSH_SET_BOOL | GSH_SET_INTEGERS | GSH_SET_FLOAT32_64;
    for (int dtype = 0; dtype < GSH_DTYPE_COUNT; dtype++) {
        for (int count = 1; (1u << dtype & dtypes) != 0 && count < 50; count++)
            if (shard_takes_case())
                test_count((enum gsh_dtype)dtype, count);
        for (size_t i = 0; (1u << dtype & dtypes) != 0 && i < GSH_COUNT(more); i++)
            if (shard_takes_case())
                test_count((enum gsh_dtype)dtype, more[i]);
    }
}

/* Prints what the middle of so many elements of an image takes. */
static void time_image(enum gsh_dtype dtype, int length)
{
    struct windows windows = {.dtype = dtype,
                              .count = length * length,
                              .rank = length * length / 2,
                              .padded = {1, 4000 + length - 1, 4000 + length - 1},
                              .shape = {1, 4000, 4000},
                              .gap = 1};
    if (make(&windows)) {
        int64_t *offsets = (int64_t *)(void *)windows.host[OFFSETS];
        for (int k = 0; k < windows.count; k++)
            offsets[k] = k / length * windows.padded[2] + k % length;
        struct gsh_launch launch = launch_of(&windows, windows.device);
        CHECK(upload(&windows));
        double seconds = seconds_of_launch(&launch);
        printf("%s, %d x %d of 4000 x 4000: %.3f ms\n", gsh_dtype_name(dtype), length, length,
               seconds * 1e3);
    }
    drop(&windows);
}

static void time_all(void)
{
    static const enum gsh_dtype dtypes[] = {GSH_UINT8, GSH_INT64, GSH_FLOAT32, GSH_FLOAT64};
    for (size_t d = 0; d < GSH_COUNT(dtypes); d++)
        for (int length = 3; length <= 9; length += 2)
            time_image(dtypes[d], length);
}

int main(int argc, char **argv)
{
    return shard_main(argc, argv, test_all, time_all);
}
