/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "source_put_order.h"

#include "source_ranking.h"

#define ALIGNMENT 256

/* Of so many numbers. */
static size_t bytes_of(int64_t count, size_t size)
{
    return ((size_t)count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* A quotient of complex numbers that divides by zero may be invalid besides, and the kernel looks for one of the two. */
static bool has_two_errors(const struct gsh_launch *launch)
{
    return launch->op == GSH_OP_DIVIDE && gsh_dtype_kind(launch->loop) == 'c';
}

bool gsh_source_put_order_is_possible(const struct gsh_launch *launch)
{
    if (has_two_errors(launch))
        return false;
    struct gsh_source_ranking ranking = gsh_source_ranking_of(launch);
    return ranking.ranks < INT32_MAX && ranking.cells < UINT32_MAX &&
           gsh_source_ranking_is_distinct(launch);
}

size_t gsh_source_put_order_bytes(const struct gsh_launch *launch)
{
    int64_t ranks = gsh_source_ranking_of(launch).ranks;
    return bytes_of(ranks, sizeof(uint32_t)) + bytes_of(ranks, sizeof(int64_t));
}

struct gsh_launch gsh_source_put_order_sort(const struct gsh_launch *launch, uint64_t scratch)
{
    int64_t ranks = gsh_source_ranking_of(launch).ranks;
    struct gsh_launch sort = {.kind = GSH_LAUNCH_SORT,
                              .loop = GSH_UINT32,
                              .nin = 1,
                              .nout = 1,
                              .ndim = 1,
                              .shape = {ranks},
                              .strides = {{sizeof(uint32_t)}, {sizeof(int64_t)}},
                              .sort = {.gives_order = true}};
    sort.operands[0] = (struct gsh_operand){.dtype = GSH_UINT32, .address = scratch};
    sort.operands[1] = (struct gsh_operand){.dtype = GSH_INT64,
                                            .address = scratch + bytes_of(ranks, sizeof(uint32_t))};
    return sort;
}
