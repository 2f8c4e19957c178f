/* SPDX-License-Identifier: Apache-2.0
 *
 * Iteration spaces. A node's own space has the dimensions of its launch in the order of its output. The space of an
 * item is a refinement of those of its nodes: each of its dimensions is a number of steps along one dimension of each
 * node. Two spaces are aligned by an access to the same value in each: one bijection makes the two accesses the same
 * view.
 */
#include "plan_internal.h"

#include <string.h>

/* ---- a node's own space ---- */

static int64_t index_weight(const struct gsh_launch *launch, int dim)
{
    int64_t weight = 1;
    for (int d = dim + 1; d < launch->ndim; d++)
        weight *= launch->shape[d];
    return weight;
}

static bool steps_as_one(const struct gsh_launch *launch, int outer, int64_t outer_factor,
                         int inner, int64_t inner_step)
{
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        if (launch->strides[k][outer] * outer_factor != launch->strides[k][inner] * inner_step)
            return false;
    return !gsh_launch_uses_index(launch) ||
           index_weight(launch, outer) * outer_factor == index_weight(launch, inner) * inner_step;
}

/* Appends dimension `dim` to a part that begins at `first`, or merges it with the last dimension of that part. */
static void append_dim(struct gsh_plan_set *item, struct gsh_plan_node *node, int first, int dim,
                       int64_t factor)
{
    const struct gsh_launch *launch = &node->node->launch;
    int last = item->ndim - 1;
    int64_t extent = launch->shape[dim];
    if (last >= first && node->factors[last] == factor &&
        steps_as_one(launch, node->dims[last], node->factors[last], dim, factor * extent))
        extent *= item->shape[last];
    else
        last = item->ndim++;
    item->shape[last] = extent;
    node->dims[last] = (uint8_t)dim;
    node->factors[last] = factor;
}

/* Appends the launch's dimensions [begin, end) by descending steps of operand `key`: the output, or for reduced
 * dimensions the input. */
static void append_part(struct gsh_plan_set *item, struct gsh_plan_node *node, int begin, int end,
                        unsigned key)
{
    const struct gsh_launch *launch = &node->node->launch;
    int order[GSH_MAX_DIMS], count = 0, first = item->ndim;
    for (int d = begin; d < end; d++) {
        if (launch->shape[d] == 1)
            continue;
        int place = count++;
        for (; place > 0 && gsh_launch_steps_further(launch, d, order[place - 1], key == 0);
             place--)
            order[place] = order[place - 1];
        order[place] = d;
    }
    for (int d = 0; d < count; d++) {
        bool is_backwards = !gsh_plan_is_sink(node) && launch->strides[key][order[d]] < 0;
        append_dim(item, node, first, order[d], is_backwards ? -1 : 1);
    }
}

void gsh_plan_space_lay_out(struct gsh_plan_set *item, struct gsh_plan_node *node)
{
    const struct gsh_launch *launch = &node->node->launch;
    bool is_sink = gsh_plan_is_sink(node);
    int kept = launch->ndim - (is_sink ? launch->nreduce : 0);
    item->ndim = 0;
    append_part(item, node, 0, kept, launch->nin);
    item->kept = is_sink ? item->ndim : GSH_PLAN_NONE;
    append_part(item, node, kept, launch->ndim, 0);
}

/* ---- views in an item's space ---- */

int64_t gsh_plan_space_stride(const struct gsh_plan_node *node, unsigned operand, int d)
{
    return node->node->launch.strides[operand][node->dims[d]] * node->factors[d];
}

/* What a backward step adds to the offset of the first element. */
static int64_t first_element(const struct gsh_plan_set *item, const struct gsh_plan_node *node,
                             int d, int64_t stride)
{
    return node->factors[d] < 0 ? -stride * (item->shape[d] - 1) : 0;
}

int64_t gsh_plan_space_offset(const struct gsh_plan_set *item, const struct gsh_plan_node *node,
                              unsigned operand)
{
    int64_t offset = (int64_t)node->node->launch.operands[operand].address;
    for (int d = 0; d < item->ndim; d++)
        offset += first_element(item, node, d, gsh_plan_space_stride(node, operand, d));
    return offset;
}

int64_t gsh_plan_space_index_stride(const struct gsh_plan_node *node, int d)
{
    return index_weight(&node->node->launch, node->dims[d]) * node->factors[d];
}

