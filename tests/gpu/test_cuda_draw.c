/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws of random numbers on a GPU against the CPU's: the same values to the bit, and the same stream behind them. `speed` prints
 * what 1e8 values take, and compares these too. Skipped where no GPU is.
 */
#include "clock.h"
#include "cuda_context.h"
#include "draw_cases.h"
#include "shard.h"
#include "twister.h"

#include <sys/mman.h>

#define LARGE INT64_C(100000000)
#define REPEATS 7

/* A GPU that is emulated takes long, and has been shown that there are many tiles by tests/conformance/draw_vs_numpy.py. */
static bool is_emulated(void)
{
    return strncmp(gsh_cuda.name, "emulated", strlen("emulated")) == 0;
}

static char *reserve(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool is_same_stream(const struct gsh_random_stream *a, const struct gsh_random_stream *b)
{
    if (a->has_half != b->has_half || a->half != b->half)
        return false;
    if (a->generator != GSH_RANDOM_PHILOX)
        return a->pcg.state == b->pcg.state && a->pcg.increment == b->pcg.increment;
    return memcmp(a->philox.counter, b->philox.counter, sizeof a->philox.counter) == 0 &&
           memcmp(a->philox.buffer, b->philox.buffer, sizeof a->philox.buffer) == 0 &&
           a->philox.buffer_at == b->philox.buffer_at;
}

static void print_difference(const struct gsh_launch *launch, const char *got, const char *want,
                             const char *name)
{
    size_t size = gsh_dtype_size(launch->loop);
    int64_t count = gsh_launch_elements(launch), at = 0, different = 0;
    for (int64_t i = count; i-- > 0;)
        if (memcmp(got + (size_t)i * size, want + (size_t)i * size, size) != 0) {
            different++;
            at = i;
        }
    printf("%s, %lld values: %lld differ, the first is number %lld\n", name, (long long)count,
           (long long)different, (long long)at);
}

/* The CPU has no masked draws: tests/conformance/draw_vs_numpy.py judges those. */
static bool is_comparable(const struct draw_case *draw)
{
    return !draw->is_masked;
}

/* Makes the draw on the CPU, and compares what the device has written behind `device`, with a guard on either side. */
static void compare(struct gsh_launch launch, const struct gsh_random_stream *end, uint64_t device,
                    const char *name)
{
    size_t bytes = (size_t)gsh_launch_elements(&launch) * gsh_dtype_size(launch.loop);
    char *got = reserve(bytes + 2 * GUARD), *want = reserve(bytes);
    struct gsh_random_stream expected;
    launch.operands[0].address = (uintptr_t)want;
    launch.draw.end = &expected;
    if (!CHECK(got != NULL && want != NULL) || !CHECK_INT(gsh_host_ops_run(&launch), GSH_OK) ||
        !CHECK(dev->download(got, device, bytes + 2 * GUARD, false) == GSH_OK))
        return;
    if (!CHECK(memcmp(got + GUARD, want, bytes) == 0))
        print_difference(&launch, got + GUARD, want, name);
    if (!CHECK(is_same_stream(end, &expected)))
        printf("%s: the stream behind it differs\n", name);
    for (size_t i = 0; i < GUARD; i++)
        if (!CHECK(got[i] == 0x5a && got[GUARD + bytes + i] == 0x5a))
            break;
    munmap(got, bytes + 2 * GUARD);
    munmap(want, bytes);
}

/* Memory for `bytes` between guards; 0: there is none. */
static uint64_t make_output(size_t bytes)
{
    uint64_t device = 0;
    char *fill = reserve(bytes + 2 * GUARD);
    if (!CHECK(fill != NULL) || !CHECK(dev->allocate(bytes + 2 * GUARD, &device) == GSH_OK))
        return 0;
    memset(fill, 0x5a, bytes + 2 * GUARD);
    CHECK(dev->upload(device, fill, bytes + 2 * GUARD, false) == GSH_OK);
    munmap(fill, bytes + 2 * GUARD);
    return device;
}

static void test_draw(const struct draw_case *draw, const struct gsh_random_stream *stream,
                      int64_t count)
{
    size_t bytes = (size_t)count * gsh_dtype_size(draw->dtype);
    uint64_t device = make_output(bytes);
    if (device == 0)
        return;
    struct gsh_random_stream end;
    struct gsh_launch launch = draw_launch(draw, stream, count, device + GUARD);
    launch.draw.end = &end;
    CHECK(dev->supports(&launch));
    if (CHECK_INT(dev->run(&launch, 0), GSH_OK))
        compare(launch, &end, device, draw->name);
    dev->release(device, bytes + 2 * GUARD);
}

static void test_sizes(enum gsh_random_generator generator, const struct draw_case *draw)
{
    static const int64_t counts[] = {1, 2, 3, 31, 2047, 2048, 2049, 30011, 100003, 3000017};
    size_t sizes = GSH_COUNT(counts) - is_emulated();
    for (size_t i = 0; i < sizes; i++)
        for (unsigned place = 0; place < (i == 0 ? 8 : 3); place++) {
            const struct gsh_random_stream stream = draw_stream(
                generator, 7 * i + place + 1, (place & 1) != 0, 4 - (int)(place >> 1) % 4);
            test_draw(draw, &stream, counts[i]);
        }
}

/* A device that knows fewer pieces behind an attempt refuses some draws; the others are right. */
static void test_short_reach(void)
{
    unsigned refused = 0, made = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        const struct gsh_random_stream stream = draw_stream(GSH_RANDOM_PCG64, seed, false, 4);
        struct gsh_random_stream end;
        uint64_t device = make_output(30011 * sizeof(double));
        struct gsh_launch launch = draw_launch(&draw_cases[3], &stream, 30011, device + GUARD);
        launch.draw.end = &end;
        launch.draw.reach = 2;
        enum gsh_status status = dev->run(&launch, 0);
        refused += status == GSH_DECLINED;
        made += status == GSH_OK;
        if (status == GSH_OK)
            compare(launch, &end, device, "short reach");
        dev->release(device, 30011 * sizeof(double) + 2 * GUARD);
    }
    CHECK_INT(refused + made, 12);
    CHECK(refused > 0 && made > 0);
}

