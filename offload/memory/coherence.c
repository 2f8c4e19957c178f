/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements the protocol of coherence.h. Every transition and every transfer happens under the block's bit lock, so
 * that a second fault on the block waits for the first. Never calls Python. Takes the DISPATCH lock, for a flush,
 * only before it holds a block. gsh_arena_protect_sigsafe keeps each chunk's state and protection consistent: it is
 * the only function that changes either.
 */
#include "coherence_internal.h"

#include "arena_internal.h"
#include "backend.h"
#include "coherence_events.h"
#include "coherence_open.h"
#include "coherence_stop.h"
#include "forked.h"
#include "log.h"
#include "mapping_budget.h"
#include "pages.h"
#include "readers.h"
#include "stack_pool.h"
#include "stats.h"
#include "trace.h"
#include "transfer.h"
#include "value.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum gsh_coherence_bug gsh_coherence_injected_bug;

/* Acquires the block once no pending node writes its value. Takes the DISPATCH lock. */
static void acquire_when_written(struct gsh_block *block)
{
    gsh_block_acquire_sigsafe(block);
    while (gsh_block_is_written(block)) {
        gsh_value_note_looked(block->value);
        gsh_block_release_sigsafe(block);
        gsh_coherence_events.run_for_host_read();
        gsh_block_acquire_sigsafe(block);
    }
}

/* ---- device to host ---- */

struct fetch_source {
    const struct gsh_block *block;
    size_t offset; /* of the run */
};

static enum gsh_status fetch_bytes(void *context, void *to, size_t offset, size_t bytes)
{
    const struct fetch_source *source = context;
    size_t from = source->offset + offset;
    if (from >= source->block->size)
        return GSH_OK;
    bytes = GSH_MIN(bytes, source->block->size - from);
    return gsh_value_read(source->block->value, to, from, bytes, false);
}

/* Transfers DEVICE chunks first..last into their closed pages. */
static enum gsh_status transfer_run(struct gsh_block *block, unsigned first, unsigned last,
                                    enum gsh_chunk_state state)
{
    size_t offset = gsh_block_chunk_offset(block, first);
    size_t pages = gsh_block_run_bytes(block, first, last);
    size_t bytes = GSH_MIN(pages, block->size - offset);
    const struct gsh_backend *backend = gsh_backend_get();
    struct fetch_source source = {.block = block, .offset = offset};
    if (GSH_UNLIKELY(gsh_coherence_injected_bug == GSH_BUG_OPEN_BEFORE_FILL)) {
        gsh_pages_protect_sigsafe(block->base + offset, pages, PROT_READ | PROT_WRITE);
        return fetch_bytes(&source, (void *)(block->base + offset), 0, bytes);
    }
    bool is_direct = backend->ignores_protection && gsh_value_is_on_device(block->value);
    if (is_direct && gsh_arena_is_registered(block, offset, bytes))
        return gsh_value_read(block->value, (void *)(block->base + offset), offset, bytes, true);
    return gsh_pages_fill(block->base + offset, pages, gsh_pages_protection(state), fetch_bytes,
                          &source);
}

/* The first fetch of an output tells the policy that the host reads the results of the call that wrote it. */
static void note_fetched(struct gsh_block *block, unsigned first, unsigned last)
{
    gsh_coherence_events.note_fetched_held(block, (double)gsh_block_run_bytes(block, first, last),
                                           block->row);
    if (block->row == 0)
        return;
    gsh_stats_output_fetched(block->row);
    block->row = 0;
}

static enum gsh_status fetch_run(struct gsh_block *block, unsigned first, unsigned last,
                                 enum gsh_chunk_state state)
{
    uint64_t armed =
        gsh_value_is_waited_for(block->value) ? gsh_coherence_events.get_submitted() : 0;
    if (transfer_run(block, first, last, state) != GSH_OK)
        return GSH_FAILED;
    gsh_coherence_events.note_run(armed);
    note_fetched(block, first, last);
    return gsh_arena_protect_sigsafe(block, first, last, state);
}

static enum gsh_status open_run(struct gsh_block *block, unsigned first, unsigned last, bool write)
{
    if (block->state[first] != GSH_CHUNK_DEVICE)
        return gsh_coherence_open_run_sigsafe(block, first, last, write);
    if (block->value == NULL) /* in a forked child without the contents */
        return GSH_FAILED;
    return fetch_run(block, first, last, write ? GSH_CHUNK_HOST : GSH_CHUNK_SHARED);
}

