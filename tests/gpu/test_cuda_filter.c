/* SPDX-License-Identifier: Apache-2.0
 *
 * FILTER of the backend "cuda" against the host's loops, to the bit: each dtype and form, short tables and long ones, lines along
 * either dimension, of fewer elements than a tile and more, with and without states, into itself and elsewhere. Skipped where no
 * GPU is.
 */
#include "gpu_operands.h"
#include "host_ops.h"
#include "shard.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE, SIGNAL, STATES, OUTPUT, LAST, SIDES };

struct filter {
    enum gsh_dtype dtype;
    enum gsh_filter_form form;
    int order;
    int64_t lines, length;
    bool is_across; /* a line's elements lie `lines` elements apart */
    bool has_states, is_in_place;
    size_t bytes[SIDES];
    unsigned char *host[SIDES], *got[SIDES];
    uint64_t device[SIDES];
};

static int64_t states_of(const struct filter *filter)
{
    return filter->form == GSH_FILTER_SECTIONS ? 2 * filter->order : filter->order;
}

static int64_t numbers_of(const struct filter *filter)
{
    bool is_complex = gsh_dtype_kind(filter->dtype) == 'c';
    return filter->form == GSH_FILTER_SECTIONS ? 6 * filter->order
                                               : 2 * (filter->order + 1) + is_complex;
}

static void place(const struct filter *filter, struct gsh_launch *launch, unsigned k, int side,
                  const uint64_t *addresses)
{
    int64_t size = (int64_t)gsh_dtype_size(filter->dtype), states = states_of(filter);
    bool is_signal = side == SIGNAL || side == OUTPUT, is_across = is_signal && filter->is_across;
    int64_t length = is_signal ? filter->length : states;
    struct gsh_core *core = &launch->filter.cores[k];
    launch->operands[k] = (struct gsh_operand){.dtype = filter->dtype, .address = addresses[side]};
    launch->strides[k][0] = is_across ? size : length * size;
    *core = (struct gsh_core){{length, 1, 1}, {is_across ? filter->lines * size : size, 0, 0}};
    if (!is_signal && filter->form == GSH_FILTER_SECTIONS)
        *core = (struct gsh_core){{filter->order, 2, 1}, {2 * size, size, 0}};
    if (side == TABLE) {
        launch->strides[k][0] = 0;
        *core = (struct gsh_core){{numbers_of(filter), 1, 1}, {size, 0, 0}};
    }
}

static struct gsh_launch launch_of(const struct filter *filter, const uint64_t *addresses)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_FILTER,
                                .loop = filter->dtype,
                                .nin = filter->has_states ? 3 : 2,
                                .nout = filter->has_states ? 2 : 1,
                                .ndim = 1,
                                .shape = {filter->lines}};
    launch.filter.form = filter->form;
    launch.filter.order = filter->order;
    for (unsigned k = 0; k < launch.nin; k++)
        place(filter, &launch, k, (int)k, addresses);
    place(filter, &launch, launch.nin, filter->is_in_place ? SIGNAL : OUTPUT, addresses);
    if (filter->has_states)
        place(filter, &launch, launch.nin + 1, filter->is_in_place ? STATES : LAST, addresses);
    gsh_launch_collapse(&launch);
    return launch;
}

/* A direct filter of complex numbers divides products by the last number of its table (kernels/host/filter/host_filter.c). */
static void set_divisor(struct filter *filter)
{
    size_t place = (size_t)numbers_of(filter) - 1;
    if (filter->dtype == GSH_COMPLEX64)
        ((float *)(void *)filter->host[TABLE])[2 * place] = 1.25F;
    else if (filter->dtype == GSH_COMPLEX128)
        ((double *)(void *)filter->host[TABLE])[2 * place] = 1.25;
}

/* Numbers from -1 to 1; a filter's are small, so that no line grows without bounds: a NaN has other bits on a GPU. */
static void fill(const struct filter *filter, int side)
{
    bool is_single = gsh_dtype_is_single(filter->dtype);
    size_t count = filter->bytes[side] / (is_single ? sizeof(float) : sizeof(double));
    for (size_t i = 0; i < count; i++) {
        double value = ((double)(random_bits() >> 40) / (double)(1 << 23) - 1) *
                       (side == TABLE ? 0.5 / filter->order : 1);
        if (is_single)
            ((float *)(void *)filter->host[side])[i] = (float)value;
        else
            ((double *)(void *)filter->host[side])[i] = value;
    }
}

