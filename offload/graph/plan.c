/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides which nodes run together. Nodes are taken in program order. The hazards of a node are accesses by earlier
 * nodes to the same bytes of which one is a write. A node joins the last item with which it has a hazard if all that
 * they share is the same view, so that each element depends on its own alone. Producers of a node move forward to
 * it if no other item waits for them. In the end, items that read the same array are joined.
 */
#include "plan_internal.h"

#include <string.h>

static struct gsh_plan plan;

struct hazard {
    int16_t theirs, ours; /* accesses */
};

/* Each earlier access is found at most once for each operand of a node. */
static struct hazard hazards[GSH_PLAN_VALUES * GSH_MAX_OPERANDS];
static unsigned hazard_count;

/* ---- hazards ---- */

static const struct gsh_plan_touch *touch_of(int access)
{
    return gsh_plan_touch(&plan, access);
}

static int16_t older_than(int access)
{
    return gsh_plan_touch(&plan, access)->older;
}

static int item_of(int access)
{
    return plan.nodes[gsh_plan_access_node(access)].item;
}

/* Lists earlier writes of bytes of the operand, newest first, up to one that covers them all: earlier ones are that
 * write's hazards. Returns the node of that write. */
static int find_writes(const struct gsh_plan_value *value, int n, unsigned k)
{
    struct gsh_plan_node *node = &plan.nodes[n];
    const struct gsh_plan_touch *ours = touch_of(gsh_plan_access(n, k));
    node->writer[k] = GSH_PLAN_NONE;
    if (!gsh_plan_overlap(value->write_range, ours->range))
        return GSH_PLAN_NONE;
    for (int access = value->writes; access != GSH_PLAN_NONE; access = older_than(access)) {
        const struct gsh_plan_touch *theirs = touch_of(access);
        if (!gsh_plan_collide(theirs, ours))
            continue;
        if (node->writer[k] == GSH_PLAN_NONE)
            node->writer[k] = (int16_t)access;
        hazards[hazard_count++] = (struct hazard){(int16_t)access, gsh_plan_access(n, k)};
        if (gsh_plan_covers(theirs, ours))
            return gsh_plan_access_node(access);
    }
    return GSH_PLAN_NONE;
}

static void find_reads(const struct gsh_plan_value *value, int n, unsigned k, int since)
{
    const struct gsh_plan_touch *ours = touch_of(gsh_plan_access(n, k));
    if (!gsh_plan_overlap(value->read_range, ours->range))
        return;
    for (int access = value->reads; access != GSH_PLAN_NONE; access = older_than(access)) {
        if (gsh_plan_access_node(access) <= since)
            return;
        if (gsh_plan_collide(touch_of(access), ours))
            hazards[hazard_count++] = (struct hazard){(int16_t)access, gsh_plan_access(n, k)};
    }
}

static void find_hazards(int n)
{
    struct gsh_plan_node *node = &plan.nodes[n];
    const struct gsh_launch *launch = &node->node->launch;
    hazard_count = 0;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        node->writer[k] = GSH_PLAN_NONE;
        if (launch->operands[k].is_constant)
            continue;
        const struct gsh_plan_value *value = gsh_plan_live_find_value(&plan, node, k);
        int since = find_writes(value, n, k);
        if (gsh_launch_is_output(launch, k))
            find_reads(value, n, k, since);
    }
}

static void list_accesses(int n)
{
    struct gsh_plan_node *node = &plan.nodes[n];
    const struct gsh_launch *launch = &node->node->launch;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        if (launch->operands[k].is_constant)
            continue;
        struct gsh_plan_value *value = gsh_plan_live_find_value(&plan, node, k);
        bool writes = gsh_launch_is_output(launch, k);
        struct gsh_plan_touch *touch = &plan.touches[k][n];
        int16_t *list = writes ? &value->writes : &value->reads;
        gsh_plan_extend(writes ? &value->write_range : &value->read_range, touch->range);
        touch->older = *list;
        *list = gsh_plan_access(n, k);
    }
}

/* ---- items ---- */

