/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "coherence_open.h"

#include "mapping_budget.h"
#include "value_release.h"

/* Limits of what is opened between two open blocks. */
#define JOINED_BLOCKS 128
#define JOINED_BYTES ((size_t)16 << 20)

void gsh_coherence_open_drop_stale_sigsafe(struct gsh_block *block)
{
    if (atomic_load_explicit(&block->resident, memory_order_relaxed) != 0 || block->value == NULL)
        return;
    struct gsh_value *value = block->value;
    block->value = NULL;
    gsh_value_release_sigsafe(value);
}

enum gsh_status gsh_coherence_open_run_sigsafe(struct gsh_block *block, unsigned first,
                                               unsigned last, bool write)
{
    switch ((enum gsh_chunk_state)block->state[first]) {
    case GSH_CHUNK_DEVICE:
        return GSH_DECLINED;
    case GSH_CHUNK_BLANK:
        return gsh_arena_protect_sigsafe(block, first, last, GSH_CHUNK_HOST);
    case GSH_CHUNK_SHARED:
        return write ? gsh_arena_protect_sigsafe(block, first, last, GSH_CHUNK_HOST) : GSH_OK;
    case GSH_CHUNK_HOST:
        break;
    }
    return GSH_OK;
}

enum gsh_status gsh_coherence_open_sigsafe(struct gsh_block *block, unsigned first, unsigned last)
{
    enum gsh_status status = GSH_OK;
    for (unsigned chunk = first, end; chunk <= last && status == GSH_OK; chunk = end) {
        end = gsh_block_run_end(block, chunk, last + 1);
        status = gsh_coherence_open_run_sigsafe(block, chunk, end - 1, true);
    }
    gsh_coherence_open_drop_stale_sigsafe(block);
    return status;
}

/* ---- short of mappings ---- */

bool gsh_coherence_open_is_open_sigsafe(const struct gsh_block *block)
{
    return block->chunks > 0 && block->state[0] == GSH_CHUNK_HOST &&
           block->state[block->chunks - 1] == GSH_CHUNK_HOST;
}

struct gsh_block *gsh_coherence_open_find_sigsafe(const struct gsh_block *block, bool above)
{
    struct gsh_block *other = gsh_arena_block_beside_sigsafe(block, above);
    size_t bytes = 0;
    for (unsigned count = 0; other != NULL && !gsh_coherence_open_is_open_sigsafe(other); count++) {
        bytes += other->capacity;
        if (count == JOINED_BLOCKS || bytes > JOINED_BYTES)
            return NULL;
        other = gsh_arena_block_beside_sigsafe(other, above);
    }
    return other;
}

struct gsh_block *gsh_coherence_open_next_sigsafe(const struct gsh_block *block,
                                                  const struct gsh_block *other, bool above)
{
    struct gsh_block *next = gsh_arena_block_beside_sigsafe(other, above);
    bool is_had = next == NULL || next == block || gsh_block_try_acquire_sigsafe(next);
    return is_had ? next : NULL;
}

bool gsh_coherence_open_other_sigsafe(struct gsh_block *other)
{
    if (!atomic_load_explicit(&other->live, memory_order_acquire))
        return gsh_arena_open_idle_sigsafe(other);
    return !gsh_block_is_written(other) && !gsh_block_has_state(other, GSH_CHUNK_DEVICE) &&
           gsh_coherence_open_sigsafe(other, 0, other->chunks - 1U) == GSH_OK;
}

/* Opens all blocks between the nearest open block on that side and this one, beginning there, so that they share one
 * mapping with it. Waits for no lock. False: there is no such block, or not all of them could be opened. */
static bool open_between_sigsafe(const struct gsh_block *block, bool above)
{
    struct gsh_block *other = gsh_coherence_open_find_sigsafe(block, above);
    while (other != NULL &&
           (other = gsh_coherence_open_next_sigsafe(block, other, !above)) != block &&
           other != NULL) {
        bool is_done =
            gsh_coherence_open_is_open_sigsafe(other) || gsh_coherence_open_other_sigsafe(other);
        gsh_block_release_sigsafe(other);
        if (!is_done)
            return false;
    }
    return other != NULL;
}

enum gsh_status gsh_coherence_open_joined_sigsafe(struct gsh_block *block)
{
    if (!open_between_sigsafe(block, false))
        (void)open_between_sigsafe(block, true);
    return gsh_coherence_open_sigsafe(block, 0, block->chunks - 1U);
}