/* ---- MT19937 ---- */

static const struct draw_case twister_words = {"words of MT19937", GSH_UINT32, GSH_RANDOM_BOUNDED,
                                               GSH_RANDOM_STANDARD, .range = UINT32_MAX};

/* A stream that has taken `at` words of a block. */
static struct gsh_random_stream twister_stream(int at)
{
    static uint32_t key[GSH_TWISTER_BLOCK];
    for (uint32_t i = 0; i < GSH_TWISTER_BLOCK; i++)
        key[i] = (i + 1) * 2654435761u ^ i << 13;
    return (struct gsh_random_stream){.generator = GSH_RANDOM_MT19937, .twister = {key, at}};
}

static void test_twister(int at, int64_t count)
{
    size_t bytes = (size_t)count * sizeof(uint32_t);
    const struct gsh_random_stream stream = twister_stream(at);
    uint64_t device = make_output(bytes);
    char *got = reserve(bytes + 2 * GUARD), *want = reserve(bytes + 2 * GUARD);
    const struct gsh_launch launch = draw_launch(&twister_words, &stream, count, device + GUARD);
    if (device == 0 || !CHECK(got != NULL && want != NULL))
        return;
    CHECK(dev->supports(&launch));
    CHECK_INT(dev->run(&launch, 0), GSH_OK);
    CHECK(dev->download(got, device, bytes + 2 * GUARD, false) == GSH_OK);
    memset(want, 0x5a, bytes + 2 * GUARD);
    gsh_twister_fill(stream.twister.key, at, (uint32_t *)(want + GUARD), count);
    CHECK(memcmp(got, want, bytes + 2 * GUARD) == 0);
    munmap(got, bytes + 2 * GUARD);
    munmap(want, bytes + 2 * GUARD);
    dev->release(device, bytes + 2 * GUARD);
}

