/* SPDX-License-Identifier: Apache-2.0
 *
 * decide, place, record, flush, mark. The commit point is the successful flush: until then nothing
 * a host reader could see has changed, because every page that was closed is opened again on the
 * way out.
 */
#include "dispatch.h"

#include "arena_internal.h"
#include "backend.h"
#include "coherence_internal.h"
#include "coherence_open.h"
#include "decision_file.h"
#include "decision_log.h"
#include "device.h"
#include "dispatch_internal.h"
#include "dispatch_lock.h"
#include "errors.h"
#include "eviction.h"
#include "expected.h"
#include "expiring.h"
#include "forked.h"
#include "history.h"
#include "host_calibration.h"
#include "launch_overlap.h"
#include "line_profile.h"
#include "mapping_budget.h"
#include "node.h"
#include "one_time_cost.h"
#include "options.h"
#include "price.h"
#include "readiness.h"
#include "recent_uploads.h"
#include "retire.h"
#include "small_call_rest.h"
#include "stack_pool.h"
#include "stats.h"
#include "transfer.h"
#include "unmanaged_output.h"
#include "wall_time.h"
#include "witness.h"

#include <string.h>

_Atomic int64_t gsh_dispatch_min_elements = GSH_DECIDE_LEAST_ELEMENTS;

static _Atomic bool live;
/* Calls so far, and how many of them surely have run; the first is written under the DISPATCH lock. */
static _Atomic uint64_t submitted, waited_for;
static bool waits; /* for each call, GPUSHIM_SYNC */

/* Why this thread's calls are not taken: bit 0, it is inside the library or pauses; above it, how often the program has
 * switched them off. 0: they are. */
enum { INSIDE = 1, SWITCHED_OFF = 2 };
static _Thread_local unsigned barred;

void gsh_dispatch_init(void)
{
    bool by_model = gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_AUTO &&
                    gsh_option_number(GSH_OPTION_MIN_ELEMENTS) < 0 &&
                    gsh_option_number(GSH_OPTION_MIN_REDUCE) < 0 &&
                    gsh_option_number(GSH_OPTION_MIN_FLOPS) < 0;
    gsh_dispatch_min_elements = by_model ? GSH_DECIDE_LEAST_ELEMENTS : 0;
    gsh_small_call_rest_init(by_model ? &gsh_dispatch_min_elements : NULL);
    waits = gsh_option_number(GSH_OPTION_SYNC) != 0;
    gsh_decision_log_init();
    gsh_decision_file_init();
    atomic_store(&live, true);
}

void gsh_dispatch_reset_after_fork(void)
{
    gsh_node_reset_after_fork();
    gsh_recent_uploads_forget_after_fork();
    gsh_decision_file_reset_after_fork();
    atomic_store(&live, false);
}

bool gsh_dispatch_is_live(void)
{
    gsh_forked_check();
    return atomic_load_explicit(&live, memory_order_relaxed) && barred == 0 &&
           gsh_device_get_state() != GSH_DEVICE_RETIRED;
}

bool gsh_dispatch_is_inside(void)
{
    return barred != 0;
}

enum gsh_reason gsh_dispatch_why_dead(void)
{
    if (barred >= SWITCHED_OFF)
        return GSH_REASON_OFF;
    if (gsh_option_number(GSH_OPTION_DEVICE) == GSH_DEVICE_CPU)
        return GSH_REASON_CPU_ONLY;
    return gsh_retire_reason() != NULL ? GSH_REASON_UNSEEN_WRITES : GSH_REASON_NO_DEVICE;
}

static void set_inside(bool is_inside)
{
    barred = is_inside ? barred | INSIDE : barred & ~(unsigned)INSIDE;
}

void gsh_dispatch_pause(bool pauses)
{
    set_inside(pauses);
    gsh_stats_pause(pauses);
}

void gsh_dispatch_switch(bool is_off)
{
    if (is_off)
        barred += SWITCHED_OFF;
    else if (barred >= SWITCHED_OFF)
        barred -= SWITCHED_OFF;
}

/* ---- decide ---- */

