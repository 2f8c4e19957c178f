/* SPDX-License-Identifier: Apache-2.0
 *
 * Recomputing a value gives the same bytes if every value on the path to it has one writer and had no contents
 * before. The path ends at values that keep, after the flush, the contents read in it: values that no node writes,
 * and values that the flush is made to store and no node writes after they were read. Later writes to these are
 * recorded later; a write by the host gives the block another value.
 */
#include "expiring.h"

#include "arena_internal.h"
#include "stats.h"

#define MOST_MISJUDGED 3
#define MOST_HELD 64

/* The state of one marking. */
struct marking {
    const struct gsh_node *nodes;
    unsigned count;
    unsigned marked, found; /* values, and those of them whose writer was found */
};

static struct gsh_value *held[MOST_HELD]; /* our own references, until the flush is over */
static unsigned held_count;
static bool is_needed; /* a hint was given, or nodes are retained, since the last check */
static _Atomic uint8_t
    misjudged[GSH_EXPIRING_CALL_SITES +
              1]; /* wrong hints less right ones; written under the DISPATCH lock */

static bool has_contents(const struct gsh_value *value)
{
    return value->address != 0 || value->spill != NULL || value->is_poisoned;
}

static uint32_t writers(const struct gsh_value *value)
{
    return atomic_load_explicit(&value->writers, memory_order_relaxed);
}

/* Whether the value has a reference that no pending node holds. */
static bool is_alive(const struct gsh_value *value)
{
    return atomic_load_explicit(&value->references, memory_order_acquire) > value->pending;
}

/* The one value that the node writes; NULL: a removed node. */
static struct gsh_value *written(const struct gsh_node *node)
{
    return node->values[node->launch.nin];
}

/* ---- hints ---- */

bool gsh_expiring_is_possible(const void *address)
{
    struct gsh_block *block = gsh_arena_find_block(address);
    if (block == NULL || block->base != (uintptr_t)address || !gsh_block_try_acquire_sigsafe(block))
        return false;
    const struct gsh_value *value = block->value;
    bool is_possible = value != NULL && writers(value) == 1;
    gsh_block_release_sigsafe(block);
    return is_possible;
}

bool gsh_expiring_is_off(unsigned site)
{
    return atomic_load_explicit(&misjudged[site], memory_order_relaxed) >= MOST_MISJUDGED;
}

void gsh_expiring_note_locked(struct gsh_value *value, unsigned site)
{
    if (writers(value) != 1 || has_contents(value))
        return;
    atomic_store_explicit(&value->expiring, (uint8_t)site, memory_order_relaxed);
    is_needed = true;
}

void gsh_expiring_note_expired_locked(unsigned site)
{
    gsh_stats_add(GSH_COUNTER_PASSED, 1);
    if (misjudged[site] != 0 && !gsh_expiring_is_off(site))
        atomic_fetch_sub_explicit(&misjudged[site], 1, memory_order_relaxed);
}

void gsh_expiring_note_misjudged_locked(unsigned site)
{
    gsh_stats_add(GSH_COUNTER_MISJUDGED, 1);
    if (!gsh_expiring_is_off(site))
        atomic_fetch_add_explicit(&misjudged[site], 1, memory_order_relaxed);
}

/* ---- before a flush ---- */

static void unmark(const struct gsh_node *nodes, unsigned count)
{
    for (unsigned n = 0; n < count; n++)
        for (unsigned k = 0; k < gsh_launch_operands(&nodes[n].launch); k++)
            if (nodes[n].values[k] != NULL)
                nodes[n].values[k]->is_marked = false;
}

/* Makes the flush store the value: recomputation begins with it. */
static bool hold(struct gsh_value *value)
{
    for (unsigned k = 0; k < held_count; k++)
        if (held[k] == value)
            return true;
    if (held_count == MOST_HELD)
        return false;
    gsh_value_retain(value);
    held[held_count++] = value;
    return true;
}

