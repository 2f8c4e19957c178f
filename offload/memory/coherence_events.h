/* SPDX-License-Identifier: Apache-2.0
 *
 * What memory/ asks of the layers above it and tells them: a table of functions that is defined once, at link time
 * (offload/events.c), so that it can be read at any time, also in the fault handler. All members are there. A member whose
 * name ends in `_sigsafe` may be called in the fault handler and is a function that may; the others may not. A program that
 * links nothing above memory/ defines a table of its own.
 */
#pragma once

#include "base.h"

struct gsh_block;

struct gsh_coherence_events {
    /* ---- recorded nodes ---- */

    /* Runs all recorded nodes, because the host looks at what one writes. Takes the DISPATCH lock: any thread that holds no
     * lock and no block. */
    void (*run_for_host_read)(void);
    /* The same by a thread that holds the DISPATCH lock; it may hold blocks. */
    void (*run_for_host_read_locked)(void);
    /* The same because recorded nodes keep memory from being freed. Caller holds the DISPATCH lock and no block. */
    void (*run_for_memory_locked)(void);
    /* Forgets recorded nodes that nobody needs, so that what they read may be free. Caller holds the DISPATCH lock. */
    void (*forget_dead_locked)(void);
    /* Gives back what the device's allocator has kept unused for so many looks (idle.h); true where it keeps more. Takes the
     * DISPATCH lock, as run_for_host_read. */
    bool (*trim_device)(unsigned looks);
    /* A number that stands for the oldest recorded node that an idle device is to be fed with; 0: none. Any thread, any
     * locks. */
    uint64_t (*get_oldest)(void);
    /* Runs all recorded nodes if the oldest is still the one of that number. Takes the DISPATCH lock, as run_for_host_read. */
    void (*feed)(uint64_t number);

    /* ---- floating-point errors ---- */

    /* The sequence of the last call whose errors are looked for that was submitted; 0: none. Any thread, any locks. */
    uint64_t (*get_submitted)(void);
    /* All that was submitted up to this sequence has run. Takes the ERRORS lock; caller may hold blocks. */
    void (*note_run)(uint64_t sequence);
    /* The thread has waited for the device and holds neither lock nor block: tells the program of what has been found. */
    void (*announce_sigsafe)(void);

    /* ---- what the policy remembers ---- */

    /* So many bytes of the block were uploaded. Caller holds the block. */
    void (*note_uploaded_held)(struct gsh_block *block, double bytes);
    /* So many bytes of the block were fetched. `row`: the stats row of the call that made them, where they are the first of
     * its output; 0 otherwise. Caller holds the block. */
    void (*note_fetched_held)(struct gsh_block *block, double bytes, unsigned row);
};

extern const struct gsh_coherence_events gsh_coherence_events;
