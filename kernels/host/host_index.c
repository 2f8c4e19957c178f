/* SPDX-License-Identifier: Apache-2.0
 *
 * TAKE, PUT, COMPRESS and EXPAND on the CPU: element by element in C order, as NumPy does, so that the last of
 * several writes to one place wins.
 */
#include "host_index.h"

#include "host_casts.h"
#include "host_fp_check.h"

#include <string.h>

/* A walk over the launch's elements in C order; rows[k] is operand k's first in the current row. */
struct walk {
    const struct gsh_launch *launch;
    gsh_host_loop *join; /* NULL: op COPY */
    bool moves;          /* bytes unchanged */
    bool checks_errors;
    struct gsh_host_fp_check check;
    int64_t inner, inner_strides[GSH_MAX_OPERANDS];
    char *rows[GSH_MAX_OPERANDS];
    int64_t index[GSH_MAX_DIMS];
    int64_t count; /* true mask elements so far */
};

static bool is_counted(const struct gsh_launch *launch)
{
    return gsh_launch_has(launch, GSH_TRAIT_COUNTS);
}

static bool is_index(const struct gsh_operand *operand)
{
    return !operand->is_constant && (1u << operand->dtype & GSH_SET_INTEGERS) != 0;
}

bool gsh_host_index_supports(const struct gsh_launch *launch)
{
    const struct gsh_op_info *info = gsh_op_info(launch->op);
    if (launch->nout != 1 || !gsh_op_has_loop(launch->op, launch->loop))
        return false;
    if (is_counted(launch))
        return launch->op == GSH_OP_COPY && launch->nin == 1 && launch->has_mask &&
               !launch->operands[0].is_constant;
    if (launch->nin != 2 || !is_index(&launch->operands[1]))
        return false;
    if (launch->kind == GSH_LAUNCH_TAKE)
        return launch->op == GSH_OP_COPY && !launch->operands[0].is_constant;
    return launch->kind == GSH_LAUNCH_PUT &&
           (launch->op == GSH_OP_COPY || (info->nin == 2 && info->nout == 1)) &&
           (info->flags & GSH_USES_INDEX) == 0;
}

/* place = op(place, value). */
static void combine(struct walk *walk, char *place, const char *value)
{
    const struct gsh_launch *launch = walk->launch;
    enum gsh_dtype loop = launch->loop, out = launch->operands[launch->nin].dtype;
    union gsh_scalar a, b, z;
    struct gsh_host_block block = {.in = {&a, &b}, .out = {&z}, .n = 1};
    gsh_host_casts_load(&a, gsh_op_input_dtype(launch->op, loop, 0), place, out, 0, 1);
    gsh_host_casts_load(&b, gsh_op_input_dtype(launch->op, loop, 1), value,
                        launch->operands[0].dtype, 0, 1);
    walk->join(&block);
    if (walk->checks_errors)
        gsh_host_fp_check_block(&walk->check, &block);
    gsh_host_casts_store(place, out, 0, &z, gsh_op_output_dtype(launch->op, loop, 0), 1);
}

/* place = value, cast through the loop's dtype. */
static void convert(struct walk *walk, char *place, const char *value)
{
    const struct gsh_launch *launch = walk->launch;
    enum gsh_dtype in = launch->operands[0].dtype, loop = launch->loop;
    union gsh_scalar between;
    gsh_host_casts_run(&between, loop, 0, value, in, 0, 1);
    gsh_host_casts_run(place, launch->operands[launch->nin].dtype, 0, &between, loop, 0, 1);
    if (!walk->checks_errors)
        return;
    walk->check.nin = 1;
    walk->check.samples[0] = (struct gsh_host_sample){value, 0, in, in};
    gsh_host_fp_check_cast(&walk->check, loop, value, in, 0, 1);
    gsh_host_fp_check_cast(&walk->check, launch->operands[launch->nin].dtype, &between, loop, 0, 1);
}

static void set(struct walk *walk, char *place, const char *value)
{
    if (walk->join != NULL)
        combine(walk, place, value);
    else if (walk->moves)
        memmove(place, value, gsh_dtype_size(walk->launch->loop));
    else
        convert(walk, place, value);
}

/* Element j of the row; `at` is its index, or its count of true mask elements. */
static void run_element(struct walk *walk, int64_t j, int64_t at)
{
    const struct gsh_launch *launch = walk->launch;
    const struct gsh_indexed *indexed = &launch->indexed;
    unsigned out = launch->nin;
    bool in_input = gsh_launch_has(launch, GSH_TRAIT_INDEXES_INPUT);
    if (at < 0 && !is_counted(launch))
        at += indexed->extent;
    if (at < 0 || at >= indexed->extent) {
        if (launch->kind == GSH_LAUNCH_TAKE)
            gsh_host_fp_check_report(&walk->check, GSH_ERROR_INVALID);
        return;
    }
    char *value = walk->rows[0] + j * walk->inner_strides[0];
    char *place = walk->rows[out] + j * walk->inner_strides[out];
    *(in_input ? &value : &place) += at * indexed->stride;
    set(walk, place, value);
}

static void run_row(struct walk *walk)
{
    const struct gsh_launch *launch = walk->launch;
    unsigned mask = launch->nin + launch->nout;
    int64_t indices[GSH_HOST_BLOCK];
    for (int64_t j = 0; j < walk->inner; j++) {
        int64_t in_block = j % GSH_HOST_BLOCK;
        if (in_block == 0 && !is_counted(launch))
            gsh_host_casts_run(indices, GSH_INT64, sizeof(indices[0]),
                               walk->rows[1] + j * walk->inner_strides[1],
                               launch->operands[1].dtype, walk->inner_strides[1],
                               GSH_MIN(walk->inner - j, GSH_HOST_BLOCK));
        if (launch->has_mask && walk->rows[mask][j * walk->inner_strides[mask]] == 0)
            continue;
        run_element(walk, j, is_counted(launch) ? walk->count++ : indices[in_block]);
    }
}

/* Steps to the next row; false behind the last. */
static bool next_row(struct walk *walk)
{
    const struct gsh_launch *launch = walk->launch;
    for (int d = launch->ndim - 2; d >= 0; d--) {
        bool wraps = ++walk->index[d] == launch->shape[d];
        int64_t step = wraps ? 1 - launch->shape[d] : 1;
        for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
            walk->rows[k] += step * launch->strides[k][d];
        if (!wraps)
            return true;
        walk->index[d] = 0;
    }
    return false;
}

void gsh_host_index_run(const struct gsh_launch *launch)
{
    int last = launch->ndim - 1;
    enum gsh_dtype in = launch->operands[0].dtype, out = launch->operands[launch->nin].dtype;
    union gsh_scalar constant = launch->operands[0].constant;
    struct walk walk = {.launch = launch, .inner = last >= 0 ? launch->shape[last] : 1};
    if (launch->op != GSH_OP_COPY)
        walk.join = gsh_host_loops_find(launch->op, launch->loop);
    walk.moves = in == out && in == launch->loop;
    walk.checks_errors = gsh_host_fp_check_begin(
        &walk.check, &launch->errors, launch->op, launch->loop,
        in != launch->loop || out != launch->loop || launch->kind == GSH_LAUNCH_TAKE);
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        walk.inner_strides[k] = last >= 0 ? launch->strides[k][last] : 0;
        walk.rows[k] = (char *)(uintptr_t)launch->operands[k].address;
    }
    if (launch->operands[0].is_constant)
        walk.rows[0] = (char *)&constant;
    do
        run_row(&walk);
    while (next_row(&walk));
}
