/* SPDX-License-Identifier: Apache-2.0
 *
 * SCAN, TAKE, PUT, COMPRESS and EXPAND of the backend "cuda" against the host's loops, to the bit:
 * operands are such that every order of joining gives the same. Sizes are large enough for blocks to
 * run at the same time, and many writes meet in few places. Each launch runs twice and must give the
 * same bits. Products of powers of two leave the range of numbers and come back, or do not. `--shard
 * K/N` runs a share of the cases. With the argument `speed` one line of time a launch instead.
 * Skipped where no GPU is.
 */
#include "clock.h"
#include "open_gpu.h"
#include "shard.h"

/* How products of floats leave the range of numbers, if they do. */
enum way { WAY_NONE, WAY_SWINGS, WAY_SINKS, WAY_GROWS, WAY_ENDS, WAY_STAYS, WAY_COUNT };
static enum way way;

/* The i-th of n factors, whose products are exact in any order unless they are subnormal; after
 * `depth` halves a product is the smallest number. WAY_STAYS, for one row: sinks to a number that
 * 1 + 2^-16 leaves as it is, and comes back from it. */
static double factor_at(int64_t i, int64_t n, int depth)
{
    int64_t turn = i / (depth / 2);
    switch (way) {
    case WAY_SWINGS:
        return turn % 5 < 2 ? 0.5 : turn % 5 == 2 ? 1 : 2;
    case WAY_SINKS:
        return i % 3 == 0 ? 2 : 0.5;
    case WAY_GROWS:
        return i % 300 == 299 ? 2 : 1;
    case WAY_ENDS:
        return i == n / 2 ? 0 : i == n / 8 * 7 ? (double)INFINITY : 1;
    default:
        if (i >= n / 4 * 3)
            return i == n / 4 * 3 ? 0x1p20 : 1;
        return i < depth - 12 ? 0.5 : 1 + 0x1p-16;
    }
}

static void fill_factors(enum gsh_dtype dtype, unsigned char *at, size_t bytes)
{
    size_t size = gsh_dtype_size(dtype);
    bool is_single = size == (gsh_dtype_kind(dtype) == 'c' ? 8 : 4);
    for (size_t i = 0; i < bytes / size; i++) {
        double value = factor_at((int64_t)i, (int64_t)(bytes / size), is_single ? 149 : 1074);
        gsh_host_casts_run(at + i * size, dtype, 0, &value, GSH_FLOAT64, 0, 1);
    }
}

/* Small whole numbers: -1, 0, 1 where they are to be joined (a product: 1 and -1). */
static void fill_operand(const struct gsh_launch *launch, unsigned k, unsigned char *at,
                         size_t bytes)
{
    enum gsh_dtype dtype = launch->operands[k].dtype;
    size_t size = gsh_dtype_size(dtype);
    bool is_index = k == 1 && (launch->kind == GSH_LAUNCH_TAKE || launch->kind == GSH_LAUNCH_PUT);
    bool multiplies = launch->kind == GSH_LAUNCH_SCAN && launch->reduction == GSH_REDUCE_PROD;
    if (way != WAY_NONE) {
        fill_factors(dtype, at, bytes);
        return;
    }
    for (; bytes >= size; bytes -= size, at += size) {
        int64_t value = (int64_t)(random_bits() >> 20) % 3 - 1;
        if (is_index)
            value = (int64_t)(random_bits() >> 20) % launch->indexed.extent;
        else if (launch->kind == GSH_LAUNCH_SCAN && gsh_dtype_kind(dtype) != 'b')
            value = multiplies && value == 0 ? 1 : value;
        else if (gsh_dtype_kind(dtype) != 'b')
            value = (int64_t)(random_bits() >> 20) % 100;
        gsh_host_casts_run(at, dtype, 0, &value, GSH_INT64, 0, 1);
    }
}

struct trial {
    struct gsh_launch device, host;
    struct buffer buffers[GSH_MAX_OPERANDS];
    unsigned operands;
};