/* Whether the device can compute the launch at all. */
static enum gsh_reason examine(const struct gsh_launch *launch)
{
    bool is_placed = launch->operands[launch->nin].address != 0;
    if (gsh_launch_elements(launch) == 0)
        return GSH_REASON_SHAPE;
    if (!gsh_backend_get()->supports(launch))
        return GSH_REASON_UNSUPPORTED;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++) {
        uint64_t output = launch->operands[k].address;
        if (output != 0 && !gsh_arena_contains((const void *)output) &&
            !gsh_unmanaged_output_is_taken(launch))
            return GSH_REASON_UNMANAGED_OUTPUT;
        is_placed &= output != 0;
    }
    if (is_placed && !gsh_launch_output_is_distinct(launch))
        return GSH_REASON_OVERLAP;
    return GSH_REASON_NONE;
}

/* Whether the device takes the call that `verdict` is about, and what follows for the books of the policy. */
static enum gsh_reason apply_verdict(const struct gsh_call *call, const struct gsh_verdict *verdict)
{
    if (verdict->reason == GSH_REASON_DATA_ON_HOST)
        gsh_price_note_declined(call, verdict->gain);
    enum gsh_reason reason =
        verdict->reason != GSH_REASON_NONE ? verdict->reason : gsh_readiness_check(call, verdict);
    if (reason == GSH_REASON_NONE && !verdict->is_forced && gsh_history_backs_off(call->row))
        reason = GSH_REASON_REFUSED_LATELY;
    if (reason == GSH_REASON_NO_DEVICE) /* it was retired meanwhile, or cannot be started */
        reason = gsh_dispatch_why_dead();
    if (reason != GSH_REASON_NONE)
        gsh_host_calibration_expect(&call->launch, call->row, verdict, reason);
    else
        gsh_price_note_accepted(call, verdict);
    return reason;
}

/* What follows for residency, as it would be on a device that had been ready. */
static void note_left(const struct gsh_call *call, const struct gsh_verdict *verdict,
                      enum gsh_reason reason)
{
    bool is_ready = gsh_device_get_state() == GSH_DEVICE_READY;
    if (gsh_one_time_cost_expects_residency(reason, is_ready))
        gsh_price_note_foregone(call, verdict->gain);
    else if (!is_ready)
        gsh_price_note_host_result(call);
}

/* *verdict is set where the call is priced. inputs may be NULL. */
static enum gsh_reason decide(const struct gsh_call *call, const struct gsh_price_inputs *inputs,
                              struct gsh_verdict *verdict)
{
    gsh_host_calibration_forget();
    gsh_expected_forget_results();
    if (!gsh_dispatch_is_live())
        return barred == INSIDE ? GSH_REASON_NESTED : gsh_dispatch_why_dead();
    enum gsh_reason reason = examine(&call->launch);
    if (reason == GSH_REASON_NONE) {
        *verdict = gsh_price_call(call, inputs);
        reason = apply_verdict(call, verdict);
    }
    if (reason != GSH_REASON_NONE)
        note_left(call, verdict, reason);
    return reason;
}

static __attribute__((noinline)) enum gsh_reason decide_into_file(const struct gsh_call *call,
                                                                  struct gsh_verdict *verdict)
{
    struct gsh_decision_inputs inputs;
    gsh_decision_file_gather(call, &inputs);
    enum gsh_reason reason = decide(call, &inputs.price, verdict);
    gsh_decision_file_write(call, &inputs, verdict, reason);
    return reason;
}

enum gsh_reason gsh_dispatch_decide(const struct gsh_call *call)
{
    GSH_WALL_TIME(GSH_WALL_DISPATCH);
    struct gsh_verdict verdict = {.reason = GSH_REASON_NONE};
    enum gsh_reason reason = GSH_UNLIKELY(gsh_decision_file_is_on)
                                 ? decide_into_file(call, &verdict)
                                 : decide(call, NULL, &verdict);
    if (GSH_UNLIKELY(gsh_decision_log_is_on))
        gsh_decision_log_write(call, &verdict, reason);
    return reason;
}

/* ---- run ---- */