/* Makes chunks first..last readable, or readable and writeable, by the host. */
static enum gsh_status open_just(struct gsh_block *block, unsigned first, unsigned last, bool write)
{
    enum gsh_status status = GSH_OK;
    for (unsigned chunk = first, end; chunk <= last && status == GSH_OK; chunk = end) {
        end = gsh_block_run_end(block, chunk, last + 1);
        status = open_run(block, chunk, end - 1, write);
    }
    gsh_coherence_open_drop_stale_sigsafe(block);
    return status;
}

/* ---- short of mappings ---- */

/* As gsh_coherence_open_other_sigsafe, but also fetches from the device. */
static bool open_other_held(struct gsh_block *other)
{
    if (gsh_coherence_open_is_open_sigsafe(other) || gsh_coherence_open_other_sigsafe(other))
        return true;
    return atomic_load_explicit(&other->live, memory_order_acquire) &&
           !gsh_block_is_written(other) && open_just(other, 0, other->chunks - 1U, true) == GSH_OK;
}

/* Joins blocks as the fault handler does (coherence_open.c), but also fetches what only the device holds between
 * them. */
static bool open_between(const struct gsh_block *block, bool above)
{
    struct gsh_block *other = gsh_coherence_open_find_sigsafe(block, above);
    while (other != NULL &&
           (other = gsh_coherence_open_next_sigsafe(block, other, !above)) != block &&
           other != NULL) {
        bool is_done = open_other_held(other);
        gsh_block_release_sigsafe(other);
        if (!is_done)
            return false;
    }
    return other != NULL;
}

/* Opens the whole block, and joins it to an open one, so that it takes no mapping of its own. */
static enum gsh_status open_joined(struct gsh_block *block)
{
    if (!open_between(block, false))
        (void)open_between(block, true);
    return open_just(block, 0, block->chunks - 1U, true);
}

static enum gsh_status open_chunks(struct gsh_block *block, unsigned first, unsigned last,
                                   bool write)
{
    return gsh_mapping_budget_has_room_sigsafe() ? open_just(block, first, last, write)
                                                 : open_joined(block);
}

enum gsh_status gsh_coherence_fetch_all_held(struct gsh_block *block)
{
    return open_chunks(block, 0, block->chunks - 1U, false);
}

enum gsh_status gsh_coherence_evict_held(struct gsh_block *block)
{
    return open_chunks(block, 0, block->chunks - 1U, true);
}

void gsh_coherence_stop_held(const struct gsh_block *block)
{
    gsh_coherence_stop_sigsafe(block, "the device failed and holds the only copy");
}

static void open_or_die(struct gsh_block *block, unsigned first, unsigned last, bool write)
{
    if (open_chunks(block, first, last, write) == GSH_OK ||
        open_chunks(block, 0, block->chunks - 1U, true) == GSH_OK)
        return;
    for (unsigned chunk = 0; chunk < block->chunks; chunk++)
        if (block->state[chunk] == GSH_CHUNK_DEVICE)
            gsh_coherence_stop_sigsafe(
                block, gsh_forked_is_child_sigsafe()
                           ? "a forked child needs what only its parent's device holds"
                           : "the device failed and holds the only copy");
    gsh_coherence_stop_sigsafe(block, "the system refuses to change the protection of pages");
}

void gsh_coherence_restore_held(struct gsh_block *block, unsigned chunk, enum gsh_chunk_state state)
{
    if (gsh_arena_protect_sigsafe(block, chunk, chunk, state) != GSH_OK)
        gsh_coherence_stop_sigsafe(block, "the system refuses to change the protection of pages");
}

/* ---- host to device ---- */

static enum gsh_status upload_bytes(struct gsh_block *block, unsigned first, unsigned last)
{
    size_t offset = gsh_block_chunk_offset(block, first);
    size_t bytes = GSH_MIN(gsh_block_run_bytes(block, first, last), block->size - offset);
    return gsh_transfer_upload(block->value->address + offset, (void *)(block->base + offset),
                               bytes, gsh_arena_is_registered(block, offset, bytes));
}

static enum gsh_status upload_run(struct gsh_block *block, unsigned first, unsigned last)
{
    if (GSH_UNLIKELY(gsh_coherence_injected_bug == GSH_BUG_UPLOAD_BEFORE_TIGHTEN))
        GSH_TRY(upload_bytes(block, first, last));
    GSH_TRY(gsh_arena_protect_sigsafe(block, first, last, GSH_CHUNK_SHARED));
    if (gsh_coherence_injected_bug == GSH_BUG_UPLOAD_BEFORE_TIGHTEN)
        return GSH_OK;
    if (upload_bytes(block, first, last) == GSH_OK) {
        gsh_coherence_events.note_uploaded_held(block,
                                                (double)gsh_block_run_bytes(block, first, last));
        return GSH_OK;
    }
    for (unsigned chunk = first; chunk <= last; chunk++)
        gsh_coherence_restore_held(block, chunk, GSH_CHUNK_HOST);
    return GSH_FAILED;
}

