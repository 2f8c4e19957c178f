/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains from COMPRESS to EXPAND in the space of their mask. z[m] = f(z[m], c[m]) computes f for the elements that m
 * selects. A predicated chain computes f for all elements and stores the results where m is true: nothing has to be
 * counted, and all of it is one group. A value that holds selected elements is `compressed`. In a predicated chain,
 * compressed values hold an element for each of the mask, never have memory, and exist only in the registers of one
 * group. A chain whose compressed values are used in any other way is left unchanged.
 */
#include "plan_internal.h"

#include <string.h>

/* A chain is predicated only if at least 1 / LEAST_SHARE of the elements are selected. */
#define LEAST_SHARE 16

/* Compressed values of one mask that are computed from each other. */
struct chain {
    const struct gsh_node *start; /* a COMPRESS */
    int16_t mask_write;           /* the last node before it that writes the mask; or NONE */
    int16_t joined;               /* the chain into which it was merged; or NONE */
    bool is_broken;
};

static struct chain chains[GSH_PLAN_NODES]; /* by the node that starts them */
static struct gsh_node predicated[GSH_PLAN_NODES];

static unsigned mask_of(const struct gsh_launch *launch)
{
    return launch->nin + launch->nout;
}

static int find_chain(int chain)
{
    while (chain != GSH_PLAN_NONE && chains[chain].joined != GSH_PLAN_NONE)
        chain = chains[chain].joined;
    return chain;
}

static bool has_value(const struct gsh_plan_node *node, unsigned k)
{
    return !node->node->launch.operands[k].is_constant;
}

/* The chain of operand k's value; NONE where it is not compressed. */
static int chain_of(struct gsh_plan *plan, int n, unsigned k)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    return has_value(node, k) ? find_chain(gsh_plan_live_find_value(plan, node, k)->chain)
                              : GSH_PLAN_NONE;
}

static void break_chain(int chain)
{
    if (chain != GSH_PLAN_NONE)
        chains[find_chain(chain)].is_broken = true;
}

/* ---- what fits ---- */

static bool is_dense(const struct gsh_launch *launch, unsigned k)
{
    int64_t step = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    for (int d = launch->ndim - 1; d >= 0; d--) {
        if (launch->shape[d] != 1 && launch->strides[k][d] != step)
            return false;
        step *= launch->shape[d];
    }
    return true;
}

static bool is_one_element(const struct gsh_launch *launch, unsigned k)
{
    for (int d = 0; d < launch->ndim; d++)
        if (launch->shape[d] != 1 && launch->strides[k][d] != 0)
            return false;
    return true;
}

/* Whether the operand is the whole compressed value, as it was written. */
static bool is_as_written(struct gsh_plan *plan, int n, unsigned k)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    const struct gsh_operand *operand = &node->node->launch.operands[k];
    const struct gsh_plan_value *value = gsh_plan_live_find_value(plan, node, k);
    return operand->address == value->compressed_address &&
           operand->dtype == value->compressed_dtype;
}

static int16_t last_write(struct gsh_plan *plan, const struct gsh_node *mask_reader)
{
    const struct gsh_plan_node node = {.node = mask_reader};
    return gsh_plan_live_find_value(plan, &node, mask_of(&mask_reader->launch))->last_write;
}

/* Whether the COMPRESS or EXPAND selects by the chain's mask, with the same contents. */
static bool selects_alike(struct gsh_plan *plan, const struct chain *chain,
                          const struct gsh_node *node)
{
    const struct gsh_launch *x = &chain->start->launch, *y = &node->launch;
    unsigned mask = mask_of(y);
    return chain->start->values[mask_of(x)] == node->values[mask] &&
           x->operands[mask_of(x)].address == y->operands[mask].address &&
           chain->mask_write == last_write(plan, node) && x->ndim == y->ndim &&
           x->indexed.extent == y->indexed.extent &&
           memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof x->shape[0]) == 0 &&
           memcmp(x->strides[mask_of(x)], y->strides[mask], (size_t)x->ndim * sizeof x->shape[0]) ==
               0;
}

/* Merges two chains that meet in a node. False where their masks differ. */
static bool join_chains(struct gsh_plan *plan, int *into, int chain)
{
    if (chain == GSH_PLAN_NONE || chain == *into)
        return true;
    if (*into == GSH_PLAN_NONE) {
        *into = chain;
        return true;
    }
    struct chain *x = &chains[*into], *y = &chains[chain];
    if (x->mask_write != y->mask_write || !selects_alike(plan, x, y->start))
        return false;
    y->joined = (int16_t)*into;
    x->is_broken |= y->is_broken;
    return true;
}

/* ---- nodes ---- */