/* One operand where it is, and where its bytes will be on the device. */
struct place {
    struct gsh_block *block; /* NULL: constant or unmanaged */
    struct gsh_value *value; /* a reference of our own, until the node has it */
    uint64_t first;          /* host address of the lowest byte touched */
    size_t bytes;            /* from there to the highest */
    size_t offset;           /* of the first element from the start of the value */
};

/* The chunks that an output writes, and their states before, to undo. */
struct closing {
    unsigned first_chunk, last_chunk;
    bool is_closed;
    uint8_t states[GSH_MAX_CHUNKS];
};

struct run {
    const struct gsh_call *call;
    struct place places[GSH_MAX_OPERANDS];
    struct gsh_block *held[GSH_MAX_OPERANDS]; /* distinct blocks, ascending */
    unsigned held_count;
    unsigned operands; /* in all */
    struct closing outputs[GSH_MAX_OUTPUTS];
    enum gsh_reason why;
    enum gsh_status status;
    bool is_recorded; /* the node has the references to the places' values */
    struct gsh_node
        node; /* what is recorded: the call's launch, addresses of the host until then */
};

static enum gsh_status decline(struct run *run, enum gsh_reason why)
{
    run->why = why;
    return GSH_DECLINED;
}

/* DECLINED where a view reaches beyond its block (as_strided can make one). */
static enum gsh_status locate(struct run *run)
{
    for (unsigned k = 0; k < run->operands; k++) {
        const struct gsh_operand *operand = &run->node.launch.operands[k];
        if (operand->is_constant)
            continue;
        int64_t low = 0, high = 0;
        gsh_launch_extent(&run->node.launch, k, &low, &high);
        struct place *place = &run->places[k];
        place->first = operand->address + (uint64_t)low;
        place->bytes = (size_t)(high - low);
        place->block = gsh_arena_find_block((const void *)operand->address);
        if (place->block != NULL &&
            (place->bytes == 0 || place->first < place->block->base ||
             place->first + place->bytes > place->block->base + place->block->size))
            return decline(run, GSH_REASON_LAYOUT);
    }
    return GSH_OK;
}

static void hold_blocks(struct run *run)
{
    for (unsigned k = 0; k < run->operands; k++) {
        struct gsh_block *block = run->places[k].block;
        unsigned place = 0;
        while (place < run->held_count && run->held[place] < block)
            place++;
        if (block == NULL || (place < run->held_count && run->held[place] == block))
            continue;
        memmove(&run->held[place + 1], &run->held[place],
                (run->held_count - place) * sizeof run->held[0]);
        run->held[place] = block;
        run->held_count++;
    }
    for (unsigned k = 0; k < run->held_count; k++)
        gsh_block_acquire_sigsafe(run->held[k]);
}

static void let_go(struct run *run)
{
    for (unsigned k = 0; k < run->operands; k++)
        if (!run->is_recorded)
            gsh_value_release_sigsafe(run->places[k].value);
    for (unsigned k = run->held_count; k > 0; k--) {
        gsh_coherence_open_drop_stale_sigsafe(run->held[k - 1]);
        gsh_block_release_sigsafe(run->held[k - 1]);
    }
}

static void use_value(struct place *place, struct gsh_value *value)
{
    gsh_value_retain(value);
    gsh_eviction_touch_locked(value);
    place->value = value;
}

/* Running what is recorded may free memory, so that nothing has to be evicted. */
static enum gsh_status create_value(size_t size, uint32_t block, struct gsh_value **value)
{
    if (!gsh_value_has_room_locked(size)) {
        gsh_recent_uploads_drop_locked();
        gsh_node_flush_locked(GSH_FLUSH_MEMORY);
    }
    return gsh_value_create_locked(size, block, value);
}

static enum gsh_status ensure_value(struct gsh_block *block)
{
    if (block->value != NULL)
        return GSH_OK;
    return create_value(block->size, gsh_block_index(block), &block->value);
}

static bool is_pending(const struct gsh_value *value)
{
    return atomic_load_explicit(&value->pending, memory_order_relaxed) != 0;
}

