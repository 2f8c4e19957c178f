/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws as calls: the array stays on the device, with the CPU's values, and the stream behind them comes back; a draw that
 * the device refuses has changed nothing; what is recorded runs before; what draws are priced at.
 */
#include "block.h"
#include "draw_call.h"
#include "draw_cases.h"
#include "host_ops.h"
#include "launch_work.h"
#include "live.h"
#include "price.h"

#include <string.h>

#define COUNT ((int64_t)100100)

static struct gsh_call call_of(const struct draw_case *draw, const struct gsh_random_stream *stream,
                               double *out, struct gsh_random_stream *end)
{
    static const int64_t shapes[][3] = {{COUNT}, {7, 13, 1100}};
    bool is_deep = stream->has_half;
    struct gsh_launch launch = draw_launch(draw, stream, COUNT, 0);
    launch.draw.end = end;
    return gsh_draw_call_make(&launch.draw, draw->dtype, is_deep ? 3 : 1, shapes[is_deep], out,
                              gsh_stats_row("draw", "->d"));
}

/* On the CPU, to `out`. */
static struct gsh_random_stream make_expected(const struct draw_case *draw,
                                              const struct gsh_random_stream *stream, void *out)
{
    struct gsh_random_stream end = *stream;
    struct gsh_launch launch = draw_launch(draw, stream, COUNT, (uintptr_t)out);
    launch.draw.end = &end;
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    return end;
}

static bool is_away(const double *array)
{
    const struct gsh_block *block = gsh_arena_find_block(array);
    return block->state[0] == GSH_CHUNK_DEVICE;
}

static void test_draws(enum gsh_random_generator generator)
{
    static double want[COUNT];
    for (size_t k = 0; k < GSH_COUNT(draw_cases); k++) {
        const struct draw_case *draw = &draw_cases[k];
        if (draw->is_masked) /* not on the CPU */
            continue;
        const struct gsh_random_stream stream = draw_stream(generator, k + 1, k % 2 != 0, 3);
        struct gsh_random_stream end = stream;
        double *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
        struct gsh_call call = call_of(draw, &stream, out, &end);
        call.fresh[0] = true;
        enum gsh_reason why = live_run(&call);
        if (CHECK_INT(why, GSH_REASON_NONE)) {
            const struct gsh_random_stream expected = make_expected(draw, &stream, want);
            CHECK(is_away(out));
            CHECK(memcmp(out, want, COUNT * gsh_dtype_size(draw->dtype)) == 0);
            CHECK(memcmp(&end, &expected, sizeof end) == 0);
        }
        gsh_arena_free(out);
    }
}

/* Into an array that a recorded call reads: that reads the old values. */
static void test_order(void)
{
    static double want[COUNT];
    const struct gsh_random_stream stream = draw_stream(GSH_RANDOM_PCG64, 1, false, 4);
    struct gsh_random_stream end;
    double *array = live_doubles(COUNT, GSH_ARENA_HOST),
           *sum = live_doubles(COUNT, GSH_ARENA_DEVICE);
    for (int64_t i = 0; i < COUNT; i++)
        array[i] = (double)i;
    CHECK_INT(live_add(array, NULL, 1, sum, COUNT), GSH_REASON_NONE);
    struct gsh_call call = call_of(&draw_cases[0], &stream, array, &end);
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    (void)make_expected(&draw_cases[0], &stream, want);
    CHECK(sum[0] == 1 && sum[COUNT - 1] == (double)COUNT);
    CHECK(memcmp(array, want, sizeof want) == 0);
    gsh_arena_free(array);
    gsh_arena_free(sum);
}

static enum gsh_status refuse(const struct gsh_launch *launch, unsigned row)
{
    (void)row;
    memset((void *)launch->operands[0].address, 7, COUNT * sizeof(double));
    return GSH_DECLINED;
}

/* After it has written: neither the array nor the stream has changed. */
static void test_refused(void)
{
    const struct gsh_random_stream stream = draw_stream(GSH_RANDOM_PCG64, 1, false, 4);
    struct gsh_random_stream end = stream;
    const struct gsh_backend *real = gsh_backend_get();
    struct gsh_backend refusing = *real;
    double *array = live_doubles(COUNT, GSH_ARENA_HOST);
    for (int64_t i = 0; i < COUNT; i++)
        array[i] = (double)i;
    CHECK_INT(live_add(array, NULL, 1, array, COUNT), GSH_REASON_NONE);
    refusing.run = refuse;
    gsh_dispatch_synchronize();
    gsh_backend_replace(&refusing);
    struct gsh_call call = call_of(&draw_cases[3], &stream, array, &end);
    CHECK_INT(live_run(&call), GSH_REASON_NUMERICAL);
    gsh_backend_replace(real);
    CHECK(array[0] == 1 && array[COUNT - 1] == (double)COUNT);
    CHECK(memcmp(&end, &stream, sizeof end) == 0);
    gsh_arena_free(array);
}

static double seconds(const struct draw_case *draw, enum gsh_random_generator generator,
                      int64_t count, bool on_device)
{
    const struct gsh_random_stream stream = draw_stream(generator, 1, false, 4);
    const struct gsh_launch launch = draw_launch(draw, &stream, count, 0);
    const struct gsh_work work = gsh_launch_work(&launch);
    return (on_device ? gsh_cost_model_device_work
                      : gsh_cost_model_host_work)(gsh_cuda_backend.rates, &work);
}

static void test_prices(void)
{
    const struct draw_case *random = &draw_cases[0], *normal = &draw_cases[3],
                           *bytes = &draw_cases[12];
    CHECK(seconds(normal, GSH_RANDOM_PCG64, 1000, true) >
          seconds(normal, GSH_RANDOM_PCG64, 1000, false));
    CHECK(seconds(random, GSH_RANDOM_PCG64, 1000, true) >
          seconds(random, GSH_RANDOM_PCG64, 1000, false));
    CHECK(seconds(normal, GSH_RANDOM_PCG64, 10000000, true) <
          0.1 * seconds(normal, GSH_RANDOM_PCG64, 10000000, false));
    CHECK(seconds(random, GSH_RANDOM_PCG64, 10000000, true) <
          0.1 * seconds(random, GSH_RANDOM_PCG64, 10000000, false));
    CHECK(seconds(normal, GSH_RANDOM_PCG64, 1000000, false) >
          2 * seconds(random, GSH_RANDOM_PCG64, 1000000, false));
    CHECK(seconds(bytes, GSH_RANDOM_PCG64, 1000000, false) <
          seconds(random, GSH_RANDOM_PCG64, 1000000, false));
    CHECK(seconds(random, GSH_RANDOM_PHILOX, 1000000, false) >
          seconds(random, GSH_RANDOM_PCG64, 1000000, false));
    CHECK(seconds(normal, GSH_RANDOM_PCG64, 10, true) >
          2 * seconds(random, GSH_RANDOM_PCG64, 10, true));
}

int main(void)
{
    live_defer();
    if (!live_start())
        return CHECK_SKIP;
    gsh_device_start(true);
    for (int generator = GSH_RANDOM_PCG64; generator <= GSH_RANDOM_PHILOX; generator++)
        test_draws((enum gsh_random_generator)generator);
    test_order();
    test_refused();
    test_prices();
    return live_end();
}
