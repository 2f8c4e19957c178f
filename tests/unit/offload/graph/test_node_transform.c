/* SPDX-License-Identifier: Apache-2.0
 *
 * Consecutive transforms: those over different dimensions of an array run as one if nothing else reads the array
 * between them, with the same result as one by one. What the device refuses, the host computes.
 */
#include "backend.h"
#include "check.h"
#include "fft_host.h"
#include "live.h"
#include "node.h"
#include "pauses.h"

#include <math.h>
#include <string.h>

#define DIMS 3
#define MOST_POINTS ((int64_t)9)

static uint64_t state = 88172645463325252U;

static int64_t below(int64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)limit);
}

/* ---- the device ---- */

static const struct gsh_backend *real;
static struct gsh_backend device;
static unsigned runs, rank;
static bool refuses;

static bool supports(const struct gsh_launch *launch)
{
    return launch->kind == GSH_LAUNCH_FFT ? gsh_fft_run_supports(launch) : real->supports(launch);
}

static enum gsh_status run(const struct gsh_launch *launch, unsigned row)
{
    if (launch->kind != GSH_LAUNCH_FFT)
        return real->run(launch, row);
    runs++;
    rank = (unsigned)launch->fft.rank;
    return refuses ? GSH_FAILED : gsh_fft_host_run(launch);
}

/* ---- arrays ---- */

struct array {
    bool is_real;
    int64_t shape[DIMS], strides[DIMS];
    double *data;
};

static int64_t elements(const struct array *array)
{
    return array->shape[0] * array->shape[1] * array->shape[2];
}

static int64_t parts(const struct array *array)
{
    return elements(array) * (array->is_real ? 1 : 2);
}

/* Packed, the dimensions in some order. */
static struct array make(bool is_real, const int64_t *shape, bool is_c_order)
{
    struct array made = {.is_real = is_real, .shape = {shape[0], shape[1], shape[2]}};
    int64_t step = is_real ? 8 : 16, first = is_c_order ? 0 : below(DIMS);
    for (int d = DIMS; d-- > 0;) {
        int64_t place = (d + first) % DIMS;
        made.strides[place] = step;
        step *= shape[place];
    }
    made.data = live_doubles(parts(&made), GSH_ARENA_DEVICE);
    return made;
}

static void drop(struct array *array)
{
    gsh_arena_free(array->data);
}

static struct array make_input(bool is_real, const int64_t *shape)
{
    struct array made = make(is_real, shape, below(2) == 0);
    for (int64_t i = 0; i < parts(&made); i++)
        made.data[i] = (double)(below(2001) - 1000) / 512;
    return made;
}

/* ---- calls ---- */

static void place(struct gsh_launch *launch, unsigned k, const struct array *array, int axis)
{
    launch->operands[k] = (struct gsh_operand){
        .dtype = array->is_real ? GSH_FLOAT64 : GSH_COMPLEX128, .address = (uint64_t)array->data};
    launch->fft.cores[k] =
        (struct gsh_core){{array->shape[axis], 1, 1}, {array->strides[axis], 0, 0}};
    for (int d = 0, batch = 0; d < DIMS; d++)
        if (d != axis)
            launch->strides[k][batch++] = array->strides[d];
}

/* The transform of `length` points along the axis, into a fresh array. */
static struct array transform(const struct array *in, enum gsh_fft_type type, bool is_inverse,
                              int axis, int64_t length, bool is_c_order)
{
    int64_t shape[DIMS] = {in->shape[0], in->shape[1], in->shape[2]};
    shape[axis] = type == GSH_FFT_R2C ? length / 2 + 1 : length;
    struct array out = make(type == GSH_FFT_C2R, shape, is_c_order);
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_FFT,
                                       .loop = GSH_COMPLEX128,
                                       .nin = 1,
                                       .nout = 1,
                                       .ndim = DIMS - 1},
                            .fresh = {true},
                            .row = gsh_stats_row("test", "D->D")};
    call.launch.fft = (struct gsh_fft){.type = type,
                                       .is_inverse = is_inverse,
                                       .rank = 1,
                                       .length = {length, 1, 1},
                                       .factor = is_inverse ? 1 / (double)length : 1};
    for (int d = 0, batch = 0; d < DIMS; d++)
        if (d != axis)
            call.launch.shape[batch++] = in->shape[d];
    place(&call.launch, 0, in, axis);
    place(&call.launch, 1, &out, axis);
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    return out;
}