/* An input that is an earlier one, seen otherwise (A A' has A twice), is uploaded once. */
static bool share_unmanaged(struct run *run, unsigned k)
{
    struct place *place = &run->places[k];
    for (unsigned j = 0; j < k && k < run->node.launch.nin; j++) {
        const struct place *earlier = &run->places[j];
        if (run->node.launch.operands[j].is_constant || earlier->block != NULL ||
            earlier->first != place->first || earlier->bytes != place->bytes)
            continue;
        use_value(place, earlier->value);
        return true;
    }
    return false;
}

/* Operand k gets memory on the device for this launch alone, or what a recent one has uploaded. */
static enum gsh_status make_unmanaged_resident(struct run *run, unsigned k)
{
    struct place *place = &run->places[k];
    place->offset = run->node.launch.operands[k].address - place->first;
    bool is_input = !gsh_launch_is_output(&run->node.launch, k);
    if (share_unmanaged(run, k))
        return GSH_OK;
    if (is_input)
        place->value = gsh_recent_uploads_take_locked(place->first, place->bytes);
    if (place->value != NULL)
        return GSH_OK;
    if (create_value(GSH_MAX(place->bytes, 1), 0, &place->value) != GSH_OK ||
        gsh_value_make_resident_locked(place->value) != GSH_OK)
        return decline(run, GSH_REASON_MEMORY);
    if (!is_input && !gsh_launch_reads_output(&run->node.launch))
        return GSH_OK;
    if (gsh_transfer_upload(place->value->address, (const void *)place->first, place->bytes,
                            false) != GSH_OK)
        return decline(run, GSH_REASON_DEVICE_FAILED);
    gsh_value_note_written_locked(place->value);
    if (is_input)
        gsh_recent_uploads_note_locked(place->first, place->bytes, place->value);
    return GSH_OK;
}

/* A value of which there are snapshots (snapshot.h) is not written: the block goes on with a copy. */
static enum gsh_status copy_on_write(struct run *run, struct gsh_block *block)
{
    struct gsh_value *old = block->value, *copy = NULL;
    if (old->snapshots == 0)
        return GSH_OK;
    if (create_value(old->size, gsh_block_index(block), &copy) != GSH_OK)
        return decline(run, GSH_REASON_MEMORY);
    if (gsh_value_make_resident_locked(copy) != GSH_OK ||
        gsh_backend_get()->copy(copy->address, old->address, block->size) != GSH_OK) {
        gsh_value_release_sigsafe(copy);
        return decline(run, GSH_REASON_MEMORY);
    }
    block->value = copy;
    gsh_value_release_sigsafe(old);
    return GSH_OK;
}

static enum gsh_status upload_chunks(struct run *run, struct gsh_block *block, unsigned first,
                                     unsigned last)
{
    if (ensure_value(block) != GSH_OK)
        return decline(run, GSH_REASON_MEMORY);
    if (gsh_coherence_has_to_upload_held(block, first, last)) {
        if (!gsh_mapping_budget_has_room_sigsafe())
            return decline(run, GSH_REASON_MEMORY);
        if (is_pending(block->value)) /* recorded nodes want the old bytes */
            gsh_node_flush_locked(GSH_FLUSH_HOST_WRITE);
        GSH_TRY(copy_on_write(run, block));
        if (gsh_value_make_resident_locked(block->value) != GSH_OK)
            return decline(run, GSH_REASON_MEMORY);
        gsh_value_drop_spill_locked(block->value);
        gsh_value_note_written_locked(block->value);
    }
    enum gsh_status status = gsh_coherence_upload_held(block, first, last);
    if (status != GSH_OK)
        return decline(run, status == GSH_DECLINED ? GSH_REASON_PINNED : GSH_REASON_DEVICE_FAILED);
    return GSH_OK;
}

static enum gsh_status make_input_resident(struct run *run, unsigned k)
{
    struct place *place = &run->places[k];
    if (run->node.launch.operands[k].is_constant)
        return GSH_OK;
    if (place->block == NULL)
        return make_unmanaged_resident(run, k);
    struct gsh_block *block = place->block;
    size_t begin = place->first - block->base;
    GSH_TRY(upload_chunks(run, block, gsh_block_chunk(block, begin),
                          gsh_block_chunk(block, begin + place->bytes - 1)));
    place->offset = run->node.launch.operands[k].address - block->base;
    use_value(place, block->value);
    return GSH_OK;
}