static bool begin(struct trial *trial, const struct gsh_launch *launch)
{
    bool good = true;
    *trial =
        (struct trial){.device = *launch, .host = *launch, .operands = gsh_launch_operands(launch)};
    for (unsigned k = 0; k < trial->operands; k++) {
        struct buffer *buffer = &trial->buffers[k];
        int64_t low, high;
        if (launch->operands[k].is_constant)
            continue;
        gsh_launch_extent(launch, k, &low, &high);
        good = make_buffer(dev, launch, k, false, buffer) && good;
        fill_operand(launch, k, buffer->host + GUARD, buffer->size);
        good = good && CHECK_INT(dev->upload(buffer->device + GUARD, buffer->host + GUARD,
                                             buffer->size, false),
                                 GSH_OK);
        trial->device.operands[k].address = buffer->device + GUARD - (uint64_t)low;
        trial->host.operands[k].address = (uint64_t)(uintptr_t)buffer->host + GUARD - (uint64_t)low;
    }
    gsh_launch_collapse(&trial->device);
    gsh_launch_collapse(&trial->host);
    return good;
}

static void end(struct trial *trial)
{
    for (unsigned k = 0; k < trial->operands; k++)
        if (trial->buffers[k].host != NULL)
            drop_buffer(dev, &trial->buffers[k]);
}

/* Runs on the device from the output's first bytes, and compares with `want`, if given. */
static bool run_device(struct trial *trial, const unsigned char *first, unsigned char *actual)
{
    struct buffer *out = &trial->buffers[trial->device.nin];
    size_t bytes = out->size + 2 * GUARD;
    return CHECK_INT(dev->upload(out->device, first, bytes, false), GSH_OK) &&
           CHECK_INT(dev->run(&trial->device, 0), GSH_OK) &&
           CHECK_INT(dev->download(actual, out->device, bytes, false), GSH_OK);
}

static void compare(const struct gsh_launch *launch, const char *what)
{
    struct trial trial;
    if (begin(&trial, launch) && CHECK(dev->supports(&trial.device))) {
        struct buffer *out = &trial.buffers[launch->nin];
        size_t bytes = out->size + 2 * GUARD;
        unsigned char *first = malloc(bytes), *actual = malloc(bytes), *again = malloc(bytes);
        memcpy(first, out->host, bytes);
        CHECK_INT(gsh_host_ops_run(&trial.host), GSH_OK);
        if (run_device(&trial, first, actual) && run_device(&trial, first, again)) {
            if (!CHECK_INT(
                    worst_distance(actual, out->host, bytes, launch->operands[launch->nin].dtype),
                    0))
                printf("%s %s\n", what, gsh_dtype_name(launch->loop));
            CHECK(memcmp(actual, again, bytes) == 0);
        }
        free(first);
        free(actual);
        free(again);
    }
    end(&trial);
}

static struct gsh_launch scan_of(enum gsh_reduction reduction, enum gsh_dtype loop, int ndim,
                                 const int64_t *shape, bool columns)
{
    struct gsh_launch launch = make_launch(GSH_LAUNCH_SCAN, loop, 1, ndim, shape);
    launch.reduction = reduction;
    for (unsigned k = 0; k < 2; k++) {
        if (columns)
            set_transposed(&launch, k, loop);
        else
            set_dense(&launch, k, loop, 1);
    }
    return launch;
}

static bool is_scanned(enum gsh_reduction reduction, enum gsh_dtype loop)
{
    bool rounds = reduction == GSH_REDUCE_HYPOT || reduction == GSH_REDUCE_LOGADDEXP ||
                  reduction == GSH_REDUCE_LOGADDEXP2;
    return gsh_reduction_has_loop(reduction, loop) && !rounds &&
           gsh_reduction_info(reduction)->result != GSH_RESULT_INDEX;
}

static void test_scan(enum gsh_reduction reduction, enum gsh_dtype loop, bool columns)
{
    static const int64_t shapes[][2] = {{1, 3},     {1, 4096},   {1, 4097}, {1, 1000003},
                                        {3, 70001}, {5000, 100}, {700, 3},  {3000, 50},
                                        {40, 3000}, {600, 5000}};
    for (size_t s = 0; s < GSH_COUNT(shapes); s++) {
        struct gsh_launch launch = scan_of(reduction, loop, 2, shapes[s], columns);
        compare(&launch, gsh_reduction_info(reduction)->name);
    }
}

