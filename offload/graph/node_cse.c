/* SPDX-License-Identifier: Apache-2.0
 *
 * See node_cse.h. A result is not copied if a value that the reduction reads or writes is written in between, by
 * itself or by other nodes.
 */
#include "node_cse.h"

#include "errors.h"

#include <string.h>

#define TRIES 32 /* earlier nodes that a node is compared with */
#define KEPT 4
#define KEPT_BYTES ((size_t)1 << 20) /* largest result that is remembered */

/* Submitted reductions. The versions of their operands and results show whether they were written later. */
static struct kept {
    struct gsh_node node;
    uint64_t versions[GSH_MAX_OPERANDS];
} kept[KEPT];
static unsigned kept_count;

static bool has_equal_strides(const struct gsh_launch *x, const struct gsh_launch *y, unsigned k)
{
    return memcmp(x->strides[k], y->strides[k], (size_t)x->ndim * sizeof x->strides[k][0]) == 0;
}

static bool is_equal_operand(const struct gsh_node *a, const struct gsh_node *b, unsigned k)
{
    const struct gsh_operand *x = &a->launch.operands[k], *y = &b->launch.operands[k];
    return a->values[k] != NULL && a->values[k] == b->values[k] && x->dtype == y->dtype &&
           x->address == y->address && has_equal_strides(&a->launch, &b->launch, k);
}

/* The strides of the output influence the order of summation. */
static bool is_equal_launch(const struct gsh_launch *x, const struct gsh_launch *y)
{
    return x->reduction == y->reduction && x->loop == y->loop && x->ndim == y->ndim &&
           x->nreduce == y->nreduce && x->has_mask == y->has_mask &&
           x->has_initial == y->has_initial &&
           (!x->has_initial || memcmp(&x->initial, &y->initial, gsh_dtype_size(x->loop)) == 0) &&
           memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof x->shape[0]) == 0 &&
           x->operands[1].dtype == y->operands[1].dtype && has_equal_strides(x, y, 1);
}

static bool is_equal(const struct gsh_node *a, const struct gsh_node *b)
{
    return is_equal_operand(a, b, 0) && is_equal_launch(&a->launch, &b->launch) &&
           (!a->launch.has_mask || is_equal_operand(a, b, 2)) && a->values[1] != b->values[1];
}

/* Whether no node between the first one and the end of the list writes the first one's operands. */
static bool is_kept(const struct gsh_node *first, const struct gsh_node *end)
{
    for (const struct gsh_node *node = first + 1; node < end; node++)
        for (unsigned k = 0; k < gsh_launch_operands(&first->launch); k++)
            if (gsh_node_writes(node, first->values[k]))
                return false;
    return true;
}

static bool share_errors(const struct gsh_error_sink *first, const struct gsh_error_sink *second)
{
    return second->claims == 0 || gsh_errors_mirror_locked(first, second);
}

static void become_copy(struct gsh_node *node, const struct gsh_node *from)
{
    struct gsh_launch *launch = &node->launch;
    launch->kind = GSH_LAUNCH_ELEMENTWISE;
    launch->op = GSH_OP_COPY;
    launch->loop = launch->operands[1].dtype;
    launch->has_mask = launch->has_initial = false;
    launch->ndim -= launch->nreduce;
    launch->nreduce = 0;
    launch->operands[0] = from->launch.operands[1];
    memcpy(launch->strides[0], from->launch.strides[1], sizeof launch->strides[0]);
    launch->errors = (struct gsh_error_sink){0};
    node->values[0] = from->values[1];
    node->values[2] = NULL;
}

void gsh_node_cse_keep_locked(const struct gsh_node *recorded, unsigned count)
{
    gsh_node_cse_forget_locked();
    for (unsigned index = 0; index < count && kept_count < KEPT; index++) {
        if (recorded[index].values[1]->size > KEPT_BYTES)
            continue;
        struct kept *entry = &kept[kept_count++];
        entry->node = recorded[index];
        for (unsigned k = 0; k < gsh_launch_operands(&entry->node.launch); k++)
            entry->versions[k] = entry->node.values[k] != NULL ? entry->node.values[k]->version : 0;
        gsh_value_retain(entry->node.values[1]);
    }
}

void gsh_node_cse_forget_locked(void)
{
    while (kept_count > 0)
        gsh_value_release_sigsafe(kept[--kept_count].node.values[1]);
}

/* Call only for an entry whose values are the new node's operands: those are alive. */
static bool is_unwritten(const struct kept *entry)
{
    for (unsigned k = 0; k < gsh_launch_operands(&entry->node.launch); k++)
        if (entry->node.values[k] != NULL && entry->node.values[k]->version != entry->versions[k])
            return false;
    return true;
}

static void copy_kept(struct gsh_node *node)
{
    for (unsigned index = 0; index < kept_count; index++) {
        const struct kept *entry = &kept[index];
        if (is_equal(&entry->node, node) && is_unwritten(entry) &&
            share_errors(&entry->node.launch.errors, &node->launch.errors)) {
            become_copy(node, &entry->node);
            return;
        }
    }
}

void gsh_node_cse_copy_locked(const struct gsh_node *recorded, unsigned count,
                              struct gsh_node *node)
{
    if (node->launch.kind != GSH_LAUNCH_REDUCE || gsh_launch_elements(&node->launch) == 0)
        return;
    for (unsigned k = count; k > 0 && count - k < TRIES; k--) {
        const struct gsh_node *other = &recorded[k - 1];
        if (other->launch.kind == GSH_LAUNCH_REDUCE && is_equal(other, node) &&
            is_kept(other, recorded + count) &&
            share_errors(&other->launch.errors, &node->launch.errors)) {
            become_copy(node, other);
            return;
        }
    }
    copy_kept(node);
}