/* A BLANK chunk's contents are undefined: the device's memory may hold anything. */
static enum gsh_status place_run(struct gsh_block *block, unsigned first, unsigned last)
{
    if (block->state[first] == GSH_CHUNK_HOST)
        return upload_run(block, first, last);
    if (block->state[first] == GSH_CHUNK_BLANK)
        return gsh_arena_protect_sigsafe(block, first, last, GSH_CHUNK_DEVICE);
    return GSH_OK;
}

bool gsh_coherence_has_to_upload_held(const struct gsh_block *block, unsigned first, unsigned last)
{
    for (unsigned chunk = first; chunk <= last; chunk++)
        if (block->state[chunk] == GSH_CHUNK_HOST)
            return true;
    return false;
}

enum gsh_status gsh_coherence_upload_held(struct gsh_block *block, unsigned first, unsigned last)
{
    if (atomic_load_explicit(&block->resident, memory_order_relaxed) == 0)
        gsh_arena_register(block);
    for (unsigned chunk = first, end; chunk <= last; chunk = end) {
        end = gsh_block_run_end(block, chunk, last + 1);
        if (block->state[chunk] == GSH_CHUNK_HOST && atomic_load(&block->write_pins) > 0)
            return GSH_DECLINED;
        GSH_TRY(place_run(block, chunk, end - 1));
    }
    return GSH_OK;
}

/* ---- callers outside ---- */

static void fetch_block(struct gsh_block *block, size_t begin, size_t end, bool write)
{
    if (begin >= block->size)
        return;
    end = GSH_MIN(end, block->size);
    open_or_die(block, gsh_block_chunk(block, begin), gsh_block_chunk(block, end - 1), write);
}

struct visit {
    uintptr_t place, end;
    void (*visit)(struct gsh_block *block, size_t begin, size_t end, bool write);
    bool write;
};

static void visit_on_pool_stack(void *context)
{
    const struct visit *range = context;
    for (uintptr_t place = range->place; place < range->end;) {
        struct gsh_block *block = gsh_arena_find_block((void *)place);
        if (block == NULL)
            return;
        acquire_when_written(block);
        range->visit(block, place - block->base, GSH_MIN(range->end - block->base, block->capacity),
                     range->write);
        gsh_block_release_sigsafe(block);
        place = block->base + block->capacity;
    }
}

/* Calls `visit` for each block of the range, with the block held. The range ends at the first gap between blocks: no
 * buffer crosses one. */
static void visit_range(const void *address, size_t size,
                        void (*visit)(struct gsh_block *block, size_t begin, size_t end,
                                      bool write),
                        bool write)
{
    uintptr_t place = (uintptr_t)address;
    struct visit range = {.place = place,
                          .end = size < gsh_arena_end - place ? place + size : gsh_arena_end,
                          .visit = visit,
                          .write = write};
    gsh_stack_pool_run(visit_on_pool_stack, &range);
}

void gsh_coherence_fetch(const void *address, size_t size, bool write)
{
    if (size == 0 || !gsh_arena_contains(address))
        return;
    const struct gsh_block *block = gsh_arena_find_block(address);
    if (block != NULL && (uintptr_t)address + size <= block->base + block->capacity &&
        atomic_load_explicit(&block->resident, memory_order_acquire) == 0)
        return;
    int keep = errno;
    GSH_TRACE_CAUSE(write ? "written on the CPU" : "read on the CPU", NULL);
    visit_range(address, size, fetch_block, write);
    gsh_coherence_events.announce_sigsafe();
    errno = keep;
}

void gsh_coherence_note_address(const void *address, bool is_taken)
{
    struct gsh_block *block = gsh_arena_find_block(address);
    if (block != NULL)
        atomic_store_explicit(&block->is_address_taken, is_taken, memory_order_relaxed);
}

void gsh_coherence_fetch_if_address_taken(const void *address)
{
    const struct gsh_block *block = gsh_arena_find_block(address);
    GSH_READER("free after .ctypes");
    if (block != NULL && atomic_load_explicit(&block->is_address_taken, memory_order_relaxed))
        gsh_coherence_fetch(address, block->size, true);
}

static bool peek_held(void *to, struct gsh_block *block, size_t begin, size_t size)
{
    GSH_TRACE_CAUSE("element or result", NULL);
    unsigned chunk = gsh_block_chunk(block, begin);
    if (begin + size > block->size || gsh_block_chunk(block, begin + size - 1) != chunk ||
        block->state[chunk] != GSH_CHUNK_DEVICE || block->value == NULL)
        return false;
    uint64_t armed =
        gsh_value_is_waited_for(block->value) ? gsh_coherence_events.get_submitted() : 0;
    if (gsh_value_read(block->value, to, begin, size, false) != GSH_OK)
        return false;
    gsh_coherence_events.note_run(armed);
    if (size == block->size)
        note_fetched(block, chunk, chunk);
    return true;
}

