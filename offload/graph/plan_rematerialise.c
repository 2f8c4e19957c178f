/* SPDX-License-Identifier: Apache-2.0
 *
 * Rematerialisation. Some results are dead after the flush, and one item stores them only for later items to load:
 * softmax stores exp(x - m) beside its sum and divides it in another pass. The values that such a result is computed
 * from are its leaves. Where the device reads the leaves and computes the result again in less time than it stores
 * and loads it, each item that needs the result computes it for itself, and it has no memory.
 *
 * A repeated node stands for a recorded one. If an item's nodes run one by one, the recorded node runs again and
 * leaves the same bytes, since nothing else writes its value and its leaves are unchanged.
 */
#include "plan_internal.h"

#include "backend.h"
#include "rematerialise.h"

#define LONGEST 8 /* nodes that are computed again for one result */
#define MOST 32   /* results of a flush */

/* A result and the nodes that compute it in its item's registers, in program order. */
struct recipe {
    int nodes[LONGEST];
    unsigned count;
};

/* The value that replaces another one in the item. */
struct shadow {
    const struct gsh_value *of;
    int item;
    struct gsh_value value;
};

static struct gsh_plan_node ordered[GSH_PLAN_NODES]; /* the new list of the plan's nodes */
static unsigned ordered_count;
static struct gsh_node repeated[GSH_PLAN_NODES], changed[GSH_PLAN_NODES]; /* by index there */
static struct shadow shadows[MOST * LONGEST];
static unsigned shadow_count;
static struct recipe recipes[MOST];
static unsigned recipe_count;

static bool has_value(const struct gsh_plan_node *node, unsigned k)
{
    return !node->node->launch.operands[k].is_constant;
}

static struct gsh_plan_range range_of(const struct gsh_plan *plan, int n, unsigned k)
{
    return plan->touches[k][n].range;
}

static double bytes_of(struct gsh_plan_range range)
{
    return (double)(range.high - range.low);
}

/* ---- what can be computed again ---- */

/* Whether the node's output is a value that only this node writes, all at once, and that is dead after the flush. */
static bool is_transient(struct gsh_plan *plan, int n)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    const struct gsh_launch *launch = &node->node->launch;
    if (!gsh_launch_has(launch, GSH_TRAIT_MAPS) || launch->nout != 1 || launch->has_mask ||
        (node->overwrites >> launch->nin & 1) == 0)
        return false;
    const struct gsh_plan_value *value = gsh_plan_live_find_value(plan, node, launch->nin);
    int own = gsh_plan_access(n, launch->nin);
    return value->writes == own && gsh_plan_touch(plan, own)->older == GSH_PLAN_NONE &&
           !gsh_plan_live_is_live_out(value);
}

/* Whether nothing writes the bytes of operand k of node n from that node up to node `until`. */
static bool is_kept(struct gsh_plan *plan, int n, unsigned k, int until)
{
    const struct gsh_plan_value *value = gsh_plan_live_find_value(plan, &plan->nodes[n], k);
    for (int write = value->writes; write != GSH_PLAN_NONE && gsh_plan_access_node(write) >= n;
         write = gsh_plan_touch(plan, write)->older)
        if (gsh_plan_access_node(write) < until &&
            gsh_plan_overlap(gsh_plan_touch(plan, write)->range, range_of(plan, n, k)))
            return false;
    return true;
}

/* The node that computes operand k of node n, if the operand is to be computed again too; or NONE. */
static int maker_of(struct gsh_plan *plan, int n, unsigned k, int item)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    if (node->writer[k] == GSH_PLAN_NONE)
        return GSH_PLAN_NONE;
    int maker = gsh_plan_access_node(node->writer[k]);
    bool is_held = plan->nodes[maker].item == item && !plan->nodes[maker].is_stored[0];
    return is_held || gsh_plan_live_find_value(plan, node, k)->is_rematerialised ? maker
                                                                                 : GSH_PLAN_NONE;
}

/* Adds the node after those whose results it reads. False: it cannot be computed again before node `until`. */
static bool add_node(struct gsh_plan *plan, struct recipe *recipe, int n, int until)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    for (unsigned k = 0; k < recipe->count; k++)
        if (recipe->nodes[k] == n)
            return true;
    if (!is_transient(plan, n))
        return false;
    for (unsigned k = 0; k < node->node->launch.nin; k++) {
        if (!has_value(node, k))
            continue;
        int maker = maker_of(plan, n, k, node->item);
        bool fits = maker != GSH_PLAN_NONE ? add_node(plan, recipe, maker, until)
                                           : is_kept(plan, n, k, until);
        if (!fits)
            return false;
    }
    if (recipe->count == LONGEST)
        return false;
    recipe->nodes[recipe->count++] = n;
    return true;
}

/* ---- what it costs ---- */

