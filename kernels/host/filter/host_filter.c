/* SPDX-License-Identifier: Apache-2.0
 *
 * Recursive filters on the CPU, line after line. Complex numbers are pairs; no product is repaired where both parts are NaN.
 */
#include "host_filter.h"

#include <string.h>

#define MOST_STATES GSH_MAX(GSH_FILTER_MOST_ORDER, 2 * GSH_FILTER_MOST_SECTIONS)

/* One line. */
struct line {
    int order;
    int64_t length, in_step, out_step;
    const char *in;
    char *out;
    const void *table;
    void *states;
};

typedef void filter_loop(const struct line *line);

#define REAL_LOOPS(type)                                                                           \
    static void direct_##type(const struct line *line)                                             \
    {                                                                                              \
        int order = line->order;                                                                   \
        const type *b = line->table, *a = b + order + 1;                                           \
        type *z = line->states;                                                                    \
        for (int64_t i = 0; i < line->length; i++) {                                               \
            const type x = *(const type *)(line->in + i * line->in_step);                          \
            const type y = z[0] + b[0] * x;                                                        \
            for (int n = 0; n < order - 1; n++)                                                    \
                z[n] = z[n + 1] + x * b[n + 1] - y * a[n + 1];                                     \
            z[order - 1] = x * b[order] - y * a[order];                                            \
            *(type *)(line->out + i * line->out_step) = y;                                         \
        }                                                                                          \
    }                                                                                              \
    static void sections_##type(const struct line *line)                                           \
    {                                                                                              \
        for (int64_t i = 0; i < line->length; i++) {                                               \
            type x = *(const type *)(line->in + i * line->in_step), *z = line->states;             \
            const type *b = line->table;                                                           \
            for (int s = 0; s < line->order; s++, b += 6, z += 2) {                                \
                const type y = b[0] * x + z[0];                                                    \
                z[0] = b[1] * x - b[4] * y + z[1];                                                 \
                z[1] = b[2] * x - b[5] * y;                                                        \
                x = y;                                                                             \
            }                                                                                      \
            *(type *)(line->out + i * line->out_step) = x;                                         \
        }                                                                                          \
    }