int64_t gsh_plan_space_index_offset(const struct gsh_plan_set *item,
                                    const struct gsh_plan_node *node)
{
    int64_t offset = 0;
    for (int d = 0; d < item->ndim; d++)
        offset += first_element(item, node, d, gsh_plan_space_index_stride(node, d));
    return offset;
}

static size_t element_size(const struct gsh_plan_node *node, unsigned operand)
{
    return gsh_dtype_size(node->node->launch.operands[operand].dtype);
}

bool gsh_plan_space_is_same_view(const struct gsh_plan *plan, int x_access, int y_access)
{
    const struct gsh_plan_node *x = &plan->nodes[gsh_plan_access_node(x_access)],
                               *y = &plan->nodes[gsh_plan_access_node(y_access)];
    unsigned j = gsh_plan_access_operand(x_access), k = gsh_plan_access_operand(y_access);
    const struct gsh_plan_set *item = &plan->items[x->item];
    if (element_size(x, j) != element_size(y, k))
        return false;
    for (int d = 0; d < item->ndim; d++)
        if (gsh_plan_space_stride(x, j, d) != gsh_plan_space_stride(y, k, d))
            return false;
    return gsh_plan_space_offset(item, x, j) == gsh_plan_space_offset(&plan->items[y->item], y, k);
}

/* ---- aligning two spaces ---- */

/* A dimension of the common refinement: a part of one dimension of each space. */
struct piece {
    int64_t extent;
    uint8_t dims[2];    /* of the spaces */
    int64_t factors[2]; /* steps along it; negative where it runs against the first space's */
};

struct refinement {
    int count;
    struct piece pieces[GSH_MAX_DIMS];
};

struct side {
    struct gsh_plan_set *item;
    const struct gsh_plan_node *node;
    unsigned operand;
    int order[GSH_MAX_DIMS]; /* dimensions by ascending step */
    int next;                /* index into `order` */
    int64_t step, left, done;
};

static struct side make_side(struct gsh_plan *plan, int access)
{
    struct side side;
    side.node = &plan->nodes[gsh_plan_access_node(access)];
    side.item = &plan->items[side.node->item];
    side.operand = gsh_plan_access_operand(access);
    side.next = 0;
    for (int d = 0; d < side.item->ndim; d++) {
        int64_t step = gsh_launch_step(gsh_plan_space_stride(side.node, side.operand, d));
        int place = d;
        for (; place > 0 && gsh_launch_step(gsh_plan_space_stride(side.node, side.operand,
                                                                  side.order[place - 1])) > step;
             place--)
            side.order[place] = side.order[place - 1];
        side.order[place] = d;
    }
    return side;
}

static void open_dim(struct side *side)
{
    int dim = side->order[side->next];
    side->step = gsh_plan_space_stride(side->node, side->operand, dim);
    side->left = side->item->shape[dim];
    side->done = 1;
}

/* Takes `extent` elements off the open dimension; false where no dimension is left. */
static bool take_piece(struct side *side, int64_t extent)
{
    side->done *= extent;
    side->left /= extent;
    if (side->left > 1)
        return true;
    if (++side->next == side->item->ndim)
        return false;
    open_dim(side);
    return true;
}

static bool add_piece(struct side *x, struct side *y, struct refinement *refined)
{
    if (x->step == 0 || refined->count == GSH_MAX_DIMS ||
        gsh_launch_step(x->step) * x->done != gsh_launch_step(y->step) * y->done)
        return false;
    int64_t extent = GSH_MIN(x->left, y->left);
    if (x->left % extent != 0 || y->left % extent != 0)
        return false;
    refined->pieces[refined->count++] =
        (struct piece){.extent = extent,
                       .dims = {(uint8_t)x->order[x->next], (uint8_t)y->order[y->next]},
                       .factors = {x->done, (x->step < 0) == (y->step < 0) ? y->done : -y->done}};
    return true;
}

/* Finds the pieces, by ascending step; false where the views do not have the same elements. */
static bool refine(struct side *x, struct side *y, struct refinement *refined)
{
    refined->count = 0;
    if (x->item->ndim == 0 || y->item->ndim == 0)
        return x->item->ndim == y->item->ndim;
    open_dim(x);
    open_dim(y);
    bool x_goes_on, y_goes_on;
    do {
        if (!add_piece(x, y, refined))
            return false;
        int64_t extent = refined->pieces[refined->count - 1].extent;
        x_goes_on = take_piece(x, extent);
        y_goes_on = take_piece(y, extent);
    } while (x_goes_on && y_goes_on);
    return x_goes_on == y_goes_on;
}