static void test_scans(void)
{
    for (int r = 0; r < GSH_REDUCTION_COUNT; r++)
        for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
            for (int columns = 0; columns < 2; columns++)
                if (is_scanned((enum gsh_reduction)r, (enum gsh_dtype)loop) && shard_takes_case())
                    test_scan((enum gsh_reduction)r, (enum gsh_dtype)loop, columns);
}

/* The factors run through the rows one after the other. */
static void test_ways(enum gsh_dtype loop)
{
    static const int64_t shapes[][2] = {
        {1, 3000}, {1, 70001}, {1, 3000001}, {3, 70001}, {70, 3000}};
    for (way = WAY_NONE + 1; way < WAY_COUNT; way++)
        for (size_t s = 0; s < GSH_COUNT(shapes); s++)
            for (int columns = 0; columns < 2 && (way != WAY_STAYS || shapes[s][0] == 1);
                 columns++) {
                struct gsh_launch launch = scan_of(GSH_REDUCE_PROD, loop, 2, shapes[s], columns);
                compare(&launch, "products that leave the range");
            }
    way = WAY_NONE;
}

static void test_products(void)
{
    static const enum gsh_dtype loops[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64, GSH_COMPLEX128};
    for (size_t i = 0; i < GSH_COUNT(loops); i++)
        if (shard_takes_case())
            test_ways(loops[i]);
}

/* table: rows x width; `count` indices choose rows. */
static struct gsh_launch indexed(enum gsh_launch_kind kind, enum gsh_op op, enum gsh_dtype dtype,
                                 int64_t rows, int64_t width, int64_t count)
{
    const int64_t shape[] = {count, width};
    int64_t size = (int64_t)gsh_dtype_size(dtype);
    unsigned table = kind == GSH_LAUNCH_TAKE ? 0 : 2;
    struct gsh_launch launch = make_launch(kind, dtype, 2, 2, shape);
    launch.op = op;
    set_dense(&launch, 2 - table, dtype, 1);
    launch.operands[1].dtype = GSH_INT64;
    launch.strides[1][0] = 8;
    launch.operands[table].dtype = dtype;
    launch.strides[table][1] = size;
    launch.indexed = (struct gsh_indexed){.stride = size * width, .extent = rows};
    return launch;
}

static const int64_t tables[][3] = {{10, 1, 1000000},  {100000, 1, 1000000}, {1000, 7, 50000},
                                    {3, 300, 3000},    {900, 1, 300000},     {6144, 1, 800000},
                                    {6145, 1, 800000}, {5, 1, 20000}};

static void test_take(enum gsh_dtype loop)
{
    for (size_t c = 0; c < GSH_COUNT(tables); c++) {
        struct gsh_launch take =
            indexed(GSH_LAUNCH_TAKE, GSH_OP_COPY, loop, tables[c][0], tables[c][1], tables[c][2]);
        compare(&take, "take");
    }
}

/* Of an array of values, or of one. */
static void test_put(enum gsh_op op, enum gsh_dtype loop, bool is_one)
{
    for (size_t c = 0; c < GSH_COUNT(tables); c++) {
        struct gsh_launch put =
            indexed(GSH_LAUNCH_PUT, op, loop, tables[c][0], tables[c][1], tables[c][2]);
        put.operands[0].is_constant = is_one;
        if (is_one) {
            fill_value(&put.operands[0].constant, loop, false);
            memset(put.strides[0], 0, sizeof(put.strides[0]));
        }
        compare(&put, gsh_op_info(op)->name);
    }
}

