/* SPDX-License-Identifier: Apache-2.0
 *
 * The event tables of device/ and memory/: functions of the layers above them, which they call.
 */
#include "coherence_events.h"
#include "device_events.h"
#include "errors.h"
#include "history.h"
#include "idle.h"
#include "memory_yield.h"
#include "node.h"
#include "price.h"
#include "service.h"

static void run_for_host_read(void)
{
    gsh_node_flush(GSH_FLUSH_HOST_READ);
}

static void run_for_host_read_locked(void)
{
    gsh_node_flush_locked(GSH_FLUSH_HOST_READ);
}

static void run_for_memory_locked(void)
{
    gsh_node_flush_locked(GSH_FLUSH_MEMORY);
}

static void note_fetched_held(struct gsh_block *block, double bytes, unsigned row)
{
    gsh_price_note_fetched(block, bytes);
    if (row != 0)
        gsh_history_note_fetched(row);
}

const struct gsh_coherence_events gsh_coherence_events = {
    .run_for_host_read = run_for_host_read,
    .run_for_host_read_locked = run_for_host_read_locked,
    .run_for_memory_locked = run_for_memory_locked,
    .forget_dead_locked = gsh_node_forget_locked,
    .trim_device = gsh_memory_yield_unused,
    .get_oldest = gsh_node_oldest,
    .flush_idle = gsh_node_flush_idle,
    .get_submitted = gsh_errors_submitted,
    .note_run = gsh_errors_note_run,
    .announce_sigsafe = gsh_errors_announce_sigsafe,
    .note_uploaded_held = gsh_price_note_uploaded,
    .note_fetched_held = note_fetched_held,
};

const struct gsh_device_events gsh_device_events = {
    .starting = gsh_service_start,
    .stopping = gsh_idle_end,
};