/* Whether output k's elements fill the bytes between its lowest and its highest one. */
static bool output_is_dense(const struct run *run, unsigned k)
{
    const struct gsh_launch *launch = &run->node.launch;
    size_t elements = (size_t)gsh_launch_output_elements(launch, k);
    return elements * gsh_dtype_size(launch->operands[k].dtype) == run->places[k].bytes;
}

static bool overlaps(const struct place *x, const struct place *y)
{
    return x->block == y->block && x->first < y->first + y->bytes && y->first < x->first + x->bytes;
}

/* True where output k would overwrite bytes of an input or a mask before they are read. */
static bool output_clobbers_input(const struct run *run, unsigned output)
{
    for (unsigned k = 0; k < run->operands; k++)
        if (!gsh_launch_is_output(&run->node.launch, k) &&
            overlaps(&run->places[k], &run->places[output]) &&
            !gsh_launch_overlap_is_harmless(&run->node.launch, k, output))
            return true;
    return false;
}

/* Chunks that output k only partly overwrites, or reads, must hold their old bytes on the device first. */
static enum gsh_status keep_surroundings(struct run *run, unsigned k, size_t begin, size_t end)
{
    struct gsh_block *block = run->places[k].block;
    unsigned first = gsh_block_chunk(block, begin), last = gsh_block_chunk(block, end - 1);
    if (!output_is_dense(run, k) || gsh_launch_reads_output(&run->node.launch))
        return upload_chunks(run, block, first, last);
    if (ensure_value(block) != GSH_OK)
        return decline(run, GSH_REASON_MEMORY);
    if (begin != gsh_block_chunk_offset(block, first))
        GSH_TRY(upload_chunks(run, block, first, first));
    if (end != block->size && end != gsh_block_chunk_offset(block, last + 1))
        GSH_TRY(upload_chunks(run, block, last, last));
    return GSH_OK;
}

/* A new value for output k, which overwrites part of the block, and must not write into the old one. */
static enum gsh_status copy_value(struct run *run, unsigned k)
{
    struct place *place = &run->places[k];
    struct gsh_value *old = place->block->value;
    if (is_pending(old))
        gsh_node_flush_locked(GSH_FLUSH_NOT_DEFERRABLE);
    if (old->is_poisoned)
        return decline(run, GSH_REASON_DEVICE_FAILED);
    if (gsh_value_make_resident_locked(place->value) != GSH_OK ||
        (old->spill != NULL && gsh_value_make_resident_locked(old) != GSH_OK))
        return decline(run, GSH_REASON_MEMORY);
    if (old->address != 0 &&
        gsh_backend_get()->copy(place->value->address, old->address, place->block->size) != GSH_OK)
        return decline(run, GSH_REASON_DEVICE_FAILED);
    return GSH_OK;
}

/* The value that output k is written into. All of it: a new one where recorded nodes use the old,
 * which may then never be needed. Part of it: the block's own, whose nodes keep their order, but a
 * copy where the launch itself would overwrite what it reads, or may turn out to be one for the host after it has written. */
static enum gsh_status make_output_resident(struct run *run, unsigned k)
{
    struct place *place = &run->places[k];
    if (place->block == NULL)
        return make_unmanaged_resident(run, k);
    struct closing *closing = &run->outputs[k - run->node.launch.nin];
    struct gsh_block *block = place->block;
    size_t begin = place->first - block->base, end = begin + place->bytes;
    closing->first_chunk = gsh_block_chunk(block, begin);
    closing->last_chunk = gsh_block_chunk(block, end - 1);
    bool whole = run->call->fresh[k - run->node.launch.nin] ||
                 (!gsh_launch_reads_output(&run->node.launch) && begin == 0 && end == block->size &&
                  output_is_dense(run, k));
    if (atomic_load(&block->read_pins) + atomic_load(&block->write_pins) > 0)
        return decline(run, GSH_REASON_PINNED);
    if (!whole)
        GSH_TRY(keep_surroundings(run, k, begin, end));
    place->offset = run->node.launch.operands[k].address - block->base;
    if (block->value != NULL && !gsh_launch_has(&run->node.launch, GSH_TRAIT_REFUSES_LATE) &&
        !output_clobbers_input(run, k) && block->value->snapshots == 0 &&
        !(whole && (is_pending(block->value) || block->value->is_poisoned))) {
        use_value(place, block->value);
        return GSH_OK;
    }
    if (create_value(block->size, gsh_block_index(block), &place->value) != GSH_OK)
        return decline(run, GSH_REASON_MEMORY);
    place->value->is_read_next = run->call->is_read_next;
    return whole ? GSH_OK : copy_value(run, k);
}