static bool is_fusable(const struct gsh_launch *launch)
{
    bool fuses = gsh_launch_has(launch, GSH_TRAIT_FUSES);
    if (!fuses || gsh_launch_has(launch, GSH_TRAIT_MAPS))
        return fuses;
    int64_t reduced = 1;
    for (int d = launch->ndim - launch->nreduce; d < launch->ndim; d++)
        reduced *= launch->shape[d];
    return reduced > 1 && gsh_reduction_may_sink(launch->reduction, launch->loop);
}

static int add_item(int n)
{
    int index = (int)plan.item_count++;
    struct gsh_plan_node *node = &plan.nodes[n];
    struct gsh_plan_set *item = &plan.items[index];
    item->first = item->last = (int16_t)n;
    item->count = 1;
    item->loads = item->stores = 0;
    item->after = INT_MAX;
    item->kept = GSH_PLAN_NONE;
    for (unsigned word = 0; word < GSH_PLAN_NODES / 64; word++)
        item->needs[word] = 0;
    node->item = (int16_t)index;
    node->next = GSH_PLAN_NONE;
    node->part = 0;
    for (unsigned j = 0; j < GSH_OP_OUTPUTS; j++)
        node->last_reader[j] = GSH_PLAN_NONE;
    node->is_fusable = is_fusable(&node->node->launch);
    item->sinks = node->is_fusable && gsh_plan_is_sink(node);
    if (node->is_fusable)
        gsh_plan_space_lay_out(item, node);
    return index;
}

/* Whether both items fit into one. */
static bool have_room(const struct gsh_plan_set *x, const struct gsh_plan_set *y)
{
    unsigned sinks = x->sinks + y->sinks;
    return plan.nodes[x->first].is_fusable && plan.nodes[y->first].is_fusable &&
           sinks <= GSH_GROUP_SINKS && x->count + y->count - sinks <= GSH_GROUP_STEPS;
}

/* Merges two lists of nodes, in program order. */
static void merge_lists(struct gsh_plan_set *into, const struct gsh_plan_set *other)
{
    int x = into->first, y = other->first;
    int16_t *link = &into->first;
    if (into->last < other->first) {
        link = &plan.nodes[into->last].next;
        x = GSH_PLAN_NONE;
    }
    while (x != GSH_PLAN_NONE && y != GSH_PLAN_NONE) {
        int *taken = x < y ? &x : &y;
        *link = (int16_t)*taken;
        link = &plan.nodes[*taken].next;
        *taken = *link;
    }
    *link = (int16_t)(x != GSH_PLAN_NONE ? x : y);
    into->last = GSH_MAX(into->last, other->last);
}

/* Moves the nodes of item `from` to item `to`, which has the same space. */
static void join(int to, int from)
{
    struct gsh_plan_set *into = &plan.items[to], *other = &plan.items[from];
    for (int n = other->first; n != GSH_PLAN_NONE; n = plan.nodes[n].next)
        plan.nodes[n].item = (int16_t)to;
    merge_lists(into, other);
    into->count += other->count;
    into->sinks += other->sinks;
    into->loads += other->loads;
    into->stores += other->stores;
    into->after = GSH_MIN(into->after, other->after);
    if (into->kept == GSH_PLAN_NONE)
        into->kept = other->kept;
    for (unsigned word = 0; word < GSH_PLAN_NODES / 64; word++)
        into->needs[word] |= other->needs[word];
    other->first = GSH_PLAN_NONE;
    other->count = 0;
    while (plan.item_count > 0 && plan.items[plan.item_count - 1].first == GSH_PLAN_NONE)
        plan.item_count--;
}

/* ---- joining a node and an item that it has hazards with ---- */

static bool is_output(int access)
{
    return gsh_launch_is_output(&plan.nodes[gsh_plan_access_node(access)].node->launch,
                                gsh_plan_access_operand(access));
}

/* A sink's output is complete only after the whole group. */
static bool is_of_sink_output(int access)
{
    return is_output(access) && gsh_plan_is_sink(&plan.nodes[gsh_plan_access_node(access)]);
}

static enum gsh_dtype dtype_of(int access)
{
    const struct gsh_plan_node *node = &plan.nodes[gsh_plan_access_node(access)];
    return node->node->launch.operands[gsh_plan_access_operand(access)].dtype;
}