static bool is_written_later(const struct marking *marking, const struct gsh_value *value,
                             unsigned reader)
{
    for (unsigned n = reader + 1; n < marking->count; n++)
        if (gsh_node_writes(&marking->nodes[n], value))
            return true;
    return false;
}

/* Marks the inputs that one other pending node writes and that have no contents; holds the other inputs that are
 * written. */
static bool take_inputs(struct marking *marking, unsigned reader)
{
    const struct gsh_node *node = &marking->nodes[reader];
    for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++) {
        struct gsh_value *value = node->values[k];
        if (value == NULL || gsh_launch_is_output(&node->launch, k) || writers(value) == 0)
            continue;
        if (writers(value) > 1 || has_contents(value)) {
            if (is_written_later(marking, value, reader) || !hold(value))
                return false;
            continue;
        }
        marking->marked += !value->is_marked;
        value->is_marked = true;
    }
    return true;
}

static bool writes_marked(const struct gsh_node *node)
{
    for (unsigned j = 0; j < node->launch.nout; j++) {
        const struct gsh_value *value = node->values[node->launch.nin + j];
        if (value != NULL && value->is_marked)
            return true;
    }
    return false;
}

/* Marks the values from which node `last` is computed, as far as they can be recomputed. False: they cannot. */
static bool mark_needed(const struct gsh_node *nodes, unsigned count, unsigned last)
{
    struct marking marking = {.nodes = nodes, .count = count, .marked = 1};
    written(&nodes[last])->is_marked = true;
    for (unsigned n = last + 1; n-- > 0 && marking.found < marking.marked;) {
        if (!writes_marked(&nodes[n]))
            continue;
        if (nodes[n].launch.nout != 1 || !take_inputs(&marking, n))
            return false;
        marking.found++;
    }
    return marking.found == marking.marked;
}

/* Whether the node writes an expiring value. If the node has stayed pending before and other nodes read the value,
 * the hint was wrong. */
static bool writes_expiring(const struct gsh_node *node)
{
    const struct gsh_value *value = written(node);
    if (value == NULL || value->expiring == 0)
        return false;
    return writers(value) == 1 && !has_contents(value) && is_alive(value) &&
           (node->site == 0 || value->pending == 1);
}

static void let_go(unsigned down_to)
{
    while (held_count > down_to)
        gsh_value_release_sigsafe(held[--held_count]);
}

void gsh_expiring_retain_locked(struct gsh_node *nodes, unsigned count)
{
    if (!is_needed)
        return;
    is_needed = false;
    for (unsigned last = 0; last < count; last++) {
        unsigned held_before = held_count;
        if (!writes_expiring(&nodes[last]))
            continue;
        if (mark_needed(nodes, count, last)) {
            is_needed = written(&nodes[last])->is_retained = true;
            for (unsigned n = 0; n <= last; n++)
                nodes[n].is_retained |= writes_marked(&nodes[n]);
        } else {
            let_go(held_before);
        }
        unmark(nodes, count);
    }
}

/* ---- after a flush ---- */

/* Marks the retained values that are still to be written, and clears their is_retained. */
static void mark_unwritten(struct gsh_node *nodes, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        struct gsh_value *value = nodes[n].is_retained ? written(&nodes[n]) : NULL;
        if (value == NULL || !value->is_retained)
            continue;
        value->is_retained = false;
        value->is_marked = !has_contents(value) && is_alive(value);
        nodes[n].site = value->is_marked ? value->expiring : 0;
    }
}

void gsh_expiring_update_locked(struct gsh_node *nodes, unsigned count)
{
    if (!is_needed)
        return;
    mark_unwritten(nodes, count);
    for (unsigned n = count; n-- > 0;) {
        struct gsh_node *node = &nodes[n];
        if (!node->is_retained)
            continue;
        node->is_retained = written(node)->is_marked && !has_contents(written(node));
        if (!node->is_retained)
            continue;
        node->launch.errors = (struct gsh_error_sink){0};
        for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++)
            if (node->values[k] != NULL)
                node->values[k]->is_marked = true;
    }
    unmark(nodes, count);
    let_go(0);
}
