/* SPDX-License-Identifier: Apache-2.0
 *
 * Bits of chunks, and the sizes that a thread expects.
 */
#include "expected.h"

#include "launch.h"

static _Thread_local struct {
    size_t sizes[GSH_MAX_OUTPUTS];
    unsigned count;
} results;

void gsh_expected_mark(struct gsh_block *block, unsigned first, unsigned last)
{
    atomic_fetch_or_explicit(&block->expected, gsh_block_chunk_bits(first, last),
                             memory_order_relaxed);
}

bool gsh_expected_clear(struct gsh_block *block, unsigned first, unsigned last)
{
    uint64_t bits = gsh_block_chunk_bits(first, last);
    return atomic_load_explicit(&block->expected, memory_order_relaxed) != 0 &&
           (atomic_fetch_and_explicit(&block->expected, ~bits, memory_order_relaxed) & bits) != 0;
}

uint64_t gsh_expected_chunks(const struct gsh_block *block)
{
    return atomic_load_explicit(&block->expected, memory_order_relaxed);
}

void gsh_expected_add_result(size_t bytes)
{
    if (results.count < GSH_MAX_OUTPUTS)
        results.sizes[results.count++] = bytes;
}

void gsh_expected_forget_results(void)
{
    results.count = 0;
}

/* Whether the thread expects a result of that size; it is not expected any more. */
static bool take_result(size_t bytes)
{
    for (unsigned i = 0; i < results.count; i++)
        if (results.sizes[i] == bytes) {
            results.sizes[i] = results.sizes[--results.count];
            return true;
        }
    return false;
}

void gsh_expected_begin(struct gsh_block *block)
{
    uint64_t bits = take_result(block->size) ? UINT64_MAX : 0;
    atomic_store_explicit(&block->expected, bits, memory_order_relaxed);
}