static void reopen_outputs(struct run *run)
{
    for (unsigned j = 0; j < run->node.launch.nout; j++) {
        struct closing *closing = &run->outputs[j];
        struct gsh_block *block = run->places[run->node.launch.nin + j].block;
        for (unsigned chunk = closing->first_chunk;
             closing->is_closed && chunk <= closing->last_chunk; chunk++)
            gsh_coherence_restore_held(block, chunk, (enum gsh_chunk_state)closing->states[chunk]);
    }
}

static bool has_open_chunk(const struct gsh_block *block, unsigned first, unsigned last)
{
    for (unsigned chunk = first; chunk <= last; chunk++)
        if (block->state[chunk] == GSH_CHUNK_HOST || block->state[chunk] == GSH_CHUNK_SHARED)
            return true;
    return false;
}

static enum gsh_status close_outputs(struct run *run)
{
    for (unsigned j = 0; j < run->node.launch.nout; j++) {
        struct closing *closing = &run->outputs[j];
        struct gsh_block *block = run->places[run->node.launch.nin + j].block;
        if (block == NULL)
            continue;
        memcpy(closing->states, block->state, sizeof closing->states);
        bool takes_mappings = has_open_chunk(block, closing->first_chunk, closing->last_chunk);
        if ((takes_mappings && !gsh_mapping_budget_has_room_sigsafe()) ||
            gsh_arena_protect_sigsafe(block, closing->first_chunk, closing->last_chunk,
                                      GSH_CHUNK_DEVICE) != GSH_OK) {
            reopen_outputs(run);
            return decline(run, GSH_REASON_MEMORY);
        }
        closing->is_closed = true;
    }
    return GSH_OK;
}

/* What may be refused late tells the caller something. Of batches, those that later launches may join are recorded, but for the first, which runs at once to open the library. */
static bool is_deferred(const struct gsh_launch *launch)
{
    const struct gsh_backend *backend = gsh_backend_get();
    bool is_alone = gsh_launch_has(launch, GSH_TRAIT_MERGES)
                        ? backend->load_seconds != NULL && backend->load_seconds(launch) > 0
                        : gsh_launch_has(launch, GSH_TRAIT_BATCH | GSH_TRAIT_REFUSES_LATE);
    return !is_alone && gsh_option_number(GSH_OPTION_FUSION) != 0;
}

/* The outputs in unmanaged memory are fetched at once: nobody would notice that they are looked at. */
static enum gsh_status fetch_unmanaged(const struct run *run)
{
    struct gsh_unmanaged_output outputs[GSH_MAX_OUTPUTS];
    unsigned count = 0;
    for (unsigned k = run->node.launch.nin; k < run->node.launch.nin + run->node.launch.nout; k++) {
        const struct place *place = &run->places[k];
        if (place->block == NULL)
            outputs[count++] = (struct gsh_unmanaged_output){
                k, place->value, (void *)place->first, place->bytes,
                gsh_launch_reads_output(&run->node.launch) || output_clobbers_input(run, k)};
    }
    return count == 0 ? GSH_OK : gsh_unmanaged_output_fetch(&run->call->launch, outputs, count);
}

