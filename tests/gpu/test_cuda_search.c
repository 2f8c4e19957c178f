/* SPDX-License-Identifier: Apache-2.0
 *
 * SEARCH of the backend "cuda" against the host's binary search: each dtype, both sides, values of random bits (NaNs of all
 * kinds are among them), few values, the line's own elements, a line with gaps, and one value. Lines are about as long as the tree
 * that a block keeps, shorter and longer; values are one, few, and so many that the tree is a full one. The line is sorted by the
 * host. Skipped where no GPU is.
 */
#include "host_ops.h"
#include "open_gpu.h"
#include "shard.h"

#include <stdlib.h>
#include <string.h>

enum form { RANDOM, FEW, EQUAL, GAPS, CONSTANT, FORMS };
enum { LINE, VALUES, FOUND, SIDES };

struct search {
    enum gsh_dtype dtype;
    enum form form;
    bool is_right;
    int64_t length, count;
    size_t bytes[SIDES];
    unsigned char *host[SIDES], *got;
    uint64_t device[SIDES];
};

static uint64_t on_host(const struct search *search, int side)
{
    return (uint64_t)(uintptr_t)search->host[side];
}

static void fill_bytes(unsigned char *bytes, size_t size, size_t element, enum form form)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)(random_bits() >> 32);
        bytes[i] = form != FEW ? byte : i % element == 0 ? byte % 5 : 0;
    }
}

/* Bytes from one element of the line to the next. */
static int64_t line_step(const struct search *search)
{
    return (int64_t)gsh_dtype_size(search->dtype) * (search->form == GAPS ? 3 : 1);
}

/* The line, in order. */
static void sort_line(const struct search *search)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_SORT,
                                .loop = search->dtype,
                                .nin = 1,
                                .nout = 1,
                                .ndim = 1,
                                .shape = {search->length}};
    for (unsigned k = 0; k < 2; k++) {
        launch.operands[k] =
            (struct gsh_operand){.dtype = search->dtype, .address = on_host(search, LINE)};
        launch.strides[k][0] = line_step(search);
    }
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
}

/* Values that are elements of the line. */
static void take_values(const struct search *search)
{
    size_t size = gsh_dtype_size(search->dtype);
    for (int64_t i = 0; i < search->count; i++) {
        size_t at = (size_t)((random_bits() >> 16) % (uint64_t)search->length);
        memcpy(search->host[VALUES] + (size_t)i * size,
               search->host[LINE] + at * (size_t)line_step(search), size);
    }
}

static struct gsh_launch launch_of(const struct search *search, const uint64_t *addresses)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_SEARCH,
                                .loop = search->dtype,
                                .nin = 2,
                                .nout = 1,
                                .ndim = 1,
                                .shape = {search->count}};
    int64_t size = (int64_t)gsh_dtype_size(search->dtype);
    launch.search = (struct gsh_search){{line_step(search), search->length}, search->is_right};
    for (unsigned k = 0; k < SIDES; k++)
        launch.operands[k] = (struct gsh_operand){.dtype = k == FOUND ? GSH_INT64 : search->dtype,
                                                  .address = addresses[k]};
    if (search->form == CONSTANT) {
        launch.operands[VALUES].is_constant = true;
        memcpy(&launch.operands[VALUES].constant, search->host[VALUES], (size_t)size);
    }
    launch.strides[VALUES][0] = search->form == CONSTANT ? 0 : size;
    launch.strides[FOUND][0] = sizeof(int64_t);
    gsh_launch_collapse(&launch);
    return launch;
}

static bool make(struct search *search)
{
    bool good = true;
    size_t size = gsh_dtype_size(search->dtype);
    search->bytes[LINE] = (size_t)(search->length * line_step(search));
    search->bytes[VALUES] = (size_t)search->count * size;
    search->bytes[FOUND] = (size_t)search->count * sizeof(int64_t);
    for (int side = 0; side < SIDES; side++) {
        search->host[side] = calloc(1, search->bytes[side]);
        fill_bytes(search->host[side], side == FOUND ? 0 : search->bytes[side], size, search->form);
        good = CHECK_INT(dev->allocate(search->bytes[side], &search->device[side]), GSH_OK) && good;
    }
    search->got = calloc(1, search->bytes[FOUND]);
    sort_line(search);
    if (search->form == EQUAL || search->form == GAPS)
        take_values(search);
    return good;
}

static void drop(struct search *search)
{
    for (int side = 0; side < SIDES; side++) {
        free(search->host[side]);
        dev->release(search->device[side], search->bytes[side]);
    }
    free(search->got);
}

static bool run_device(const struct search *search)
{
    struct gsh_launch launch = launch_of(search, search->device);
    for (int side = LINE; side <= VALUES; side++)
        if (!CHECK_INT(
                dev->upload(search->device[side], search->host[side], search->bytes[side], false),
                GSH_OK))
            return false;
    return CHECK(dev->supports(&launch)) && CHECK_INT(dev->run(&launch, 0), GSH_OK) &&
           CHECK_INT(dev->download(search->got, search->device[FOUND], search->bytes[FOUND], false),
                     GSH_OK);
}

static void compare(struct search search)
{
    if (make(&search)) {
        const uint64_t addresses[] = {on_host(&search, LINE), on_host(&search, VALUES),
                                      on_host(&search, FOUND)};
        struct gsh_launch launch = launch_of(&search, addresses);
        CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
        if (run_device(&search) &&
            !CHECK(memcmp(search.got, search.host[FOUND], search.bytes[FOUND]) == 0))
            printf("%s right %d, %lld in %lld, form %d\n", gsh_dtype_name(search.dtype),
                   search.is_right, (long long)search.count, (long long)search.length,
                   (int)search.form);
    }
    drop(&search);
}

static void test_all(void)
{
    static const int64_t sizes[][2] = {
        {1, 1},       {2, 5},       {3, 5},       {7, 1000},       {511, 600},     {512, 600},
        {2047, 3000}, {2048, 3000}, {4094, 5000}, {4095, 5000},    {4096, 5000},   {4097, 5000},
        {4098, 5000}, {4096, 1},    {100000, 10}, {100000, 30000}, {5000, 1200000}};
    for (int dtype = 0; dtype < GSH_DTYPE_COUNT; dtype++)
        for (int side = 0; side < 2; side++)
            for (size_t s = 0; s < GSH_COUNT(sizes); s++)
                for (enum form form = RANDOM;
                     form < FORMS && (form != RANDOM || shard_takes_case()); form++)
                    compare((struct search){.dtype = (enum gsh_dtype)dtype,
                                            .form = form,
                                            .is_right = side != 0,
                                            .length = sizes[s][0],
                                            .count = sizes[s][1]});
}

int main(int argc, char **argv)
{
    return shard_main(argc, argv, test_all, test_all);
}