static void test_indexed(void)
{
    static const enum gsh_op ops[] = {GSH_OP_COPY,        GSH_OP_ADD,     GSH_OP_SUBTRACT,
                                      GSH_OP_MULTIPLY,    GSH_OP_MAXIMUM, GSH_OP_BITWISE_XOR,
                                      GSH_OP_LOGICAL_XOR, GSH_OP_GCD};
    for (int dtype = 0; dtype < GSH_DTYPE_COUNT; dtype++) {
        enum gsh_dtype loop = (enum gsh_dtype)dtype;
        if (shard_takes_case())
            test_take(loop);
        for (size_t o = 0; o < GSH_COUNT(ops); o++)
            for (int is_one = 0; is_one <= (ops[o] != GSH_OP_COPY); is_one++)
                if (gsh_op_has_loop(ops[o], loop) && shard_takes_case())
                    test_put(ops[o], loop, is_one != 0);
    }
}

static struct gsh_launch masked(enum gsh_launch_kind kind, enum gsh_dtype dtype, int64_t n)
{
    struct gsh_launch launch = make_launch(kind, dtype, 1, 1, &n);
    launch.op = GSH_OP_COPY;
    launch.has_mask = true;
    set_dense(&launch, kind == GSH_LAUNCH_COMPRESS ? 0 : 1, dtype, 1);
    launch.operands[kind == GSH_LAUNCH_COMPRESS ? 1 : 0].dtype = dtype;
    set_dense(&launch, 2, GSH_BOOL, 1);
    launch.indexed = (struct gsh_indexed){.stride = (int64_t)gsh_dtype_size(dtype), .extent = n};
    return launch;
}

static void test_masks(void)
{
    static const int64_t sizes[] = {1, 2049, 100000, 20000003};
    for (int dtype = 0; dtype < GSH_DTYPE_COUNT; dtype++)
        for (size_t s = 0; s < GSH_COUNT(sizes); s++)
            for (int expands = 0; expands < 2; expands++) {
                if ((sizes[s] > 1000000 && dtype != GSH_FLOAT64) || !shard_takes_case())
                    continue;
                struct gsh_launch launch = masked(expands ? GSH_LAUNCH_EXPAND : GSH_LAUNCH_COMPRESS,
                                                  (enum gsh_dtype)dtype, sizes[s]);
                compare(&launch, expands ? "expand" : "compress");
            }
}

static void time_launch(const struct gsh_launch *launch, const char *what)
{
    enum { RUNS = 50 };
    struct trial trial;
    if (begin(&trial, launch) && CHECK_INT(dev->run(&trial.device, 0), GSH_OK) &&
        CHECK_INT(dev->synchronize(), GSH_OK)) {
        uint64_t start = gsh_clock_ns();
        for (int i = 0; i < RUNS; i++)
            CHECK_INT(dev->run(&trial.device, 0), GSH_OK);
        CHECK_INT(dev->synchronize(), GSH_OK);
        printf("%s %s: %.1f us\n", what, gsh_dtype_name(launch->loop),
               (double)(gsh_clock_ns() - start) / RUNS * 1e-3);
    }
    end(&trial);
}