/* Whether our access reads what theirs wrote. */
static bool takes_written(const struct hazard *hazard)
{
    int ours = hazard->ours;
    return is_output(hazard->theirs) &&
           gsh_plan_live_is_read(&plan, &plan.nodes[gsh_plan_access_node(ours)],
                                 gsh_plan_access_operand(ours));
}

/* Whether the two accesses may be in one group. Their items have one space. */
static bool conforms(const struct hazard *hazard)
{
    return gsh_plan_space_is_same_view(&plan, hazard->theirs, hazard->ours) &&
           (!takes_written(hazard) || dtype_of(hazard->theirs) == dtype_of(hazard->ours));
}

/* A hazard with item `index` by which the spaces are aligned; NULL where node and item cannot be in one group. */
static const struct hazard *find_link(int index)
{
    const struct hazard *link = NULL;
    for (unsigned h = 0; h < hazard_count; h++) {
        if (item_of(hazards[h].theirs) != index)
            continue;
        if (is_of_sink_output(hazards[h].theirs) || is_of_sink_output(hazards[h].ours))
            return NULL;
        link = &hazards[h];
    }
    return link;
}

/* A node repeated for an item joins only repeated nodes, until the item's own nodes follow. */
static bool may_join(int n, int index)
{
    return !plan.nodes[n].is_repeated || plan.nodes[plan.items[index].first].is_repeated;
}

/* Gives the items of the node and `index` one space in which all their hazards are the same views. */
static bool align(int n, int index)
{
    if (!have_room(&plan.items[index], &plan.items[plan.nodes[n].item]))
        return false;
    const struct hazard *link = find_link(index);
    if (link == NULL || !gsh_plan_space_align(&plan, link->theirs, link->ours))
        return false;
    for (unsigned h = 0; h < hazard_count; h++)
        if (item_of(hazards[h].theirs) == index && !conforms(&hazards[h]))
            return false;
    return true;
}

static int last_item(void)
{
    int last = GSH_PLAN_NONE;
    for (unsigned h = 0; h < hazard_count; h++)
        last = GSH_MAX(last, item_of(hazards[h].theirs));
    return last;
}

/* Moves the items that produce the node's operands forward to it, if no item between waits for them. */
static void gather_producers(int n)
{
    for (unsigned h = 0; h < hazard_count; h++) {
        int ours = plan.nodes[n].item, producer = item_of(hazards[h].theirs);
        if (producer < ours && plan.items[producer].after > ours && takes_written(&hazards[h]) &&
            may_join(n, producer) && align(n, producer))
            join(ours, producer);
    }
}

static void note_dependencies(int n)
{
    int ours = plan.nodes[n].item;
    for (unsigned h = 0; h < hazard_count; h++) {
        int other = gsh_plan_access_node(hazards[h].theirs), theirs = plan.nodes[other].item;
        if (theirs == ours)
            continue;
        plan.items[theirs].after = GSH_MIN(plan.items[theirs].after, ours);
        plan.items[ours].needs[other / 64] |= UINT64_C(1) << other % 64;
    }
}

static void place(int n)
{
    int own = add_item(n);
    find_hazards(n);
    int last = last_item();
    if (last != GSH_PLAN_NONE && may_join(n, last) && align(n, last))
        join(last, own);
    if (plan.nodes[n].is_fusable)
        gather_producers(n);
    note_dependencies(n);
    list_accesses(n);
}

/* ---- joining items that read the same array ---- */

/* The last other item on which the item depends. If `to` is given, the items on which it depends note that it moves
 * there. */
static int last_needed(int index, int to)
{
    int last = GSH_PLAN_NONE;
    const struct gsh_plan_set *item = &plan.items[index];
    for (unsigned word = 0; word < GSH_PLAN_NODES / 64; word++) {
        for (uint64_t bits = item->needs[word]; bits != 0; bits &= bits - 1) {
            int needed = plan.nodes[word * 64 + (unsigned)__builtin_ctzll(bits)].item;
            if (needed == index)
                continue;
            last = GSH_MAX(last, needed);
            if (to != GSH_PLAN_NONE)
                plan.items[needed].after = GSH_MIN(plan.items[needed].after, to);
        }
    }
    return last;
}

