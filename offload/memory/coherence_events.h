/* SPDX-License-Identifier: Apache-2.0
 *
 * What memory/ asks of the layers above it and reports to them: a table of functions that is defined once, at link
 * time (offload/events.c), so that it can be read at any time, also in the fault handler. No member is NULL. A member
 * whose name ends in `_sigsafe` may be called in the fault handler; the others may not. A program that links nothing
 * above memory/ defines a table of its own.
 */
#pragma once

#include "base.h"

struct gsh_block;

struct gsh_coherence_events {
    /* ---- pending nodes ---- */

    /* Flushes all pending nodes, because the host reads what one of them writes. Takes the DISPATCH lock. Any thread
     * that holds no lock and no block. */
    void (*run_for_host_read)(void);
    /* The same for a thread that holds the DISPATCH lock; it may hold blocks. */
    void (*run_for_host_read_locked)(void);
    /* The same because pending nodes keep memory from being freed. Caller holds the DISPATCH lock and no block. */
    void (*run_for_memory_locked)(void);
    /* Removes dead nodes, so that the values they read may be freed. Caller holds the DISPATCH lock. */
    void (*forget_dead_locked)(void);
    /* Gives back what the device's allocator has kept unused for so many looks (idle.h); true where it keeps more.
     * Takes the DISPATCH lock; callers as for run_for_host_read. */
    bool (*trim_device)(unsigned looks);
    /* The number of the oldest pending node that runs when the device is idle; 0: none. Any thread, any locks. */
    uint64_t (*get_oldest)(void);
    /* Flushes all pending nodes if the oldest one still has that number. Takes the DISPATCH lock; callers as for
     * run_for_host_read. */
    void (*flush_idle)(uint64_t number);

    /* ---- floating-point errors ---- */

    /* The sequence number of the last submitted call that is checked for errors; 0: none. Any thread, any locks. */
    uint64_t (*get_submitted)(void);
    /* Everything submitted up to this sequence number has run. Takes the ERRORS lock; caller may hold blocks. */
    void (*note_run)(uint64_t sequence);
    /* Reports the errors found to the program. The thread has waited for the device and holds no lock and no block. */
    void (*announce_sigsafe)(void);

    /* ---- facts for the policy ---- */

    /* `bytes` bytes of the block were uploaded. Caller holds the block. */
    void (*note_uploaded_held)(struct gsh_block *block, double bytes);
    /* `bytes` bytes of the block were fetched. `row`: the stats row of the call that wrote them, if they are the
     * first fetched of its output; 0 otherwise. Caller holds the block. */
    void (*note_fetched_held)(struct gsh_block *block, double bytes, unsigned row);
};

extern const struct gsh_coherence_events gsh_coherence_events;
