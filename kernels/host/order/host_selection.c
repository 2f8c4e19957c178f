/* SPDX-License-Identifier: Apache-2.0
 *
 * Forgetful selection (kernels/cuda/selection.cuh says how), of many windows side by side: a row has one element of each.
 */
#include "host_selection.h"

#include <string.h>

#define AT_ONCE 64                             /* windows */
#define MOST_HELD (GSH_SELECTION_MOST / 2 + 2) /* of a window */

/* low[i], high[i] = the lesser, and the greater of the two. */
typedef void exchange_loop(void *restrict low, void *restrict high);

#define EXCHANGE(type)                                                                             \
    static void exchange_##type(void *restrict low, void *restrict high)                           \
    {                                                                                              \
        type *a = low, *b = high;                                                                  \
        for (int i = 0; i < AT_ONCE; i++) {                                                        \
            const type x = a[i], y = b[i];                                                         \
            a[i] = x < y ? x : y;                                                                  \
            b[i] = x < y ? y : x;                                                                  \
        }                                                                                          \
    }
EXCHANGE(int8_t)
EXCHANGE(int16_t)
EXCHANGE(int32_t)
EXCHANGE(int64_t)
EXCHANGE(uint8_t)
EXCHANGE(uint16_t)
EXCHANGE(uint32_t)
EXCHANGE(uint64_t)
EXCHANGE(float)
EXCHANGE(double)

static exchange_loop *const exchanges[GSH_DTYPE_COUNT] = {
    [GSH_BOOL] = exchange_uint8_t,    [GSH_INT8] = exchange_int8_t,
    [GSH_INT16] = exchange_int16_t,   [GSH_INT32] = exchange_int32_t,
    [GSH_INT64] = exchange_int64_t,   [GSH_UINT8] = exchange_uint8_t,
    [GSH_UINT16] = exchange_uint16_t, [GSH_UINT32] = exchange_uint32_t,
    [GSH_UINT64] = exchange_uint64_t, [GSH_FLOAT32] = exchange_float,
    [GSH_FLOAT64] = exchange_double};

/* Windows side by side, and what of them is still wanted. */
struct windows {
    exchange_loop *exchange;
    size_t size;           /* of an element */
    int count;             /* windows, at most AT_ONCE */
    char *rows[MOST_HELD]; /* the first `held` ones are in use */
    int held, below,
        above;      /* rows; elements still to be dropped below the wanted one, and above it */
    const char *in; /* the first window's place */
    int64_t in_step, stride;
    const int64_t *offsets, *end; /* of the rows that are not loaded yet */
};

static void copy(char *to, int64_t to_step, const char *from, int64_t from_step, size_t size,
                 int count)
{
    if (to_step == (int64_t)size && from_step == (int64_t)size)
        memcpy(to, from, size * (size_t)count);
    else
        for (int i = 0; i < count; i++)
            memcpy(to + i * to_step, from + i * from_step, size);
}

static void load(struct windows *windows)
{
    char *row = windows->rows[windows->held++];
    copy(row, (int64_t)windows->size, windows->in + windows->stride * *windows->offsets++,
         windows->in_step, windows->size, windows->count);
}

static void exchange(const struct windows *windows, int low, int high)
{
    windows->exchange(windows->rows[low], windows->rows[high]);
}

/* The last row is no longer held, and another one takes the first one's place. */
static void drop_first(struct windows *windows)
{
    char *row = windows->rows[0];
    windows->rows[0] = windows->rows[--windows->held];
    windows->rows[windows->held] = row;
    windows->below--;
}

static void drop_last(struct windows *windows)
{
    windows->held--;
    windows->above--;
}

/* Drops the least or the greatest elements, or both, where so many others are held that they are not the wanted ones. */
static void drop(struct windows *windows)
{
    int last = windows->held - 1;
    bool is_least = windows->below > 0 && last > windows->above;
    bool is_greatest = windows->above > 0 && last > windows->below;
    for (int i = 0; is_least && is_greatest && i < last - i; i++)
        exchange(windows, i, last - i);
    int half = is_least && is_greatest ? last / 2 : last;
    for (int i = 1; is_least && i <= half; i++)
        exchange(windows, 0, i);
    for (int i = last - half; is_greatest && i < last; i++)
        exchange(windows, i, last);
    if (is_greatest)
        drop_last(windows);
    if (is_least)
        drop_first(windows);
}

static void select_row(struct windows *windows, int held)
{
    while (windows->held < held)
        load(windows);
    while (windows->held > 1) {
        drop(windows);
        while (windows->offsets < windows->end &&
               windows->held < GSH_MIN(windows->below, windows->above) + 2)
            load(windows);
    }
}

/* Along the last dimension. */
static void run_line(const struct gsh_launch *launch, const char *in, char *out, char *memory)
{
    int last = launch->ndim - 1;
    const struct gsh_selection *selection = &launch->selection;
    const int64_t *offsets = (const int64_t *)(uintptr_t)launch->operands[1].address;
    int64_t length = last < 0 ? 1 : launch->shape[last];
    int64_t in_step = last < 0 ? 0 : launch->strides[0][last];
    int64_t out_step = last < 0 ? 0 : launch->strides[2][last];
    struct windows windows = {.exchange = exchanges[launch->loop],
                              .size = gsh_dtype_size(launch->loop),
                              .in_step = in_step,
                              .stride = selection->window.stride};
    for (int i = 0; i < MOST_HELD; i++)
        windows.rows[i] = memory + (size_t)(i * AT_ONCE) * windows.size;
    for (int64_t first = 0; first < length; first += AT_ONCE) {
        windows.in = in + first * in_step;
        windows.count = (int)GSH_MIN(length - first, AT_ONCE);
        windows.offsets = offsets;
        windows.end = offsets + selection->count;
        windows.held = 0;
        windows.below = selection->rank;
        windows.above = selection->count - 1 - selection->rank;
        select_row(&windows, gsh_selection_held(selection));
        copy(out + first * out_step, out_step, windows.rows[0], (int64_t)windows.size, windows.size,
             windows.count);
    }
}

void gsh_host_selection_run(const struct gsh_launch *launch)
{
    uint64_t memory[MOST_HELD * AT_ONCE] = {0}; /* no NaN where a row has fewer elements */
    int64_t index[GSH_MAX_DIMS] = {0};
    const char *in = (const char *)(uintptr_t)launch->operands[0].address;
    char *out = (char *)(uintptr_t)launch->operands[2].address;
    for (int d = 0; d >= 0;) {
        run_line(launch, in, out, (char *)memory);
        for (d = launch->ndim - 2; d >= 0; d--) { /* steps to the next line */
            bool wraps = ++index[d] == launch->shape[d];
            int64_t step = wraps ? 1 - launch->shape[d] : 1;
            in += step * launch->strides[0][d];
            out += step * launch->strides[2][d];
            if (!wraps)
                break;
            index[d] = 0;
        }
    }
}