/* Transforms over `axes`, one after another, of the types and lengths; `separately`: each runs before the next is made. */
struct chain {
    int count;
    int axes[DIMS];
    enum gsh_fft_type types[DIMS];
    int64_t lengths[DIMS];
    bool is_inverse, is_c_order;
};

static struct array run_chain(const struct chain *chain, const struct array *in, bool separately)
{
    struct array x = *in;
    for (int k = 0; k < chain->count; k++) {
        struct array y = transform(&x, chain->types[k], chain->is_inverse, chain->axes[k],
                                   chain->lengths[k], chain->is_c_order);
        if (separately)
            gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
        if (k > 0)
            drop(&x);
        x = y;
    }
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    return x;
}

/* Element by element in C order. */
static double part_of(const struct array *array, int64_t index, int part)
{
    int64_t offset = 0;
    for (int d = DIMS; d-- > 0; index /= array->shape[d])
        offset += index % array->shape[d] * array->strides[d];
    return array->data[offset / 8 + part];
}

static double distance(const struct array *x, const struct array *y)
{
    double far = 0;
    CHECK(memcmp(x->shape, y->shape, sizeof x->shape) == 0 && x->is_real == y->is_real);
    for (int64_t i = 0; i < elements(x); i++)
        for (int part = 0; part < (x->is_real ? 1 : 2); part++)
            far = fmax(far, fabs(part_of(x, i, part) - part_of(y, i, part)));
    return far;
}

static struct chain random_chain(void)
{
    struct chain chain = {.count = 2 + (int)below(DIMS - 1),
                          .axes = {0, 1, 2},
                          .is_inverse = below(2) == 0,
                          .is_c_order = below(3) != 0};
    for (int k = 0; k < DIMS; k++) {
        int other = (int)below(DIMS), axis = chain.axes[k];
        chain.axes[k] = chain.axes[other];
        chain.axes[other] = axis;
        chain.types[k] = GSH_FFT_C2C;
        chain.lengths[k] = 1 + below(MOST_POINTS);
    }
    if (below(2) == 0)
        chain.types[chain.is_inverse ? chain.count - 1 : 0] =
            chain.is_inverse ? GSH_FFT_C2R : GSH_FFT_R2C;
    return chain;
}

static void test_random(void)
{
    unsigned together = 0;
    for (int repeat = 0; repeat < 400; repeat++) {
        struct chain chain = random_chain();
        int64_t shape[DIMS];
        for (int d = 0; d < DIMS; d++)
            shape[d] = 1 + below(MOST_POINTS);
        struct array in = make_input(chain.types[0] == GSH_FFT_R2C, shape);
        struct array want = run_chain(&chain, &in, true);
        runs = 0;
        struct array got = run_chain(&chain, &in, false);
        CHECK(runs >= 1 && runs <= (unsigned)chain.count);
        together += runs < (unsigned)chain.count;
        CHECK(distance(&got, &want) < 1e-11);
        drop(&in);
        drop(&want);
        drop(&got);
    }
    CHECK(together > 150);
}

/* Over all dimensions of (4, 6, 5) in C order, the last one first. */
static const struct chain whole = {.count = 3,
                                   .axes = {2, 1, 0},
                                   .types = {GSH_FFT_R2C, GSH_FFT_C2C, GSH_FFT_C2C},
                                   .lengths = {5, 6, 4},
                                   .is_c_order = true};
static const int64_t whole_shape[DIMS] = {4, 6, 5};