struct peek {
    void *to;
    const void *address;
    size_t size;
    struct gsh_block *block;
    bool done;
};

static void peek_on_pool_stack(void *context)
{
    struct peek *peek = context;
    acquire_when_written(peek->block);
    peek->done =
        peek_held(peek->to, peek->block, (uintptr_t)peek->address - peek->block->base, peek->size);
    gsh_block_release_sigsafe(peek->block);
}

bool gsh_coherence_peek(void *to, const void *address, size_t size)
{
    struct peek peek = {
        .to = to, .address = address, .size = size, .block = gsh_arena_find_block(address)};
    if (peek.block == NULL || size == 0)
        return false;
    int keep = errno;
    gsh_stack_pool_run(peek_on_pool_stack, &peek);
    gsh_coherence_events.announce_sigsafe();
    errno = keep;
    return peek.done;
}

static void pin_block(struct gsh_block *block, size_t begin, size_t end, bool write)
{
    fetch_block(block, begin, end, write);
    atomic_fetch_add(write ? &block->write_pins : &block->read_pins, 1);
}

/* A block that was freed and allocated again meanwhile has no pin to release. */
static void unpin_block(struct gsh_block *block, size_t begin, size_t end, bool write)
{
    (void)begin;
    (void)end;
    _Atomic uint32_t *pins = write ? &block->write_pins : &block->read_pins;
    if ((atomic_load(pins) & ~GSH_PINNED_FOR_GOOD) > 0)
        atomic_fetch_sub(pins, 1);
}

void gsh_coherence_pin(const void *address, size_t size, bool write)
{
    int keep = errno;
    if (gsh_arena_contains(address))
        visit_range(address, size, pin_block, write);
    errno = keep;
}

void gsh_coherence_unpin(const void *address, size_t size, bool write)
{
    int keep = errno;
    if (gsh_arena_contains(address))
        visit_range(address, size, unpin_block, write);
    errno = keep;
}

enum gsh_residency gsh_coherence_residency(const void *address)
{
    const struct gsh_block *block = gsh_arena_find_block(address);
    if (block == NULL || (uintptr_t)address - block->base >= block->size)
        return GSH_UNMANAGED;
    switch ((enum gsh_chunk_state)
                block->state[gsh_block_chunk(block, (uintptr_t)address - block->base)]) {
    case GSH_CHUNK_SHARED:
        return GSH_RESIDENT_SHARED;
    case GSH_CHUNK_DEVICE:
        return GSH_RESIDENT_DEVICE;
    case GSH_CHUNK_HOST:
    case GSH_CHUNK_BLANK:
        break;
    }
    return GSH_RESIDENT_HOST;
}

bool gsh_coherence_block_is_closed(const void *address)
{
    const struct gsh_block *block = gsh_arena_find_block(address);
    return block != NULL && atomic_load_explicit(&block->closed, memory_order_relaxed) != 0;
}

bool gsh_coherence_block_is_resident(const void *address)
{
    const struct gsh_block *block = gsh_arena_find_block(address);
    return block != NULL && atomic_load_explicit(&block->resident, memory_order_relaxed) != 0;
}

/* ---- faults ---- */

/* The last chunk to fetch for a fault on `chunk`. Where faults come in sequence, the run is twice as long as the last
 * one. */
static unsigned read_ahead(struct gsh_block *block, unsigned chunk)
{
    bool in_sequence = block->run != 0 && chunk == block->next_chunk;
    unsigned count = in_sequence ? block->run * 2 : 1;
    unsigned end = GSH_MIN(chunk + count, (unsigned)block->chunks);
    unsigned last = gsh_block_run_end(block, chunk, end) - 1;
    block->run = last - chunk + 1;
    block->next_chunk = last + 1;
    return last;
}

void gsh_coherence_serve_fault(const void *address, bool write)
{
    struct gsh_block *block = gsh_arena_find_block(address);
    if (block == NULL)
        return;
    unsigned chunk =
        GSH_MIN(gsh_block_chunk(block, (uintptr_t)address - block->base), block->chunks - 1U);
    GSH_TRACE_CAUSE(write ? "page fault of a write" : "page fault of a read", NULL);
    acquire_when_written(block);
    if (gsh_block_needs_opening(block, chunk, write)) {
        open_or_die(block, chunk, read_ahead(block, chunk), write);
        gsh_stats_add(write ? GSH_COUNTER_FAULTS_WRITE : GSH_COUNTER_FAULTS_READ, 1);
    }
    gsh_block_release_sigsafe(block);
}