/* Whether the item loads the bytes already. */
static bool loads(const struct gsh_plan *plan, const struct gsh_plan_value *value, int item,
                  struct gsh_plan_range range)
{
    for (int read = value->reads; read != GSH_PLAN_NONE;
         read = plan->touches[gsh_plan_access_operand(read)][gsh_plan_access_node(read)].older) {
        int n = gsh_plan_access_node(read), k = (int)gsh_plan_access_operand(read);
        struct gsh_plan_range theirs = range_of(plan, n, (unsigned)k);
        if (plan->nodes[n].item == item && theirs.low <= range.low && theirs.high >= range.high)
            return true;
    }
    return false;
}

/* Whether an operand before operand k of the recipe's node number `at` has the same bytes. */
static bool is_met(struct gsh_plan *plan, const struct recipe *recipe, unsigned at, unsigned k)
{
    const struct gsh_node *node = plan->nodes[recipe->nodes[at]].node;
    for (unsigned a = 0; a <= at; a++) {
        const struct gsh_node *other = plan->nodes[recipe->nodes[a]].node;
        for (unsigned j = 0; j < (a < at ? other->launch.nin : k); j++)
            if (other->values[j] == node->values[k] &&
                range_of(plan, recipe->nodes[a], j).low == range_of(plan, recipe->nodes[at], k).low)
                return true;
    }
    return false;
}

/* Bytes that the item has to load in addition. */
static double leaf_bytes(struct gsh_plan *plan, const struct recipe *recipe, int item)
{
    double bytes = 0;
    for (unsigned at = 0; at < recipe->count; at++) {
        int n = recipe->nodes[at];
        const struct gsh_plan_node *node = &plan->nodes[n];
        for (unsigned k = 0; k < node->node->launch.nin; k++) {
            if (!has_value(node, k) || maker_of(plan, n, k, node->item) != GSH_PLAN_NONE ||
                is_met(plan, recipe, at, k))
                continue;
            struct gsh_plan_range range = range_of(plan, n, k);
            if (!loads(plan, gsh_plan_live_find_value(plan, node, k), item, range))
                bytes += bytes_of(range);
        }
    }
    return bytes;
}

static double arithmetic_ns(const struct gsh_plan *plan, const struct recipe *recipe)
{
    double ns = 0;
    for (unsigned at = 0; at < recipe->count; at++) {
        const struct gsh_launch *launch = &plan->nodes[recipe->nodes[at]].node->launch;
        ns += (double)gsh_launch_elements(launch) * gsh_op_host_ns(launch->op, launch->loop);
    }
    return ns;
}

/* ---- the choice ---- */

/* The items that load a result. */
struct takers {
    int items[GSH_PLAN_NODES];
    unsigned count;
    int last; /* the last node that loads it */
};

static void add_item(struct takers *takers, int item)
{
    for (unsigned k = 0; k < takers->count; k++)
        if (takers->items[k] == item)
            return;
    takers->items[takers->count++] = item;
}

/* False where one of them loads anything but the whole result, element by element. */
static bool find_takers(struct gsh_plan *plan, int n, struct takers *takers)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    unsigned nin = node->node->launch.nin;
    struct gsh_plan_range range = range_of(plan, n, nin);
    int64_t elements = gsh_launch_elements(&node->node->launch);
    takers->count = 0;
    takers->last = n;
    for (int read = gsh_plan_live_find_value(plan, node, nin)->reads; read != GSH_PLAN_NONE;
         read = gsh_plan_touch(plan, read)->older) {
        const struct gsh_plan_node *reader = &plan->nodes[gsh_plan_access_node(read)];
        struct gsh_plan_range theirs = gsh_plan_touch(plan, read)->range;
        if (gsh_plan_access_node(read) < n)
            return false;
        if (reader->item == node->item)
            continue;
        if (!reader->is_fusable || theirs.low != range.low || theirs.high != range.high ||
            gsh_launch_elements(&reader->node->launch) != elements)
            return false;
        takers->last = GSH_MAX(takers->last, gsh_plan_access_node(read));
        add_item(takers, reader->item);
    }
    return takers->count > 0;
}

static bool have_room(const struct gsh_plan *plan, const struct takers *takers, unsigned more)
{
    for (unsigned k = 0; k < takers->count; k++) {
        const struct gsh_plan_set *item = &plan->items[takers->items[k]];
        if (item->count - item->sinks + more > GSH_GROUP_STEPS)
            return false;
    }
    return true;
}

static const struct gsh_rates *rates(void)
{
    return gsh_backend_get() != NULL ? gsh_backend_rates() : NULL;
}

static bool pays(struct gsh_plan *plan, const struct recipe *recipe, const struct takers *takers,
                 double stored)
{
    double loaded = 0, ns = arithmetic_ns(plan, recipe) * takers->count;
    for (unsigned k = 0; k < takers->count; k++)
        loaded += leaf_bytes(plan, recipe, takers->items[k]);
    return gsh_rematerialise_pays(rates(), stored, loaded, ns);
}