#define COMPLEX_LOOPS(type)                                                                        \
    struct pair_##type {                                                                           \
        type re, im;                                                                               \
    };                                                                                             \
    static struct pair_##type times_##type(struct pair_##type a, struct pair_##type b)             \
    {                                                                                              \
        return (struct pair_##type){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};         \
    }                                                                                              \
    static struct pair_##type add_##type(struct pair_##type a, struct pair_##type b)               \
    {                                                                                              \
        return (struct pair_##type){a.re + b.re, a.im + b.im};                                     \
    }                                                                                              \
    static struct pair_##type subtract_##type(struct pair_##type a, struct pair_##type b)          \
    {                                                                                              \
        return (struct pair_##type){a.re - b.re, a.im - b.im};                                     \
    }                                                                                              \
    static struct pair_##type part_##type(struct pair_##type a, struct pair_##type b, type square) \
    {                                                                                              \
        const struct pair_##type product = times_##type(a, b);                                     \
        return (struct pair_##type){product.re / square, product.im / square};                     \
    }                                                                                              \
    static void direct_##type##_complex(const struct line *line)                                   \
    {                                                                                              \
        int order = line->order;                                                                   \
        const struct pair_##type *b = line->table, *a = b + order + 1;                             \
        const type square = a[order + 1].re;                                                       \
        struct pair_##type *z = line->states;                                                      \
        for (int64_t i = 0; i < line->length; i++) {                                               \
            const struct pair_##type x =                                                           \
                *(const struct pair_##type *)(line->in + i * line->in_step);                       \
            const struct pair_##type y = add_##type(z[0], part_##type(b[0], x, square));           \
            for (int n = 0; n < order - 1; n++)                                                    \
                z[n] = subtract_##type(add_##type(z[n + 1], part_##type(b[n + 1], x, square)),     \
                                       part_##type(a[n + 1], y, square));                          \
            z[order - 1] = subtract_##type(part_##type(b[order], x, square),                       \
                                           part_##type(a[order], y, square));                      \
            *(struct pair_##type *)(line->out + i * line->out_step) = y;                           \
        }                                                                                          \
    }                                                                                              \
    static void sections_##type##_complex(const struct line *line)                                 \
    {                                                                                              \
        for (int64_t i = 0; i < line->length; i++) {                                               \
            const struct pair_##type read =                                                        \
                *(const struct pair_##type *)(line->in + i * line->in_step);                       \
            struct pair_##type x = {read.re - read.im * 0, read.im + read.re * 0};                 \
            struct pair_##type *z = line->states;                                                  \
            const struct pair_##type *b = line->table;                                             \
            for (int s = 0; s < line->order; s++, b += 6, z += 2) {                                \
                const struct pair_##type y = add_##type(times_##type(b[0], x), z[0]);              \
                z[0] = add_##type(subtract_##type(times_##type(b[1], x), times_##type(b[4], y)),   \
                                  z[1]);                                                           \
                z[1] = subtract_##type(times_##type(b[2], x), times_##type(b[5], y));              \
                x = y;                                                                             \
            }                                                                                      \
            *(struct pair_##type *)(line->out + i * line->out_step) = x;                           \
        }                                                                                          \
    }

REAL_LOOPS(float)
REAL_LOOPS(double)
COMPLEX_LOOPS(float)
COMPLEX_LOOPS(double)

static filter_loop *find_loop(const struct gsh_launch *launch)
{
    static filter_loop *const loops[GSH_DTYPE_COUNT][2] = {
        [GSH_FLOAT32] = {direct_float, sections_float},
        [GSH_FLOAT64] = {direct_double, sections_double},
        [GSH_COMPLEX64] = {direct_float_complex, sections_float_complex},
        [GSH_COMPLEX128] = {direct_double_complex, sections_double_complex}};
    return loops[launch->loop][launch->filter.form];
}

bool gsh_host_filter_supports(const struct gsh_launch *launch)
{
    const struct gsh_filter *filter = &launch->filter;
    int most =
        filter->form == GSH_FILTER_SECTIONS ? GSH_FILTER_MOST_SECTIONS : GSH_FILTER_MOST_ORDER;
    bool is_one_dtype = true;
    for (unsigned k = 0; k < launch->nin + launch->nout; k++)
        is_one_dtype &=
            launch->operands[k].dtype == launch->loop && !launch->operands[k].is_constant;
    return is_one_dtype && launch->nin >= 2 && launch->nout >= 1 && !launch->has_mask &&
           filter->order > 0 && filter->order <= most && find_loop(launch) != NULL;
}

/* Copies states between an array and a line's own, which have no gaps. */
static void move_states(const struct gsh_core *core, size_t size, char *array, char *states,
                        bool is_stored)
{
    for (int64_t i = 0; i < core->extent[0]; i++)
        for (int64_t j = 0; j < core->extent[1]; j++, states += size) {
            char *at = array + i * core->stride[0] + j * core->stride[1];
            memcpy(is_stored ? at : states, is_stored ? states : at, size);
        }
}

/* Filters the line whose operands begin at these addresses. */
static void run_line(const struct gsh_launch *launch, char *const *at)
{
    double states[2 * MOST_STATES] = {0};
    const struct gsh_filter *filter = &launch->filter;
    size_t size = gsh_dtype_size(launch->loop);
    unsigned out = launch->nin;
    const struct line line = {.order = filter->order,
                              .length = filter->cores[GSH_FILTER_SIGNAL].extent[0],
                              .in_step = filter->cores[GSH_FILTER_SIGNAL].stride[0],
                              .out_step = filter->cores[out].stride[0],
                              .in = at[GSH_FILTER_SIGNAL],
                              .out = at[out],
                              .table = at[GSH_FILTER_TABLE],
                              .states = states};
    if (launch->nin > GSH_FILTER_INITIAL)
        move_states(&filter->cores[GSH_FILTER_INITIAL], size, at[GSH_FILTER_INITIAL],
                    (char *)states, false);
    find_loop(launch)(&line);
    if (launch->nout > 1)
        move_states(&filter->cores[out + 1], size, at[out + 1], (char *)states, true);
}

void gsh_host_filter_run(const struct gsh_launch *launch)
{
    char *at[GSH_FILTER_OPERANDS];
    int64_t index[GSH_MAX_DIMS] = {0};
    unsigned count = launch->nin + launch->nout;
    for (unsigned k = 0; k < count; k++)
        at[k] = (char *)(uintptr_t)launch->operands[k].address;
    for (int d = 0; d >= 0;) {
        run_line(launch, at);
        for (d = launch->ndim - 1; d >= 0; d--) { /* steps to the next line */
            bool wraps = ++index[d] == launch->shape[d];
            int64_t step = wraps ? 1 - launch->shape[d] : 1;
            for (unsigned k = 0; k < count; k++)
                at[k] += step * launch->strides[k][d];
            if (!wraps)
                break;
            index[d] = 0;
        }
    }
}
