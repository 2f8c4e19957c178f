/* SPDX-License-Identifier: Apache-2.0
 *
 * Against a copy that is made element by element, in NumPy's order, over all small views.
 */
#include "read_back.h"

#include "check.h"

#include <string.h>

enum { CELLS = 64 };

struct views {
    int64_t to, to_stride, from, from_stride, count;
};

static bool reads_back(const struct views *v)
{
    bool written[CELLS] = {false}, happens = false;
    int64_t first = v->to_stride < 0 ? v->count - 1 : 0;
    int64_t lowest_to = v->to + first * v->to_stride,
            lowest_from = v->from + first * v->from_stride;
    int64_t length = v->count * (v->from_stride < 0 ? -v->from_stride : v->from_stride);
    bool is_reversed = lowest_from < lowest_to && lowest_from + length > lowest_to;
    bool is_downward = is_reversed != (v->to_stride < 0);
    for (int64_t i = 0; i < v->count; i++) {
        int64_t k = is_downward ? v->count - 1 - i : i;
        happens |= written[v->from + k * v->from_stride];
        written[v->to + k * v->to_stride] = true;
    }
    return happens;
}

static bool is_inside(int64_t first, int64_t stride, int64_t count)
{
    int64_t last = first + (count - 1) * stride;
    return first >= 0 && first < CELLS && last >= 0 && last < CELLS;
}

static void check(const struct views *v, int *happened)
{
    if (!is_inside(v->to, v->to_stride, v->count) || !is_inside(v->from, v->from_stride, v->count))
        return;
    bool expected = reads_back(v);
    *happened += expected;
    CHECK(gsh_read_back_happens(v->to, v->to_stride, v->from, v->from_stride, v->count) ==
          expected);
}

static void check_strides(int64_t to_stride, int64_t from_stride, int *happened)
{
    for (int64_t to = 0; to < CELLS; to += 3)
        for (int64_t from = 0; from < CELLS; from++)
            for (int64_t count = 1; count <= 9; count++) {
                const struct views v = {to, to_stride, from, from_stride, count};
                check(&v, happened);
            }
}

int main(void)
{
    int happened = 0;
    for (int64_t to_stride = 1; to_stride <= 12; to_stride++)
        for (int64_t from_stride = 1; from_stride <= 12; from_stride++) {
            check_strides(to_stride, from_stride, &happened);
            check_strides(-to_stride, -from_stride, &happened);
        }
    CHECK(happened > 1000);
    /* the column and the row of a matrix of 1200 x 1200 that share one element; as many elements as there are */
    CHECK(!gsh_read_back_happens(0, 1200, 0, 1, 1200));
    CHECK(gsh_read_back_happens(0, 1 << 20, 1, 3, INT64_C(1) << 40));
    CHECK(!gsh_read_back_happens(0, 1 << 20, 1, 2, INT64_C(1) << 40));
    return check_result();
}
