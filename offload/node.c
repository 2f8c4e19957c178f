/* SPDX-License-Identifier: Apache-2.0
 *
 * The pending list and its flush, node by node.
 */
#include "node.h"

#include "backend.h"
#include "errors.h"
#include "stats.h"

#define PENDING_LIMIT 64

static struct gsh_node pending[PENDING_LIMIT];
static unsigned pending_count;

enum gsh_status gsh_node_record_locked(const struct gsh_node *node)
{
    if (pending_count == PENDING_LIMIT)
        GSH_TRY(gsh_node_flush_locked());
    for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++)
        if (node->values[k] != NULL)
            atomic_fetch_add_explicit(&node->values[k]->references, 1, memory_order_relaxed);
    pending[pending_count++] = *node;
    return GSH_OK;
}

static enum gsh_status run_node(struct gsh_node *node)
{
    for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++)
        if (node->values[k] != NULL)
            node->launch.operands[k].address += node->values[k]->address;
    return gsh_backend_get()->run(&node->launch, node->row);
}

enum gsh_status gsh_node_flush_locked(void)
{
    enum gsh_status status = GSH_OK;
    if (pending_count == 0)
        return GSH_OK;
    for (unsigned index = 0; index < pending_count; index++) {
        struct gsh_node *node = &pending[index];
        if (status == GSH_OK)
            status = run_node(node);
        for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++)
            gsh_value_release_sigsafe(node->values[k]);
    }
    pending_count = 0;
    gsh_errors_note_submitted_locked();
    gsh_stats_add(GSH_COUNTER_FLUSHES, 1);
    return status;
}
