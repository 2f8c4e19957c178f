/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy's default allocator, patched in its struct: large arrays and device results are allocated
 * in the arena. Frees and reallocations are routed by address. Arrays made before the patch stay
 * with the original allocator, whose cache of small blocks never receives an arena address. Small
 * requests cost one comparison and a test of the hint.
 */
#include "arena.h"
#include "arena_hint.h"
#include "coherence.h"
#include "numpy_abi.h"
#include "numpy_hooks.h"
#include "options.h"
#include "small_call_rest.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gsh_numpy_handler original; /* the handler before the patch */
static size_t arena_min;
static struct gsh_hook *allocate_hook, *free_hook;

/* ---- the C library's threshold ---- */

#define MOST_THRESHOLD ((size_t)32 << 20) /* glibc's DEFAULT_MMAP_THRESHOLD_MAX */

static atomic_size_t largest_freed; /* up to that */

/* glibc maps a request above a threshold by mmap, and raises the threshold to the size of what is freed that it had mapped (mallopt(3)).
 * Arrays of the arena raise nothing, and other libraries' scratch memory would be mapped, and its pages faulted in, at each call.
 * A block that no page is touched of raises it as the array would have. */
static void raise_threshold(size_t size)
{
    size_t before = atomic_load_explicit(&largest_freed, memory_order_relaxed);
    if (GSH_LIKELY(size <= before) || size > MOST_THRESHOLD)
        return;
    atomic_store_explicit(&largest_freed, size, memory_order_relaxed);
    void *volatile block = malloc(size); /* volatile: the pair is kept */
    free(block);
}

/* ---- the handler ---- */

static void *patched_malloc(void *ctx, size_t size)
{
    if (GSH_LIKELY(size < arena_min && !gsh_arena_hint_is_set()))
        return original.malloc(ctx, size);
    gsh_numpy_hooks_hit(allocate_hook);
    gsh_small_call_rest_check();
    void *address =
        gsh_arena_allocate(size, gsh_arena_hint_is_set() ? GSH_ARENA_DEVICE : GSH_ARENA_HOST);
    return address ? address : original.malloc(ctx, size);
}

static void *patched_calloc(void *ctx, size_t count, size_t size)
{
    size_t bytes;
    if (!gsh_mul(count, size, &bytes) || bytes < arena_min)
        return original.calloc(ctx, count, size);
    gsh_numpy_hooks_hit(allocate_hook);
    void *address = gsh_arena_allocate(bytes, GSH_ARENA_ZERO);
    return address ? address : original.calloc(ctx, count, size);
}

static void patched_free(void *ctx, void *address, size_t size)
{
    if (GSH_LIKELY(!gsh_arena_contains(address))) {
        original.free(ctx, address, size);
        return;
    }
    gsh_numpy_hooks_hit(free_hook);
    gsh_coherence_fetch_if_address_taken(address);
    if (!gsh_arena_free(address))
        original.free(ctx, address, size);
    else
        raise_threshold(size);
}

static void *patched_realloc(void *ctx, void *address, size_t size)
{
    if (gsh_arena_find_block(address) == NULL)
        return original.realloc(ctx, address, size);
    size_t usable = gsh_arena_usable(address);
    if (size <= usable && size >= usable / 2)
        return address;
    void *moved = patched_malloc(ctx, size);
    if (!moved)
        return NULL;
    size_t kept = GSH_MIN(size, usable);
    if (kept > 0) {
        gsh_coherence_fetch(address, kept, false);
        memcpy(moved, address, kept);
    }
    gsh_arena_free(address);
    return moved;
}

void gsh_numpy_alloc_install(void)
{
    struct gsh_numpy_handler *handler = gsh_np.default_handler;
    original = *handler;
    arena_min = (size_t)gsh_option_number(GSH_OPTION_ARENA_MIN);
    static char self_test[64];
    snprintf(self_test, sizeof(self_test), "m.empty(%zu, 'b')", arena_min);
    allocate_hook = gsh_numpy_hooks_add("allocator", "malloc, calloc", self_test);
    free_hook = gsh_numpy_hooks_add("allocator", "free, realloc", self_test);
    handler->free = patched_free;
    handler->realloc = patched_realloc;
    handler->calloc = patched_calloc;
    handler->malloc = patched_malloc;
}