static struct array make_whole(void)
{
    struct array in = make(true, whole_shape, true);
    for (int64_t i = 0; i < parts(&in); i++)
        in.data[i] = (double)(below(2001) - 1000) / 512;
    return in;
}

static void test_one_launch(void)
{
    struct array in = make_whole();
    runs = 0;
    struct array out = run_chain(&whole, &in, false);
    CHECK_INT(runs, 1);
    CHECK_INT(rank, 3);
    drop(&in);
    drop(&out);
}

/* The array between is still there. */
static void test_kept(void)
{
    struct array in = make_whole();
    runs = 0;
    struct array x = transform(&in, GSH_FFT_R2C, false, 2, 5, true);
    struct array y = transform(&x, GSH_FFT_C2C, false, 1, 6, true);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    CHECK_INT(runs, 2);
    drop(&in);
    drop(&x);
    drop(&y);
}

/* While somebody may still be making transforms, a device that idles waits for what comes next. */
static void test_fed(void)
{
    struct array in = make_whole();
    runs = 0;
    struct array x = transform(&in, GSH_FFT_R2C, false, 2, 5, true);
    gsh_node_flush_idle(gsh_node_oldest());
    CHECK_INT(runs, 0);
    CHECK_INT(gsh_node_oldest(), 0); /* nobody is to ask again */
    struct array y = make_whole();
    CHECK_INT(live_add(y.data, NULL, 1, y.data, parts(&y)), GSH_REASON_NONE);
    for (unsigned k = 0; k <= GSH_PAUSES_ROUNDS; k++)
        gsh_node_flush_idle(gsh_node_oldest());
    CHECK_INT(runs, 1);
    drop(&in);
    drop(&x);
    drop(&y);
}

static void test_refused(void)
{
    struct array in = make_whole();
    struct array want = run_chain(&whole, &in, true);
    refuses = true;
    struct array got = run_chain(&whole, &in, false);
    CHECK(distance(&got, &want) < 1e-13);
    refuses = false;
    drop(&in);
    drop(&want);
    drop(&got);
}

/* Between two transforms the array that the first one takes is partly overwritten, in place. */
static void test_overwritten(bool by_constant)
{
    enum { CHANGED = 10 };
    struct array in = make(false, whole_shape, true), copy = make(false, whole_shape, true);
    double *zeros = live_doubles(CHANGED, GSH_ARENA_HOST);
    for (int64_t i = 0; i < parts(&in); i++)
        in.data[i] = copy.data[i] = (double)(below(2001) - 1000) / 512;
    memset(zeros, 0, CHANGED * sizeof *zeros);
    struct array first = transform(&copy, GSH_FFT_C2C, false, 2, 5, true);
    struct array want = transform(&first, GSH_FFT_C2C, false, 1, 6, true);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    struct array along = transform(&in, GSH_FFT_C2C, false, 2, 5, true);
    struct gsh_call call =
        live_call(GSH_OP_COPY, by_constant ? NULL : zeros, NULL, 0, in.data, CHANGED);
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    struct array got = transform(&along, GSH_FFT_C2C, false, 1, 6, true);
    drop(&along);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    CHECK(distance(&got, &want) < 1e-11);
    drop(&got);
    drop(&want);
    drop(&first);
    drop(&copy);
    drop(&in);
    gsh_arena_free(zeros);
}

int main(void)
{
    setenv("GPUSHIM_DEVICE", "host", 1); /* whose transforms this file takes the place of */
    live_defer();
    if (!live_start())
        return CHECK_SKIP;
    struct array probe = make_whole(); /* starts the device */
    CHECK_INT(live_add(probe.data, NULL, 1, probe.data, parts(&probe)), GSH_REASON_NONE);
    drop(&probe);
    real = gsh_backend_get();
    device = *real;
    device.supports = supports;
    device.run = run;
    device.load_seconds = NULL;
    gsh_backend_replace(&device);
    test_random();
    test_one_launch();
    test_kept();
    test_fed();
    test_refused();
    test_overwritten(false);
    test_overwritten(true);
    return live_end();
}
