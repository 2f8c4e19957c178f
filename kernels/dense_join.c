/* SPDX-License-Identifier: Apache-2.0
 *
 * See dense_join.h.
 */
#include "dense_join.h"

#include <stdlib.h>

#define MOST_WHOLE ((int64_t)1 << 53) /* float64 has every integer up to it */

/* The strides of an array without gaps whose dimensions lie in memory as the launch's input's do. */
static void make_dense(const struct gsh_launch *launch, int64_t strides[GSH_MAX_DIMS])
{
    int order[GSH_MAX_DIMS]; /* of the dimensions, the innermost one first */
    for (int d = 0; d < launch->ndim; d++) {
        int place = d;
        for (; place > 0 && llabs(launch->strides[0][order[place - 1]]) >
                                llabs(launch->strides[0][launch->ndim - 1 - d]);
             place--)
            order[place] = order[place - 1];
        order[place] = launch->ndim - 1 - d;
    }
    int64_t stride = (int64_t)gsh_dtype_size(launch->loop);
    for (int i = 0; i < launch->ndim; i++) {
        strides[order[i]] = stride;
        stride *= launch->shape[order[i]];
    }
}

static bool is_dense(const struct gsh_launch *launch, const int64_t strides[GSH_MAX_DIMS])
{
    return launch->operands[0].dtype == launch->loop &&
           memcmp(launch->strides[0], strides, (size_t)launch->ndim * sizeof(*strides)) == 0;
}

/* Whether the result is the same in whatever order the elements are joined: integers wrap, and sums of narrower integers in float64
 * stay whole numbers. */
static bool is_exact(const struct gsh_launch *launch)
{
    enum gsh_dtype input = launch->operands[0].dtype;
    if (!(1u << launch->loop & GSH_SET_INEXACT))
        return true;
    return launch->reduction == GSH_REDUCE_SUM && launch->loop == GSH_FLOAT64 &&
           !(1u << input & GSH_SET_INEXACT) && gsh_dtype_size(input) <= 4 &&
           gsh_launch_elements(launch) <= MOST_WHOLE >> 8 * gsh_dtype_size(input);
}

size_t gsh_dense_join_scratch(const struct gsh_launch *launch)
{
    int64_t strides[GSH_MAX_DIMS];
    if (!gsh_launch_has(launch, GSH_TRAIT_JOINS) || launch->has_mask ||
        launch->operands[0].is_constant || !is_exact(launch) ||
        gsh_dtype_cast_may_fail(launch->operands[0].dtype, launch->loop))
        return 0;
    make_dense(launch, strides);
    return is_dense(launch, strides)
               ? 0
               : (size_t)gsh_launch_elements(launch) * gsh_dtype_size(launch->loop);
}

void gsh_dense_join_make(const struct gsh_launch *launch, uint64_t scratch, struct gsh_launch *copy,
                         struct gsh_launch *join)
{
    *copy = (struct gsh_launch){.kind = GSH_LAUNCH_ELEMENTWISE,
                                .op = GSH_OP_COPY,
                                .loop = launch->loop,
                                .nin = 1,
                                .nout = 1,
                                .ndim = launch->ndim};
    memcpy(copy->shape, launch->shape, sizeof copy->shape);
    memcpy(copy->strides[0], launch->strides[0], sizeof copy->strides[0]);
    copy->operands[0] = launch->operands[0];
    copy->operands[1] = (struct gsh_operand){.dtype = launch->loop, .address = scratch};
    make_dense(launch, copy->strides[1]);
    *join = *launch;
    join->operands[0] = copy->operands[1];
    memcpy(join->strides[0], copy->strides[1], sizeof join->strides[0]);
    gsh_launch_collapse(copy);
    gsh_launch_collapse(join);
}