static enum gsh_status submit(struct run *run)
{
    struct gsh_node *node = &run->node;
    node->row = gsh_stats_folded(run->call->row);
    node->line = gsh_line_profile_here();
    for (unsigned k = 0; k < run->operands; k++) {
        node->values[k] = run->places[k].value;
        node->launch.operands[k].address = run->places[k].offset;
    }
    if (!gsh_errors_has_place_locked())
        gsh_node_flush_iterations_locked(GSH_FLUSH_LIMIT);
    bool deferred = is_deferred(&node->launch);
    if (deferred)
        gsh_node_prepare_locked(node);
    else
        gsh_node_flush_locked(GSH_FLUSH_NOT_DEFERRABLE);
    if (!gsh_errors_arm_locked(&node->launch, run->call)) {
        reopen_outputs(run);
        return decline(run, GSH_REASON_MEMORY);
    }
    if (deferred) {
        gsh_node_record_locked(node);
        run->is_recorded = true;
        if (run->call->expiring != 0)
            gsh_expiring_note_locked(node->values[0], run->call->expiring);
        return GSH_OK;
    }
    enum gsh_status status = gsh_node_run_locked(node);
    gsh_errors_note_submitted_locked();
    if (status == GSH_OK)
        status = fetch_unmanaged(run);
    if (status == GSH_OK)
        return GSH_OK;
    reopen_outputs(run);
    if (status != GSH_DECLINED)
        return decline(run, GSH_REASON_DEVICE_FAILED);
    gsh_history_note_refused(run->call->row);
    return decline(run, GSH_REASON_NUMERICAL);
}

/* Output k's newest contents are the value just written. */
static void mark_output(struct run *run, unsigned k)
{
    struct place *place = &run->places[k];
    struct gsh_block *block = place->block;
    if (block->value != place->value) {
        struct gsh_value *old = block->value;
        gsh_value_retain(place->value);
        block->value = place->value;
        gsh_value_release_sigsafe(old);
    }
    gsh_value_note_written_locked(block->value);
    block->row = run->call->row;
    block->ledger.debt = 0;
}

static void mark(struct run *run)
{
    for (unsigned j = 0; j < run->node.launch.nout; j++)
        if (run->places[run->node.launch.nin + j].block != NULL)
            mark_output(run, run->node.launch.nin + j);
    atomic_store_explicit(&submitted, gsh_dispatch_submitted() + 1, memory_order_release);
    gsh_history_note_made(run->call->row);
    gsh_stats_device_call(run->call->row, 0);
    if (GSH_UNLIKELY(gsh_witness_is_on))
        gsh_witness_note(&run->call->launch);
}

/* Outputs lie in the arena, each in a block of its own, or where unmanaged memory is taken apart from each other. */
static enum gsh_status check_outputs(struct run *run)
{
    unsigned first = run->node.launch.nin, end = first + run->node.launch.nout;
    for (unsigned k = first; k < end; k++) {
        const struct place *output = &run->places[k];
        if (output->block == NULL && !gsh_unmanaged_output_is_taken(&run->node.launch))
            return decline(run, GSH_REASON_UNMANAGED_OUTPUT);
        for (unsigned other = first; other < k; other++)
            if (output->block == run->places[other].block &&
                (output->block != NULL || overlaps(output, &run->places[other])))
                return decline(run, GSH_REASON_OVERLAP);
    }
    return GSH_OK;
}

static enum gsh_status make_resident_and_submit(struct run *run)
{
    GSH_TRY(check_outputs(run));
    for (unsigned k = 0; k < run->operands; k++)
        if (!gsh_launch_is_output(&run->node.launch, k))
            GSH_TRY(make_input_resident(run, k));
    for (unsigned j = 0; j < run->node.launch.nout; j++)
        GSH_TRY(make_output_resident(run, run->node.launch.nin + j));
    GSH_TRY(close_outputs(run));
    GSH_TRY(submit(run));
    mark(run);
    return GSH_OK;
}

/* A call that the device refused tells nothing; a device that cannot be waited for is gone. */
static void retire_lost_device(enum gsh_reason why)
{
    if (why == GSH_REASON_DEVICE_FAILED && gsh_backend_get()->synchronize() != GSH_OK)
        gsh_device_retire("it does not answer any more");
}

