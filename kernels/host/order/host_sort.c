/* SPDX-License-Identifier: Apache-2.0
 *
 * A merge sort of each row's places, which is stable; the elements follow their places. A binary search for each value.
 */
#include "host_sort.h"

#include "host_order.h"

#include <stdlib.h>
#include <string.h>

struct row {
    gsh_host_order_before *is_before;
    const char *elements;
    int64_t stride, length;
};

static bool goes_first(const struct row *row, int64_t i, int64_t j)
{
    return row->is_before(row->elements + i * row->stride, row->elements + j * row->stride);
}

/* Merges from[begin .. middle) and from[middle .. end), which are sorted, into `to`. */
static void merge(const struct row *row, const int64_t *from, int64_t *to, int64_t begin,
                  int64_t middle, int64_t end)
{
    int64_t left = begin, right = middle;
    for (int64_t at = begin; at < end; at++) {
        bool is_right = left == middle || (right < end && goes_first(row, from[right], from[left]));
        to[at] = is_right ? from[right++] : from[left++];
    }
}

/* The order of the row, in one of the two arrays, which is returned. */
static const int64_t *find_order(const struct row *row, int64_t *places, int64_t *others)
{
    for (int64_t i = 0; i < row->length; i++)
        places[i] = i;
    for (int64_t half = 1; half < row->length; half *= 2) {
        for (int64_t begin = 0; begin < row->length; begin += 2 * half)
            merge(row, places, others, begin, GSH_MIN(begin + half, row->length),
                  GSH_MIN(begin + 2 * half, row->length));
        int64_t *sorted = others;
        others = places;
        places = sorted;
    }
    return places;
}

/* `copy`: memory for the elements of a row. */
static void store_elements(const struct row *row, const int64_t *order, char *copy, char *output,
                           int64_t stride, size_t size)
{
    for (int64_t i = 0; i < row->length; i++)
        memcpy(copy + (size_t)i * size, row->elements + order[i] * row->stride, size);
    for (int64_t i = 0; i < row->length; i++)
        memcpy(output + i * stride, copy + (size_t)i * size, size);
}

static void store_order(const struct row *row, const int64_t *order, char *output, int64_t stride)
{
    for (int64_t i = 0; i < row->length; i++)
        memcpy(output + i * stride, &order[i], sizeof order[i]);
}

/* Steps to the next index of the first `ndim` dimensions, and *from and *to as operands k and k + 1 do; false behind the last. */
static bool step_on(const struct gsh_launch *launch, int ndim, unsigned k, int64_t *index,
                    const char **from, char **to)
{
    for (int d = ndim - 1; d >= 0; d--) {
        bool wraps = ++index[d] == launch->shape[d];
        int64_t step = wraps ? 1 - launch->shape[d] : 1;
        *from += step * launch->strides[k][d];
        *to += step * launch->strides[k + 1][d];
        if (!wraps)
            return true;
        index[d] = 0;
    }
    return false;
}

bool gsh_host_sort_supports(const struct gsh_launch *launch)
{
    return launch->nin == 1 && launch->nout == 1 && launch->ndim > 0 && !launch->has_mask &&
           launch->sort.bytes == 0 && !launch->operands[0].is_constant &&
           launch->operands[0].dtype == launch->loop &&
           launch->operands[1].dtype == gsh_launch_result_dtype(launch, 0);
}

enum gsh_status gsh_host_sort_run(const struct gsh_launch *launch)
{
    int last = launch->ndim - 1;
    struct row row = {.is_before = gsh_host_order_find(launch->loop),
                      .stride = launch->strides[0][last],
                      .length = launch->shape[last]};
    size_t length = (size_t)row.length, size = gsh_dtype_size(launch->loop);
    int64_t *places = calloc(length, 2 * sizeof *places + size), index[GSH_MAX_DIMS] = {0};
    if (places == NULL)
        return GSH_FAILED;
    const char *input = (const char *)(uintptr_t)launch->operands[0].address;
    char *output = (char *)(uintptr_t)launch->operands[1].address;
    do {
        row.elements = input;
        const int64_t *order = find_order(&row, places, places + length);
        if (launch->sort.gives_order)
            store_order(&row, order, output, launch->strides[1][last]);
        else
            store_elements(&row, order, (char *)(places + 2 * length), output,
                           launch->strides[1][last], size);
    } while (step_on(launch, launch->ndim - 1, 0, index, &input, &output));
    free(places);
    return GSH_OK;
}

/* ---- SEARCH ---- */

bool gsh_host_sort_search_supports(const struct gsh_launch *launch)
{
    const struct gsh_operand *operands = launch->operands;
    return launch->nin == 2 && launch->nout == 1 && !launch->has_mask && !operands[0].is_constant &&
           operands[0].dtype == launch->loop && operands[1].dtype == launch->loop &&
           operands[2].dtype == GSH_INT64 && launch->search.line.extent > 0;
}

static int64_t find_place(const struct gsh_launch *launch, gsh_host_order_before *is_before,
                          const char *value)
{
    const char *line = (const char *)(uintptr_t)launch->operands[0].address;
    int64_t low = 0, high = launch->search.line.extent;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const char *other = line + middle * launch->search.line.stride;
        if (launch->search.is_right ? !is_before(value, other) : is_before(other, value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void gsh_host_sort_search(const struct gsh_launch *launch)
{
    gsh_host_order_before *is_before = gsh_host_order_find(launch->loop);
    int64_t index[GSH_MAX_DIMS] = {0};
    union gsh_scalar constant = launch->operands[1].constant;
    const char *value = launch->operands[1].is_constant
                            ? (const char *)&constant
                            : (const char *)(uintptr_t)launch->operands[1].address;
    char *output = (char *)(uintptr_t)launch->operands[2].address;
    do {
        int64_t place = find_place(launch, is_before, value);
        memcpy(output, &place, sizeof place);
    } while (step_on(launch, launch->ndim, 1, index, &value, &output));
}
