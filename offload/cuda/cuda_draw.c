/* SPDX-License-Identifier: Apache-2.0
 *
 * The scratch memory of a launch stays as it is until the next launch or allocation: what the kernels have left there is read
 * before either.
 */
#include "cuda_draw.h"

#include "cuda_mem.h"
#include "cuda_module.h"
#include "draw_tail.h"
#include "random_stream.h"
#include "source_draw.h"

#include <stdlib.h>

static void set_end(const struct gsh_launch *launch, uint64_t pieces)
{
    const struct gsh_random_draw *draw = &launch->draw;
    if (draw->end == NULL)
        return;
    struct gsh_random_stream end = draw->stream;
    uint64_t each = GSH_MAX(32 / (unsigned)gsh_random_draw_width(draw, launch->loop), 1);
    uint64_t words = pieces / each + (pieces % each != 0);
    (gsh_random_draw_width(draw, launch->loop) == 64 ? gsh_random_stream_skip
                                                     : gsh_random_stream_skip_halves)(&end, words);
    *draw->end = end;
}

/* Puts `count` values that are in host memory in their places. */
static enum gsh_status patch(const struct gsh_launch *launch, uint64_t tails, uint64_t values,
                             const void *computed, int64_t count)
{
    struct gsh_source_stage stage;
    size_t bytes = (size_t)count * gsh_dtype_size(launch->loop);
    GSH_TRY(gsh_cuda_mem_upload(values, computed, bytes, false));
    gsh_source_draw_plan_patch(launch->loop, launch->operands[0].address, tails, values, count,
                               &stage);
    return gsh_cuda_module_launch_text(&stage, gsh_source_draw_patch_text, &launch->loop);
}

static void compute_tail(const struct gsh_launch *launch, const struct gsh_source_draw_tail *tail,
                         void *computed, int64_t i)
{
    if ((tail->index & GSH_SOURCE_DRAW_ARGUMENT) != 0)
        gsh_draw_tail_store_exp(tail->bits, computed, i);
    else
        gsh_draw_tail_store(&launch->draw, launch->loop, tail->bits, computed, i);
}

/* Computes the listed values. */
static enum gsh_status compute_tails(const struct gsh_launch *launch, uint64_t tails,
                                     uint64_t values, int64_t count)
{
    struct gsh_source_draw_tail *listed = malloc((size_t)count * sizeof *listed);
    void *computed = malloc((size_t)count * sizeof(double));
    enum gsh_status status = GSH_FAILED;
    if (listed != NULL && computed != NULL)
        status = gsh_cuda_mem_download(listed, tails, (size_t)count * sizeof *listed, false);
    if (status == GSH_OK) {
        for (int64_t i = 0; i < count; i++)
            compute_tail(launch, &listed[i], computed, i);
        status = patch(launch, tails, values, computed, count);
    }
    free(listed);
    free(computed);
    return status;
}

static enum gsh_status finish(const struct gsh_launch *launch)
{
    const struct gsh_source_draw_places places = gsh_source_draw_places(launch);
    struct gsh_source_draw_result result;
    uint64_t scratch;
    GSH_TRY(gsh_cuda_mem_scratch(gsh_source_draw_scratch(launch), &scratch));
    GSH_TRY(gsh_cuda_mem_download(&result, scratch + places.result, sizeof result, false));
    if (result.consumed == 0 || result.failed != 0 || result.tails > (uint64_t)places.tail_room)
        return GSH_DECLINED;
    if (result.tails > 0)
        GSH_TRY(compute_tails(launch, scratch + places.tails, scratch + places.values,
                              (int64_t)result.tails));
    set_end(launch, result.consumed);
    return GSH_OK;
}

enum gsh_status gsh_cuda_draw_run(const struct gsh_launch *launch, unsigned row)
{
    GSH_TRY(gsh_cuda_module_launch(launch, row));
    if (gsh_random_draw_rejects(&launch->draw, launch->loop))
        return finish(launch);
    set_end(launch, (uint64_t)gsh_launch_elements(launch));
    return GSH_OK;
}