/* Makes operand k's value compressed from this node on. False: it was accessed before. */
static bool compress_value(struct gsh_plan *plan, int n, unsigned k, int chain)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    struct gsh_plan_value *value = gsh_plan_live_find_value(plan, node, k);
    if (value->is_touched)
        return false;
    value->chain = (int16_t)chain;
    value->compressed_address = node->node->launch.operands[k].address;
    value->compressed_dtype = node->node->launch.operands[k].dtype;
    return true;
}

static bool has_compressed(struct gsh_plan *plan, int n)
{
    for (unsigned k = 0; k < gsh_launch_operands(&plan->nodes[n].node->launch); k++)
        if (chain_of(plan, n, k) != GSH_PLAN_NONE)
            return true;
    return false;
}

/* Begins a chain. */
static bool take_compress(struct gsh_plan *plan, int n)
{
    const struct gsh_launch *launch = &plan->nodes[n].node->launch;
    if (has_compressed(plan, n) ||
        launch->indexed.stride != (int64_t)gsh_dtype_size(launch->operands[1].dtype) ||
        launch->indexed.extent < gsh_launch_elements(launch) / LEAST_SHARE)
        return false;
    chains[n] = (struct chain){.start = plan->nodes[n].node, .joined = GSH_PLAN_NONE};
    chains[n].mask_write = last_write(plan, chains[n].start);
    return compress_value(plan, n, 1, n);
}

static bool take_expand(struct gsh_plan *plan, int n, int *chain)
{
    const struct gsh_launch *launch = &plan->nodes[n].node->launch;
    *chain = chain_of(plan, n, 0);
    return *chain != GSH_PLAN_NONE && chain_of(plan, n, 1) == GSH_PLAN_NONE &&
           is_as_written(plan, n, 0) &&
           launch->indexed.stride == (int64_t)gsh_dtype_size(launch->operands[0].dtype) &&
           selects_alike(plan, &chains[*chain], plan->nodes[n].node);
}

/* Takes the inputs of an operation on compressed values and single elements. */
static bool take_inputs(struct gsh_plan *plan, int n, int *chain)
{
    const struct gsh_launch *launch = &plan->nodes[n].node->launch;
    for (unsigned k = 0; k < launch->nin; k++) {
        int other = chain_of(plan, n, k);
        bool fits = other == GSH_PLAN_NONE
                        ? !has_value(&plan->nodes[n], k) || is_one_element(launch, k)
                        : is_as_written(plan, n, k) && is_dense(launch, k);
        if (!fits || !join_chains(plan, chain, other))
            return false;
    }
    return *chain != GSH_PLAN_NONE;
}

static bool take_outputs(struct gsh_plan *plan, int n, int *chain)
{
    const struct gsh_launch *launch = &plan->nodes[n].node->launch;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++) {
        int other = chain_of(plan, n, k);
        if (!is_dense(launch, k) || !join_chains(plan, chain, other))
            return false;
        if (other == GSH_PLAN_NONE ? !compress_value(plan, n, k, *chain)
                                   : !is_as_written(plan, n, k))
            return false;
    }
    return true;
}

static bool take_operation(struct gsh_plan *plan, int n, int *chain)
{
    const struct gsh_launch *launch = &plan->nodes[n].node->launch;
    if (launch->has_mask || (gsh_op_info(launch->op)->flags & GSH_USES_INDEX) != 0 ||
        !take_inputs(plan, n, chain) || !take_outputs(plan, n, chain))
        return false;
    const struct chain *root = &chains[*chain];
    return gsh_launch_elements(launch) == root->start->launch.indexed.extent &&
           last_write(plan, root->start) == root->mask_write;
}

/* The chain that the node continues or begins; NONE where it belongs to none. */
static int take(struct gsh_plan *plan, int n)
{
    int chain = GSH_PLAN_NONE;
    bool fits = false;
    switch (plan->nodes[n].node->launch.kind) {
    case GSH_LAUNCH_COMPRESS:
        fits = take_compress(plan, n);
        chain = n;
        break;
    case GSH_LAUNCH_EXPAND:
        fits = take_expand(plan, n, &chain);
        break;
    case GSH_LAUNCH_ELEMENTWISE:
        fits = has_compressed(plan, n) && take_operation(plan, n, &chain);
        break;
    default:
        break;
    }
    return fits ? chain : GSH_PLAN_NONE;
}

/* Finds the chain of each node and of each value. */
static void find_chains(struct gsh_plan *plan)
{
    for (int n = 0; n < (int)plan->node_count; n++) {
        struct gsh_plan_node *node = &plan->nodes[n];
        const struct gsh_launch *launch = &node->node->launch;
        node->chain = (int16_t)take(plan, n);
        for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
            if (!has_value(node, k))
                continue;
            struct gsh_plan_value *value = gsh_plan_live_find_value(plan, node, k);
            if (node->chain == GSH_PLAN_NONE)
                break_chain(value->chain);
            value->is_touched = true;
            if (gsh_launch_is_output(launch, k))
                value->last_write = (int16_t)n;
        }
    }
    for (unsigned slot = 0; slot < plan->value_count; slot++)
        if (gsh_plan_live_is_live_out(&plan->values[slot]))
            break_chain(plan->values[slot].chain);
}

