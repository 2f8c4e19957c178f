/* SPDX-License-Identifier: Apache-2.0
 *
 * Relies on kernels/group.h: an array that is written may be one that is read, element for element.
 */
#include "node_reuse.h"

#include "value.h"

#include <string.h>

static bool is_only_entry(const struct gsh_plan_item *item, unsigned a)
{
    for (unsigned other = 0; other < item->group.array_count; other++)
        if (other != a && item->values[other] == item->values[a])
            return false;
    return true;
}

static bool is_same_view(const struct gsh_group *group, unsigned a, unsigned b)
{
    const struct gsh_group_array *x = &group->arrays[a], *y = &group->arrays[b];
    return x->address == y->address && gsh_dtype_size(x->dtype) == gsh_dtype_size(y->dtype) &&
           memcmp(x->strides, y->strides, (size_t)group->ndim * sizeof x->strides[0]) == 0;
}

/* Whether no reference will be left once the item's nodes are removed. */
static bool dies(const struct gsh_plan_item *item, const struct gsh_node *nodes,
                 const struct gsh_value *value)
{
    uint32_t own = 0;
    for (unsigned index = 0; index < item->node_count; index++) {
        const struct gsh_node *node = &nodes[item->nodes[index]];
        bool stays = node->is_retained || item->is_again[index];
        for (unsigned k = 0; k < gsh_launch_operands(&node->launch) && !stays; k++)
            own += node->values[k] == value;
    }
    return atomic_load_explicit(&value->references, memory_order_acquire) == own;
}

void gsh_node_reuse_locked(const struct gsh_plan_item *item, const struct gsh_node *nodes,
                           unsigned store, struct gsh_node_reuse *reuse)
{
    const struct gsh_group *group = &item->group;
    unsigned written = group->stores[store].array;
    struct gsh_value *value = item->values[written];
    if (value->address != 0 || value->spill != NULL || value->is_read_next ||
        !is_only_entry(item, written))
        return;
    /* A value that the group writes is no source, even if it has died since the plan was made: the group uses its
     * memory. */
    const uint32_t own = gsh_group_stored(group) | gsh_group_joined(group);
    for (unsigned a = 0; a < group->array_count; a++) {
        struct gsh_value *from = item->values[a];
        if (from == NULL || (own >> a & 1) != 0 || !gsh_value_is_on_device(from) ||
            from->size != value->size || !is_same_view(group, a, written) ||
            !is_only_entry(item, a) || !dies(item, nodes, from))
            continue;
        gsh_value_move_locked(from, value);
        reuse->from[written] = from;
        reuse->bytes += value->size;
        return;
    }
}

void gsh_node_reuse_undo_locked(const struct gsh_plan_item *item,
                                const struct gsh_node_reuse *reuse)
{
    for (unsigned a = 0; a < item->group.array_count; a++)
        if (reuse->from[a] != NULL)
            gsh_value_move_locked(item->values[a], reuse->from[a]);
}
