/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "cuda_hold.h"

#include "arena_internal.h"
#include "block.h"
#include "coherence.h"
#include "cuda_interop.h"
#include "cuda_registry.h"
#include "lock.h"

static gsh_cuda_enum (*get_current)(CUcontext *context);
static gsh_cuda_enum (*pop_current)(CUcontext *context);
static gsh_cuda_enum (*synchronize)(CUstream stream);
static gsh_cuda_enum (*is_capturing)(CUstream stream, gsh_cuda_enum *status);

void gsh_cuda_hold_resolve(void *(*find)(const char *name))
{
    get_current = (__typeof__(get_current))find("cuCtxGetCurrent");
    pop_current = (__typeof__(pop_current))find("cuCtxPopCurrent_v2");
    synchronize = (__typeof__(synchronize))find("cuStreamSynchronize");
    is_capturing = (__typeof__(is_capturing))find("cuStreamIsCapturing");
}

/* Pins the ranges. A thread without a current context has none afterwards either. */
static void pin_all(const struct gsh_cuda_ranges *ranges)
{
    CUcontext before = NULL, after = NULL;
    (void)get_current(&before);
    for (unsigned i = 0; i < ranges->count; i++) {
        const struct gsh_cuda_range *range = gsh_cuda_ranges_at(ranges, i);
        gsh_coherence_pin(range->address, range->size, range->is_written);
    }
    if (before == NULL && get_current(&after) == GSH_CUDA_SUCCESS && after != NULL)
        (void)pop_current(&after);
}

bool gsh_cuda_hold_begin(struct gsh_cuda_hold *hold)
{
    if (gsh_cuda_snapshot_interop.is_entered() || gsh_lock_is_any_held())
        return false;
    pin_all(hold->ranges);
    return true;
}

/* Whether gpushim, not the program, page-locked the range. The program relies on CUDA's rules for
 * pageable memory. */
static bool is_page_locked(const struct gsh_cuda_range *range)
{
    const struct gsh_block *block = gsh_arena_find_block(range->address);
    return block != NULL && !gsh_cuda_registry_has(range->address) &&
           gsh_arena_is_registered(block, 0, 1);
}

static bool is_any_page_locked(const struct gsh_cuda_ranges *ranges)
{
    for (unsigned i = 0; i < ranges->count; i++)
        if (is_page_locked(gsh_cuda_ranges_at(ranges, i)))
            return true;
    return false;
}

/* Whether the call was captured as a node of a graph. If CUDA gives no answer, it is treated as
 * captured and the memory stays pinned. */
static bool is_captured(CUstream stream)
{
    gsh_cuda_enum status = GSH_CUDA_CAPTURE_NONE;
    return is_capturing(stream, &status) != GSH_CUDA_SUCCESS || status != GSH_CUDA_CAPTURE_NONE;
}

void gsh_cuda_hold_end(const struct gsh_cuda_hold *hold, gsh_cuda_enum result)
{
    bool is_made = result == GSH_CUDA_SUCCESS;
    if (is_made && (hold->when == GSH_CUDA_KEPT ||
                    (hold->when == GSH_CUDA_LATER && is_captured(hold->stream))))
        return;
    if (is_made && hold->when == GSH_CUDA_LATER && is_any_page_locked(hold->ranges))
        (void)synchronize(hold->stream);
    for (unsigned i = 0; i < hold->ranges->count; i++) {
        const struct gsh_cuda_range *range = gsh_cuda_ranges_at(hold->ranges, i);
        gsh_coherence_unpin(range->address, range->size, range->is_written);
    }
}

void gsh_cuda_hold_keep(const void *address, size_t size)
{
    struct gsh_cuda_ranges ranges = {.count = 1, .few = {{address, size, true}}};
    pin_all(&ranges);
}

void gsh_cuda_hold_release(const void *address, size_t size)
{
    gsh_coherence_unpin(address, size, true);
}