static void time_all(void)
{
    static const struct {
        const char *what;
        enum gsh_reduction reduction;
        enum gsh_dtype dtype;
        int64_t shape[2];
        bool columns;
    } scans[] = {{"cumsum 1e7", GSH_REDUCE_SUM, GSH_FLOAT64, {1, 10000000}, false},
                 {"cumsum 1e7", GSH_REDUCE_SUM, GSH_FLOAT32, {1, 10000000}, false},
                 {"cumsum 1e7", GSH_REDUCE_SUM, GSH_INT64, {1, 10000000}, false},
                 {"cumsum 1e6", GSH_REDUCE_SUM, GSH_FLOAT64, {1, 1000000}, false},
                 {"cumsum 1e8", GSH_REDUCE_SUM, GSH_FLOAT64, {1, 100000000}, false},
                 {"maximum.accumulate 1e7", GSH_REDUCE_MAX, GSH_FLOAT64, {1, 10000000}, false},
                 {"cumprod 1e7", GSH_REDUCE_PROD, GSH_FLOAT64, {1, 10000000}, false},
                 {"cumprod 1e7", GSH_REDUCE_PROD, GSH_FLOAT32, {1, 10000000}, false},
                 {"cumprod 1e7", GSH_REDUCE_PROD, GSH_COMPLEX128, {1, 10000000}, false},
                 {"cumprod (3000, 3000) axis 0", GSH_REDUCE_PROD, GSH_FLOAT64, {3000, 3000}, true},
                 {"cumsum (3000, 3000) axis 1", GSH_REDUCE_SUM, GSH_FLOAT64, {3000, 3000}, false},
                 {"cumsum (3000, 3000) axis 0", GSH_REDUCE_SUM, GSH_FLOAT64, {3000, 3000}, true},
                 {"cumsum (100, 100000) axis 1", GSH_REDUCE_SUM, GSH_FLOAT64, {100, 100000}, false},
                 {"cumsum (100, 100000) axis 0", GSH_REDUCE_SUM, GSH_FLOAT64, {100000, 100}, true}};
    for (size_t i = 0; i < GSH_COUNT(scans); i++) {
        struct gsh_launch launch =
            scan_of(scans[i].reduction, scans[i].dtype, 2, scans[i].shape, scans[i].columns);
        time_launch(&launch, scans[i].what);
    }
    for (way = WAY_NONE + 1; way < WAY_COUNT; way++) {
        struct gsh_launch launch =
            scan_of(GSH_REDUCE_PROD, GSH_FLOAT64, 2, (const int64_t[]){1, 10000000}, false);
        char what[32];
        snprintf(what, sizeof(what), "cumprod 1e7, way %d", (int)way);
        time_launch(&launch, what);
    }
    way = WAY_NONE;
    struct gsh_launch launch =
        indexed(GSH_LAUNCH_TAKE, GSH_OP_COPY, GSH_FLOAT64, 10000000, 1, 10000000);
    time_launch(&launch, "take 1e7 of 1e7");
    launch = indexed(GSH_LAUNCH_TAKE, GSH_OP_COPY, GSH_FLOAT64, 100000, 100, 100000);
    time_launch(&launch, "take 1e5 rows of 100");
    launch = indexed(GSH_LAUNCH_PUT, GSH_OP_COPY, GSH_FLOAT64, 10000000, 1, 10000000);
    time_launch(&launch, "put 1e7 into 1e7");
    launch = indexed(GSH_LAUNCH_PUT, GSH_OP_ADD, GSH_INT64, 10000000, 1, 10000000);
    time_launch(&launch, "add.at 1e7 into 1e7");
    launch = indexed(GSH_LAUNCH_PUT, GSH_OP_ADD, GSH_INT64, 100, 1, 10000000);
    time_launch(&launch, "add.at 1e7 into 100");
    for (int64_t extent = 10; extent <= 100000; extent *= 10) {
        launch = indexed(GSH_LAUNCH_PUT, GSH_OP_ADD, GSH_INT64, extent, 1, 10000000);
        launch.operands[0].is_constant = true;
        fill_value(&launch.operands[0].constant, GSH_INT64, false);
        memset(launch.strides[0], 0, sizeof(launch.strides[0]));
        char what[40];
        snprintf(what, sizeof(what), "count 1e7 in %lld", (long long)extent);
        time_launch(&launch, what);
    }
    launch = masked(GSH_LAUNCH_COMPRESS, GSH_FLOAT64, 10000000);
    time_launch(&launch, "compress 1e7");
    launch = masked(GSH_LAUNCH_EXPAND, GSH_FLOAT64, 10000000);
    time_launch(&launch, "expand 1e7");
    launch = make_launch(GSH_LAUNCH_ELEMENTWISE, GSH_FLOAT64, 1, 1, (const int64_t[]){10000000});
    launch.op = GSH_OP_COPY;
    set_dense(&launch, 0, GSH_FLOAT64, 1);
    set_dense(&launch, 1, GSH_FLOAT64, 1);
    time_launch(&launch, "for comparison: copy 1e7");
}

static void test_all(void)
{
    test_scans();
    test_products();
    test_indexed();
    test_masks();
}

int main(int argc, char **argv)
{
    return shard_main(argc, argv, test_all, time_all);
}