/* In the critical section of gsh_stack_pool_run: a handler that left by siglongjmp would leave INSIDE set. */
static void run_on_pool_stack(void *context)
{
    struct run *run = context;
    set_inside(true);
    gsh_dispatch_lock_acquire_beside_launch();
    gsh_node_forget_locked();
    gsh_value_reap_locked();
    bool is_retired = gsh_retire_reason() != NULL;
    run->status = is_retired ? decline(run, GSH_REASON_UNSEEN_WRITES) : locate(run);
    if (run->status == GSH_OK) {
        hold_blocks(run);
        run->status = make_resident_and_submit(run);
        let_go(run);
        gsh_node_bound_locked();
        gsh_value_reap_locked();
    }
    gsh_dispatch_lock_release();
    retire_lost_device(run->why);
    set_inside(false);
}

/* All but the unused dimensions of the launch. */
static void begin(struct run *run, const struct gsh_call *call)
{
    memset(run, 0, offsetof(struct run, node.launch));
    memset(run->node.values, 0, sizeof run->node - offsetof(struct gsh_node, values));
    run->call = call;
    run->operands = gsh_launch_operands(&call->launch);
    gsh_launch_copy(&run->node.launch, &call->launch);
}

enum gsh_status gsh_dispatch_run_untraced(const struct gsh_call *call, enum gsh_reason *why)
{
    struct run run;
    begin(&run, call);
    GSH_WALL_TIME(GSH_WALL_DISPATCH);
    gsh_stack_pool_run(run_on_pool_stack, &run);
    if (GSH_UNLIKELY(waits) && run.status == GSH_OK)
        gsh_dispatch_synchronize();
    *why = run.why;
    return run.status;
}

/* ---- prefetch ---- */

static enum gsh_status send_place(struct run *run)
{
    struct place *place = &run->places[0];
    size_t begin = place->first - place->block->base;
    return upload_chunks(run, place->block, gsh_block_chunk(place->block, begin),
                         gsh_block_chunk(place->block, begin + place->bytes - 1));
}

static void prefetch_on_pool_stack(void *context)
{
    struct run *run = context;
    struct place *place = &run->places[0];
    set_inside(true);
    gsh_dispatch_lock_acquire();
    gsh_value_reap_locked();
    place->block = gsh_arena_find_block((const void *)place->first);
    run->status = GSH_DECLINED;
    if (place->block != NULL && gsh_retire_reason() == NULL &&
        place->first + place->bytes <= place->block->base + place->block->size) {
        hold_blocks(run);
        run->status = send_place(run);
        let_go(run);
    }
    gsh_dispatch_lock_release();
    retire_lost_device(run->why);
    set_inside(false);
}

bool gsh_dispatch_prefetch(const void *address, size_t size)
{
    struct run run = {.operands = 1, .places = {{.first = (uintptr_t)address, .bytes = size}}};
    if (size == 0 || !gsh_arena_contains(address) || !gsh_dispatch_is_live())
        return false;
    gsh_device_start(true);
    if (gsh_device_get_state() != GSH_DEVICE_READY)
        return false;
    gsh_stack_pool_run(prefetch_on_pool_stack, &run);
    return run.status == GSH_OK;
}

/* ---- others ---- */

static void synchronize_on_pool_stack(void *unused)
{
    (void)unused;
    gsh_dispatch_lock_acquire();
    gsh_node_flush_locked(GSH_FLUSH_SYNCHRONIZE);
    gsh_value_reap_locked();
    uint64_t reached = atomic_load_explicit(&submitted, memory_order_relaxed);
    uint64_t armed = gsh_errors_submitted();
    gsh_dispatch_lock_release();
    if (gsh_transfer_synchronize() != GSH_OK)
        return;
    atomic_store_explicit(&waited_for, reached, memory_order_release);
    gsh_errors_note_run(armed);
    gsh_errors_announce_sigsafe();
}

uint64_t gsh_dispatch_submitted(void)
{
    return atomic_load_explicit(&submitted, memory_order_relaxed);
}

void gsh_dispatch_synchronize(void)
{
    if (atomic_load_explicit(&waited_for, memory_order_acquire) !=
            atomic_load_explicit(&submitted, memory_order_acquire) &&
        gsh_device_get_state() == GSH_DEVICE_READY)
        gsh_stack_pool_run(synchronize_on_pool_stack, NULL);
}