static bool fit_together(const struct gsh_plan_set *x, const struct gsh_plan_set *y)
{
    unsigned stores = x->stores + y->stores;
    return have_room(x, y) && stores <= GSH_GROUP_STORES &&
           x->loads + y->loads + stores <= GSH_GROUP_ARRAYS;
}

/* Joins the items of two reads if they fit together. */
static void share_read(int newer, int older)
{
    int x = item_of(newer), y = item_of(older), low = GSH_MIN(x, y), high = GSH_MAX(x, y);
    if (low == high || !fit_together(&plan.items[low], &plan.items[high]))
        return;
    bool goes_forward = plan.items[low].after > high;
    if (!goes_forward && last_needed(high, GSH_PLAN_NONE) >= low)
        return;
    if (!gsh_plan_space_align(&plan, newer, older))
        return;
    if (!goes_forward)
        last_needed(high, low);
    join(goes_forward ? high : low, goes_forward ? low : high);
}

/* The next older read whose node is in another item. */
static int older_elsewhere(int read)
{
    int item = item_of(read);
    do
        read = older_than(read);
    while (read != GSH_PLAN_NONE && item_of(read) == item);
    return read;
}

/* Most older reads with which a read is compared. */
#define SHARE_TRIES 8

static void share_reads(void)
{
    for (unsigned slot = 0; slot < plan.value_count; slot++)
        for (int read = plan.values[slot].reads; read != GSH_PLAN_NONE;
             read = older_elsewhere(read)) {
            int older = older_elsewhere(read);
            for (int tries = 0; tries < SHARE_TRIES && older != GSH_PLAN_NONE; tries++) {
                int next = older_elsewhere(older);
                share_read(read, older);
                older = next;
            }
        }
}

/* ---- the plan ---- */

static const struct gsh_node *plan_nodes; /* of the plan that was begun */
static unsigned plan_count;
static unsigned next_item;
static int next_node;

static void begin(void)
{
    plan.node_count = plan_count;
    gsh_plan_forget(&plan);
    for (unsigned n = 0; n < plan_count; n++) {
        plan.nodes[n].node = &plan_nodes[n];
        plan.nodes[n].origin = (uint16_t)n;
        plan.nodes[n].is_repeated = false;
    }
}

static void form_items(void)
{
    gsh_plan_live_find_dead(&plan);
    for (unsigned n = 0; n < plan.node_count; n++)
        if (!plan.nodes[n].is_dead)
            place((int)n);
    gsh_plan_live_find_stores(&plan);
    share_reads();
}

static void count_uses(void)
{
    memset(plan.uses, 0, plan_count * sizeof plan.uses[0]);
    for (unsigned n = 0; n < plan.node_count; n++)
        plan.uses[plan.nodes[n].origin] += !plan.nodes[n].is_dead;
}

void gsh_plan_begin_locked(const struct gsh_node *nodes, unsigned count)
{
    gsh_plan_live_note_locked(nodes, count);
    plan_nodes = nodes;
    plan_count = count;
}

void gsh_plan_make(void)
{
    begin();
    bool has_contracted = gsh_plan_predicate(&plan);
    form_items();
    if (!has_contracted && gsh_plan_rematerialise(&plan)) {
        has_contracted = true;
        form_items();
    }
    if (has_contracted && !gsh_plan_predicate_holds(&plan)) {
        begin();
        form_items();
    }
    count_uses();
    next_item = 0;
    next_node = GSH_PLAN_NONE;
}

bool gsh_plan_is_dead(unsigned number)
{
    return plan.uses[number] == 0;
}

const struct gsh_plan_item *gsh_plan_next(void)
{
    static struct gsh_plan_item item;
    while (next_node == GSH_PLAN_NONE) {
        if (next_item == plan.item_count)
            return NULL;
        next_node = plan.items[next_item++].first;
    }
    next_node = gsh_plan_group_write(&plan, next_node, &item);
    for (unsigned k = 0; k < item.node_count; k++)
        item.is_again[k] = --plan.uses[item.nodes[k]] > 0;
    return &item;
}