/* Sorts the pieces by the first space's dimensions; parts of one dimension, outer before inner. */
static void sort_pieces(struct refinement *refined, int ndim)
{
    struct refinement sorted;
    sorted.count = 0;
    for (int dim = 0; dim < ndim; dim++)
        for (int k = refined->count - 1; k >= 0; k--)
            if (refined->pieces[k].dims[0] == dim)
                sorted.pieces[sorted.count++] = refined->pieces[k];
    *refined = sorted;
}

/* Whether a piece of the second space comes before another in its order. */
static bool comes_before(const struct piece *a, const struct piece *b)
{
    return a->dims[1] < b->dims[1] || (a->dims[1] == b->dims[1] && a->factors[1] > b->factors[1]);
}

/* If both spaces have sinks, these must see the elements in the same order. */
static bool suits_sinks(const struct refinement *refined, const struct gsh_plan_set *x,
                        const struct gsh_plan_set *y)
{
    if (x->kept == GSH_PLAN_NONE || y->kept == GSH_PLAN_NONE)
        return true;
    for (int d = 0; d < refined->count; d++) {
        const struct piece *piece = &refined->pieces[d];
        if (piece->factors[1] < 0 || (piece->dims[0] < x->kept) != (piece->dims[1] < y->kept) ||
            (d > 0 && !comes_before(piece - 1, piece)))
            return false;
    }
    return true;
}

/* Gives the item of side `which` the refined space. */
static void apply(struct gsh_plan *plan, struct gsh_plan_set *item,
                  const struct refinement *refined, int which)
{
    int kept = 0;
    for (int n = item->first; n != GSH_PLAN_NONE; n = plan->nodes[n].next) {
        struct gsh_plan_node *node = &plan->nodes[n];
        uint8_t dims[GSH_MAX_DIMS];
        int64_t factors[GSH_MAX_DIMS];
        memcpy(dims, node->dims, sizeof dims);
        memcpy(factors, node->factors, sizeof factors);
        for (int d = 0; d < refined->count; d++) {
            const struct piece *piece = &refined->pieces[d];
            node->dims[d] = dims[piece->dims[which]];
            node->factors[d] = factors[piece->dims[which]] * piece->factors[which];
        }
    }
    for (int d = 0; d < refined->count; d++) {
        kept += refined->pieces[d].dims[which] < item->kept;
        item->shape[d] = refined->pieces[d].extent;
    }
    item->ndim = refined->count;
    if (item->kept != GSH_PLAN_NONE)
        item->kept = kept;
}

/* Whether the two accesses, whose bytes begin at the same offset, are the same view already. */
static bool are_aligned(const struct gsh_plan *plan, int x_access, int y_access)
{
    const struct gsh_plan_node *x = &plan->nodes[gsh_plan_access_node(x_access)],
                               *y = &plan->nodes[gsh_plan_access_node(y_access)];
    const struct gsh_plan_set *of_x = &plan->items[x->item], *of_y = &plan->items[y->item];
    if (of_x->ndim != of_y->ndim ||
        (of_x->kept != of_y->kept && of_x->kept >= 0 && of_y->kept >= 0))
        return false;
    for (int d = 0; d < of_x->ndim; d++) {
        int64_t stride = gsh_plan_space_stride(x, gsh_plan_access_operand(x_access), d);
        if (of_x->shape[d] != of_y->shape[d] || stride == 0 ||
            stride != gsh_plan_space_stride(y, gsh_plan_access_operand(y_access), d))
            return false;
    }
    return true;
}

bool gsh_plan_space_align(struct gsh_plan *plan, int x_access, int y_access)
{
    if (gsh_plan_touch(plan, x_access)->range.low != gsh_plan_touch(plan, y_access)->range.low)
        return false;
    if (are_aligned(plan, x_access, y_access))
        return true;
    struct side x = make_side(plan, x_access), y = make_side(plan, y_access);
    struct refinement refined;
    if (x.item->kept == GSH_PLAN_NONE && y.item->kept != GSH_PLAN_NONE)
        return gsh_plan_space_align(plan, y_access, x_access);
    if (!refine(&x, &y, &refined))
        return false;
    sort_pieces(&refined, x.item->ndim);
    if (!suits_sinks(&refined, x.item, y.item))
        return false;
    apply(plan, x.item, &refined, 0);
    apply(plan, y.item, &refined, 1);
    return true;
}