static bool make(struct filter *filter)
{
    bool good = true;
    size_t size = gsh_dtype_size(filter->dtype);
    for (int side = 0; side < SIDES; side++) {
        int64_t each = side == SIGNAL || side == OUTPUT ? filter->length : states_of(filter);
        filter->bytes[side] =
            size * (size_t)(side == TABLE ? numbers_of(filter) : each * filter->lines);
        filter->host[side] = calloc(1, filter->bytes[side]);
        filter->got[side] = calloc(1, filter->bytes[side]);
        fill(filter, side);
        if (side == TABLE && filter->form == GSH_FILTER_DIRECT)
            set_divisor(filter);
        good = CHECK_INT(dev->allocate(filter->bytes[side], &filter->device[side]), GSH_OK) && good;
    }
    return good;
}

static void drop(struct filter *filter)
{
    for (int side = 0; side < SIDES; side++) {
        free(filter->host[side]);
        free(filter->got[side]);
        dev->release(filter->device[side], filter->bytes[side]);
    }
}

static bool run_device(const struct filter *filter)
{
    struct gsh_launch launch = launch_of(filter, filter->device);
    return run_on_device(&launch, SIDES, filter->device, filter->host, filter->got, filter->bytes);
}

static void run_host(const struct filter *filter)
{
    uint64_t addresses[SIDES];
    for (int side = 0; side < SIDES; side++)
        addresses[side] = (uint64_t)(uintptr_t)filter->host[side];
    struct gsh_launch launch = launch_of(filter, addresses);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
}

static void compare(struct filter filter)
{
    if (make(&filter) && run_device(&filter)) {
        run_host(&filter);
        for (int side = 0; side < SIDES; side++)
            if (!CHECK(memcmp(filter.got[side], filter.host[side], filter.bytes[side]) == 0))
                printf("%s form %d order %d, %lld lines of %lld, across %d states %d in place %d\n",
                       gsh_dtype_name(filter.dtype), (int)filter.form, filter.order,
                       (long long)filter.lines, (long long)filter.length, filter.is_across,
                       filter.has_states, filter.is_in_place);
    }
    drop(&filter);
}

static void test_sizes(enum gsh_dtype dtype, enum gsh_filter_form form, int order)
{
    static const int64_t sizes[][2] = {{1, 1}, {1, 100}, {31, 64}, {33, 31}, {100, 130}, {257, 7}};
    for (size_t s = 0; s < GSH_COUNT(sizes); s++)
        for (int way = 0; way < 8; way++)
            compare((struct filter){.dtype = dtype,
                                    .form = form,
                                    .order = order,
                                    .lines = sizes[s][0],
                                    .length = sizes[s][1],
                                    .is_across = way % 2 != 0,
                                    .has_states = way / 2 % 2 != 0,
                                    .is_in_place = way / 4 != 0});
}

static void test_all(void)
{
    static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64,
                                            GSH_COMPLEX128};
    static const int orders[][4] = {[GSH_FILTER_DIRECT] = {1, 2, 7, GSH_FILTER_MOST_ORDER},
                                    [GSH_FILTER_SECTIONS] = {1, 2, 5, GSH_FILTER_MOST_SECTIONS}};
    for (size_t d = 0; d < GSH_COUNT(dtypes); d++)
        for (int form = 0; form < 2; form++)
            for (int i = 0; i < 4; i++)
                if (shard_takes_case())
                    test_sizes(dtypes[d], (enum gsh_filter_form)form, orders[form][i]);
}

/* Prints what a filter of so many lines takes. */
static void time_filter(enum gsh_dtype dtype, enum gsh_filter_form form, bool is_across)
{
    struct filter filter = {.dtype = dtype,
                            .form = form,
                            .order = 4,
                            .lines = 20000,
                            .length = 4000,
                            .is_across = is_across};
    if (make(&filter)) {
        struct gsh_launch launch = launch_of(&filter, filter.device);
        double seconds = seconds_of_launch(&launch);
        printf("%s %s, 20000 lines of 4000, lines %s: %.3f ms, %.0f GB/s\n", gsh_dtype_name(dtype),
               form == GSH_FILTER_SECTIONS ? "4 sections" : "order 4",
               is_across ? "across memory" : "along memory", seconds * 1e3,
               2e-9 * (double)filter.bytes[SIGNAL] / seconds);
    }
    drop(&filter);
}

static void time_all(void)
{
    for (int form = 0; form < 2; form++)
        for (int way = 0; way < 2; way++) {
            time_filter(GSH_FLOAT32, (enum gsh_filter_form)form, way != 0);
            time_filter(GSH_FLOAT64, (enum gsh_filter_form)form, way != 0);
        }
}

int main(int argc, char **argv)
{
    return shard_main(argc, argv, test_all, time_all);
}
