/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "source_put_order.h"

#include "source_ranking.h"

#define ALIGNMENT 256
#define CELL_BYTE 4 /* of the 64 bits of a rank, the lowest one of its cell */

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
    return ranking.ranks < INT32_MAX && ranking.cells > 0 && ranking.cells < UINT32_MAX &&
           gsh_source_ranking_is_distinct(launch);
}

int64_t gsh_source_put_order_free(const struct gsh_launch *launch)
{
    return gsh_launch_elements(launch) / gsh_source_ranking_of(launch).ranks;
}

bool gsh_source_put_order_gathers(const struct gsh_launch *launch)
{
    return !launch->operands[0].is_constant &&
           gsh_source_put_order_free(launch) < GSH_SOURCE_PUT_ORDER_SPREAD;
}

size_t gsh_source_put_order_values_offset(const struct gsh_launch *launch)
{
    return bytes_of(gsh_source_ranking_of(launch).ranks, sizeof(uint64_t));
}

size_t gsh_source_put_order_sort_offset(const struct gsh_launch *launch)
{
    size_t values = gsh_source_put_order_gathers(launch)
                        ? bytes_of(gsh_launch_elements(launch), gsh_dtype_size(launch->loop))
                        : 0;
    return gsh_source_put_order_values_offset(launch) + values;
}

/* Bytes that hold the number of cells, which stands for no cell. */
static unsigned char cell_bytes(const struct gsh_launch *launch)
{
    int64_t cells = gsh_source_ranking_of(launch).cells;
    unsigned char bytes = 1;
    while (cells >> 8 * bytes > 0)
        bytes++;
    return bytes;
}

struct gsh_launch gsh_source_put_order_sort(const struct gsh_launch *launch, uint64_t scratch)
{
    int64_t step = sizeof(uint64_t);
    struct gsh_launch sort = {.kind = GSH_LAUNCH_SORT,
                              .loop = GSH_UINT64,
                              .nin = 1,
                              .nout = 1,
                              .ndim = 1,
                              .shape = {gsh_source_ranking_of(launch).ranks},
                              .strides = {{step}, {step}},
                              .sort = {.first_byte = CELL_BYTE, .bytes = cell_bytes(launch)}};
    for (unsigned k = 0; k < 2; k++)
        sort.operands[k] = (struct gsh_operand){.dtype = GSH_UINT64, .address = scratch};
    return sort;
}