static void test_twisters(void)
{
    static const int64_t counts[] = {1, 396, 624, 625, 1872, 100003, 3000017};
    for (size_t i = 0; i < GSH_COUNT(counts) - is_emulated(); i++)
        for (int at = 0; at <= GSH_TWISTER_BLOCK; at += 208)
            test_twister(at, counts[i]);
}

static void test_all(void)
{
    if (shard_takes_case())
        test_twisters();
    if (shard_takes_case())
        test_short_reach();
    for (int generator = GSH_RANDOM_PCG64; generator <= GSH_RANDOM_PHILOX; generator++)
        for (size_t k = 0; k < GSH_COUNT(draw_cases); k++)
            if (is_comparable(&draw_cases[k]) && shard_takes_case())
                test_sizes((enum gsh_random_generator)generator, &draw_cases[k]);
}

/* ---- speed ---- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median milliseconds until the values are there. */
static double time_draw(const struct gsh_launch *launch)
{
    double ms[REPEATS];
    CHECK_INT(dev->run(launch, 0), GSH_OK);
    CHECK(dev->synchronize() == GSH_OK);
    for (int i = 0; i < REPEATS; i++) {
        uint64_t start = gsh_clock_ns();
        CHECK_INT(dev->run(launch, 0), GSH_OK);
        CHECK(dev->synchronize() == GSH_OK);
        ms[i] = (double)(gsh_clock_ns() - start) * 1e-6;
    }
    qsort(ms, REPEATS, sizeof ms[0], compare_numbers);
    return ms[REPEATS / 2];
}

static void time_case(enum gsh_random_generator generator, const struct draw_case *draw,
                      int64_t count)
{
    static const char *const names[] = {"PCG64", "PCG64DXSM", "Philox"};
    const struct gsh_random_stream stream = draw_stream(generator, 99, false, 4);
    struct gsh_random_stream end;
    size_t bytes = (size_t)count * gsh_dtype_size(draw->dtype);
    uint64_t device = make_output(bytes);
    if (device == 0)
        return;
    struct gsh_launch launch = draw_launch(draw, &stream, count, device + GUARD);
    launch.draw.end = &end;
    double ms = time_draw(&launch);
    printf("%s %s %.0e: %.3f ms, %.0f GB/s\n", names[generator], draw->name, (double)count, ms,
           (double)bytes / ms * 1e-6);
    fflush(stdout);
    compare(launch, &end, device, draw->name);
    dev->release(device, bytes + 2 * GUARD);
}

static void time_twister(int64_t count)
{
    const struct gsh_random_stream stream = twister_stream(GSH_TWISTER_BLOCK);
    uint64_t device = make_output((size_t)count * sizeof(uint32_t));
    const struct gsh_launch launch = draw_launch(&twister_words, &stream, count, device + GUARD);
    if (device == 0)
        return;
    double ms = time_draw(&launch);
    printf("%s %.0e: %.3f ms, %.3f ns each\n", twister_words.name, (double)count, ms,
           ms * 1e6 / (double)count);
    dev->release(device, (size_t)count * sizeof(uint32_t) + 2 * GUARD);
}

static void time_all(void)
{
    time_twister(LARGE / 100);
    time_twister(LARGE);
    for (int generator = GSH_RANDOM_PCG64; generator <= GSH_RANDOM_PHILOX; generator++)
        for (size_t k = 0; k < GSH_COUNT(draw_cases); k++) {
            if (!is_comparable(&draw_cases[k]))
                continue;
            time_case((enum gsh_random_generator)generator, &draw_cases[k], LARGE / 100);
            time_case((enum gsh_random_generator)generator, &draw_cases[k], LARGE);
        }
}

int main(int argc, char **argv)
{
    return shard_main(argc, argv, test_all, time_all);
}