static void consider(struct gsh_plan *plan, int n)
{
    static struct takers takers;
    const struct gsh_plan_node *node = &plan->nodes[n];
    struct recipe *recipe = &recipes[recipe_count];
    if (node->is_dead || !node->is_fusable || !node->is_stored[0] || !is_transient(plan, n) ||
        !find_takers(plan, n, &takers))
        return;
    double stored = bytes_of(range_of(plan, n, node->node->launch.nin)) * (1 + takers.count);
    recipe->count = 0;
    if (!gsh_rematerialise_could_pay(rates(), stored) || !add_node(plan, recipe, n, takers.last) ||
        !have_room(plan, &takers, recipe->count) || !pays(plan, recipe, &takers, stored))
        return;
    gsh_plan_live_find_value(plan, node, node->node->launch.nin)->is_rematerialised = true;
    recipe_count++;
}

/* ---- the new list of nodes ---- */

static struct gsh_value *find_shadow(const struct gsh_value *of, int item)
{
    for (unsigned k = 0; k < shadow_count; k++)
        if (shadows[k].of == of && shadows[k].item == item)
            return &shadows[k].value;
    return NULL;
}

/* Whether operand k is an input or a mask, and not a constant. */
static bool is_taken(const struct gsh_node *node, unsigned k)
{
    return node->values[k] != NULL && !gsh_launch_is_output(&node->launch, k);
}

static bool takes_shadow(const struct gsh_node *node, int item)
{
    for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++)
        if (is_taken(node, k) && find_shadow(node->values[k], item) != NULL)
            return true;
    return false;
}

/* Replaces operands by their shadows in the item. */
static void take_shadows(struct gsh_node *node, int item)
{
    for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++) {
        struct gsh_value *shadow = is_taken(node, k) ? find_shadow(node->values[k], item) : NULL;
        if (shadow != NULL)
            node->values[k] = shadow;
    }
}

static bool append(const struct gsh_plan_node *node)
{
    if (ordered_count == GSH_PLAN_NODES)
        return false;
    ordered[ordered_count] = (struct gsh_plan_node){.node = node->node, .origin = node->origin};
    ordered_count++;
    return true;
}

/* Repeats node n for the item, unless that is done. */
static bool repeat(const struct gsh_plan *plan, int n, int item)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    unsigned out = node->node->launch.nin;
    if (find_shadow(node->node->values[out], item) != NULL)
        return true;
    if (shadow_count == MOST * LONGEST || !append(node))
        return false;
    struct gsh_node *own = &repeated[ordered_count - 1];
    *own = *node->node;
    own->launch.errors = (struct gsh_error_sink){0};
    take_shadows(own, item);
    struct shadow *shadow = &shadows[shadow_count++];
    shadow->of = own->values[out];
    shadow->item = item;
    own->values[out] = &shadow->value;
    ordered[ordered_count - 1].node = own;
    ordered[ordered_count - 1].is_repeated = true;
    return true;
}

/* Whether the node loads the recipe's result. */
static bool takes(const struct gsh_plan *plan, int n, const struct recipe *recipe)
{
    const struct gsh_plan_node *maker = &plan->nodes[recipe->nodes[recipe->count - 1]];
    const struct gsh_plan_node *node = &plan->nodes[n];
    if (node->item == maker->item)
        return false;
    for (unsigned k = 0; k < gsh_launch_operands(&node->node->launch); k++)
        if (is_taken(node->node, k) &&
            node->node->values[k] == maker->node->values[maker->node->launch.nin])
            return true;
    return false;
}

/* Appends the nodes repeated for the node, then the node itself. */
static bool order_node(struct gsh_plan *plan, int n)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    for (unsigned r = 0; r < recipe_count; r++)
        for (unsigned k = 0; k < recipes[r].count && takes(plan, n, &recipes[r]); k++)
            if (!repeat(plan, recipes[r].nodes[k], node->item))
                return false;
    if (!append(node))
        return false;
    if (takes_shadow(node->node, node->item)) {
        struct gsh_node *own = &changed[ordered_count - 1];
        *own = *node->node;
        take_shadows(own, node->item);
        ordered[ordered_count - 1].node = own;
    }
    return true;
}

static void replace_nodes(struct gsh_plan *plan)
{
    gsh_plan_forget(plan);
    plan->node_count = ordered_count;
    for (unsigned n = 0; n < ordered_count; n++)
        plan->nodes[n] = ordered[n];
    for (unsigned n = 0; n < ordered_count; n++)
        if (ordered[n].is_repeated)
            gsh_plan_live_find_value(plan, &plan->nodes[n], plan->nodes[n].node->launch.nin)
                ->is_contracted = true;
}

bool gsh_plan_rematerialise(struct gsh_plan *plan)
{
    recipe_count = shadow_count = ordered_count = 0;
    for (int n = 0; n < (int)plan->node_count && recipe_count < MOST; n++)
        consider(plan, n);
    if (recipe_count == 0)
        return false;
    for (int n = 0; n < (int)plan->node_count; n++)
        if (!plan->nodes[n].is_dead && !order_node(plan, n)) /* a dead node may write a leaf */
            return false;
    replace_nodes(plan);
    return true;
}