/* ---- predication ---- */

static void predicate_operand(struct gsh_launch *launch, unsigned k, const struct gsh_launch *space)
{
    int64_t step = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    for (int d = space->ndim - 1; d >= 0; d--) {
        launch->strides[k][d] = step;
        step *= space->shape[d];
    }
}

/* Limits the errors to elements that are selected. */
static void add_mask(struct gsh_node *node, const struct gsh_node *start)
{
    unsigned to = mask_of(&node->launch), from = mask_of(&start->launch);
    node->launch.has_mask = true;
    node->launch.operands[to] = start->launch.operands[from];
    memcpy(node->launch.strides[to], start->launch.strides[from], sizeof node->launch.strides[0]);
    node->values[to] = start->values[from];
}

/* Rewrites the node for the space of its chain's mask. */
static void predicate_node(struct gsh_plan *plan, int n)
{
    struct gsh_plan_node *node = &plan->nodes[n];
    const struct gsh_node *start = chains[find_chain(node->chain)].start;
    const struct gsh_launch *space = &start->launch;
    struct gsh_launch *launch = &predicated[n].launch;
    predicated[n] = *node->node;
    launch->has_mask = launch->kind == GSH_LAUNCH_EXPAND;
    launch->ndim = space->ndim;
    memcpy(launch->shape, space->shape, sizeof launch->shape);
    for (unsigned k = 0; k < mask_of(launch); k++) {
        if (chain_of(plan, n, k) != GSH_PLAN_NONE)
            predicate_operand(launch, k, space);
        else if (launch->kind == GSH_LAUNCH_ELEMENTWISE)
            memset(launch->strides[k], 0, sizeof launch->strides[k]);
    }
    if (launch->errors.claims != 0)
        add_mask(&predicated[n], start);
    launch->kind = GSH_LAUNCH_ELEMENTWISE;
    node->node = &predicated[n];
}

static bool has_compress(const struct gsh_plan *plan)
{
    for (unsigned n = 0; n < plan->node_count; n++)
        if (plan->nodes[n].node->launch.kind == GSH_LAUNCH_COMPRESS)
            return true;
    return false;
}

bool gsh_plan_predicate(struct gsh_plan *plan)
{
    bool has_predicated = false;
    if (!has_compress(plan))
        return false;
    find_chains(plan);
    for (int n = 0; n < (int)plan->node_count; n++) {
        int chain = find_chain(plan->nodes[n].chain);
        if (chain == GSH_PLAN_NONE || chains[chain].is_broken)
            continue;
        predicate_node(plan, n);
        has_predicated = true;
    }
    for (unsigned slot = 0; slot < plan->value_count; slot++) {
        int chain = find_chain(plan->values[slot].chain);
        plan->values[slot].is_contracted = chain != GSH_PLAN_NONE && !chains[chain].is_broken;
    }
    return has_predicated;
}

/* ---- whether the plan keeps them in registers ---- */

/* Whether the predicated values that the node reads are computed in its item. */
static bool has_producers(struct gsh_plan *plan, int n, bool *is_contracted)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    for (unsigned k = 0; k < gsh_launch_operands(&node->node->launch); k++) {
        if (!has_value(node, k) || !gsh_plan_live_find_value(plan, node, k)->is_contracted)
            continue;
        *is_contracted = true;
        if (gsh_plan_live_is_read(plan, node, k) &&
            (node->writer[k] == GSH_PLAN_NONE ||
             plan->nodes[gsh_plan_access_node(node->writer[k])].item != node->item))
            return false;
    }
    return true;
}

static bool is_one_group(struct gsh_plan *plan, const struct gsh_plan_set *item)
{
    static struct gsh_plan_item written;
    return gsh_plan_group_write(plan, item->first, &written) == GSH_PLAN_NONE &&
           written.node_count == item->count && written.node < 0;
}

bool gsh_plan_predicate_holds(struct gsh_plan *plan)
{
    for (unsigned index = 0; index < plan->item_count; index++) {
        const struct gsh_plan_set *item = &plan->items[index];
        bool is_contracted = false;
        for (int n = item->first; n != GSH_PLAN_NONE; n = plan->nodes[n].next)
            if (!has_producers(plan, n, &is_contracted))
                return false;
        if (is_contracted && !is_one_group(plan, item))
            return false;
    }
    return true;
}
