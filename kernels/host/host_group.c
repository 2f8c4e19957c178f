/* SPDX-License-Identifier: Apache-2.0
 *
 * The elements in C order are cut into pieces, which threads take, and pieces into blocks. Where rows are long, a
 * block ends with a row, so that arrays that are contiguous within a row are used in place.
 */
#include "host_group.h"

#include "host_group_block.h"
#include "host_group_sinks.h"
#include "host_ops.h"
#include "host_threads.h"

#include <stdlib.h>

#define LEAST_ROW 128       /* elements; blocks run across the ends of shorter rows */
#define LEAST_SHARED 65536  /* fewer elements are computed by the calling thread */
#define LARGEST_PIECE 65536 /* elements */
#define PIECES_PER_THREAD 4 /* fewest, because the run waits for the last piece */

struct elementwise {
    struct gsh_host_group_program program;
    int64_t row, elements, piece;
    char *shared, *own; /* buffers; `own` those of all threads */
};

static bool supports_step(const struct gsh_group *group, const struct gsh_group_step *step)
{
    const struct gsh_op_info *info = gsh_op_info(step->op);
    if (!gsh_op_has_loop(step->op, step->loop))
        return false;
    for (unsigned k = 0; k < info->nin; k++)
        if (step->in[k].source == GSH_FROM_NOTHING)
            return false;
    return (info->flags & GSH_USES_INDEX) == 0 ||
           (step->index.source == GSH_FROM_ARRAY && group->arrays[step->index.index].is_index);
}

bool gsh_host_group_supports(const struct gsh_group *group)
{
    for (unsigned k = 0; k < group->step_count; k++)
        if (!supports_step(group, &group->steps[k]))
            return false;
    return gsh_host_group_sinks_supports(group);
}

/* The first of the dimensions that a block may run through; *elements: their elements. */
static int find_row(const struct gsh_group *group, int64_t *elements)
{
    int d = GSH_MAX(group->ndim - 1, 0);
    *elements = group->ndim > 0 ? group->shape[d] : 1;
    while (d > 0 && *elements < LEAST_ROW)
        *elements *= group->shape[--d];
    return d;
}

static void find_index(const struct gsh_group *group, int64_t element, int64_t *index)
{
    for (int d = group->ndim - 1; d >= 0; d--) {
        index[d] = element % group->shape[d];
        element /= group->shape[d];
    }
}

static void run_pieces(void *context, unsigned thread, struct gsh_host_pieces *pieces)
{
    struct elementwise *work = context;
    struct gsh_host_group_worker worker; /* large: only what the program uses is set */
    int64_t index[GSH_MAX_DIMS];
    gsh_host_group_block_begin(&worker, &work->program, work->shared,
                               work->own + thread * gsh_host_group_block_own(&work->program));
    for (int64_t piece; (piece = gsh_host_threads_take(pieces, thread)) >= 0;) {
        int64_t end = GSH_MIN((piece + 1) * work->piece, work->elements), n;
        for (int64_t at = piece * work->piece; at < end; at += n) {
            n = GSH_MIN(GSH_MIN(end - at, work->row - at % work->row), GSH_HOST_BLOCK);
            find_index(work->program.group, at, index);
            gsh_host_group_block_run(&worker, index, n);
        }
    }
}

/* Elements of a piece: whole blocks; all elements where threads would cost more than they save. */
static int64_t piece_of(int64_t elements)
{
    if (elements < LEAST_SHARED)
        return GSH_MAX(elements, 1);
    int64_t piece = elements / ((int64_t)gsh_host_threads_count() * PIECES_PER_THREAD);
    return GSH_MIN(GSH_MAX(piece / GSH_HOST_BLOCK, 1) * GSH_HOST_BLOCK, LARGEST_PIECE);
}

static enum gsh_status run_elementwise(const struct gsh_group *group)
{
    struct elementwise work; /* large */
    struct gsh_host_group_worker filler;
    int trailing = find_row(group, &work.row);
    gsh_host_group_program_make(&work.program, group, trailing, 0, true);
    work.elements = gsh_group_elements(group);
    work.piece = piece_of(work.elements);
    int64_t pieces = (work.elements + work.piece - 1) / work.piece;
    size_t threads = (size_t)GSH_MIN((int64_t)gsh_host_threads_count(), pieces);
    size_t shared = gsh_host_group_block_shared(&work.program);
    size_t own = gsh_host_group_block_own(&work.program);
    char *memory = aligned_alloc(64, gsh_round_up(shared + threads * own + 1, 64));
    if (memory == NULL)
        return GSH_FAILED;
    work.shared = memory;
    work.own = memory + shared;
    gsh_host_group_block_begin(&filler, &work.program, work.shared, work.own);
    gsh_host_group_block_setup(&filler);
    gsh_host_threads_run(run_pieces, &work, pieces);
    free(memory);
    return GSH_OK;
}

enum gsh_status gsh_host_group_run(const struct gsh_group *group)
{
    if (!gsh_host_group_supports(group))
        return GSH_DECLINED;
    if (gsh_group_elements(group) == 0 && group->sink_count == 0)
        return GSH_OK;
    return group->sink_count > 0 ? gsh_host_group_sinks_run(group) : run_elementwise(group);
}

enum gsh_status gsh_host_group_run_launch(const struct gsh_launch *launch)
{
    struct gsh_group group;
    bool is_large = !gsh_launch_is_batch(launch) && gsh_host_threads_count() > 1 &&
                    gsh_launch_elements(launch) >= LEAST_SHARED;
    if (is_large && gsh_host_ops_supports(launch) && gsh_group_of_launch(&group, launch) &&
        gsh_host_group_run(&group) == GSH_OK)
        return GSH_OK;
    return gsh_host_ops_run(launch);
}
