/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The array between the two launches has the same dimensions for both. Each dimension is a batch
 * dimension of one of them or of both. Transforms over different dimensions commute, except that C2R is the last and
 * R2C the first.
 */
#include "node_transform.h"

#include "backend.h"
#include "fft_run.h"

#define MOST_DIMS (GSH_MAX_DIMS + GSH_CORE_DIMS)

/* A dimension of an array: one of the launch's batch, or a transformed one. */
struct dimension {
    bool is_core;
    int index;
    int64_t extent, stride;
};

static unsigned list_dimensions(const struct gsh_launch *launch, unsigned k,
                                struct dimension *dimensions)
{
    unsigned count = 0;
    const struct gsh_core *core = &launch->fft.cores[k];
    for (int d = 0; d < launch->ndim; d++)
        dimensions[count++] = (struct dimension){false, d, launch->shape[d], launch->strides[k][d]};
    for (int d = 0; d < launch->fft.rank; d++)
        dimensions[count++] = (struct dimension){true, d, core->extent[d], core->stride[d]};
    return count;
}

/* Takes the dimension equal to `like` out of the list. Strides distinguish dimensions with more than one element. */
static bool take(struct dimension *dimensions, unsigned count, const struct dimension *like,
                 bool wants_batch, struct dimension *taken)
{
    for (unsigned i = 0; i < count; i++) {
        struct dimension *it = &dimensions[i];
        if (it->extent != like->extent || (like->extent != 1 && it->stride != like->stride) ||
            (wants_batch && it->is_core))
            continue;
        *taken = *it;
        it->extent = -1;
        return true;
    }
    return false;
}

/* ---- what may be joined ---- */

static bool is_transform(const struct gsh_node *node)
{
    return node->values[0] != NULL && node->launch.kind == GSH_LAUNCH_FFT &&
           node->launch.errors.claims == 0;
}

/* Whether only the two nodes use the value. */
static bool is_private(const struct gsh_value *value)
{
    return atomic_load_explicit(&value->references, memory_order_acquire) == 2 &&
           atomic_load_explicit(&value->pending, memory_order_relaxed) == 2 && !value->is_retained;
}

static bool commute(const struct gsh_launch *first, const struct gsh_launch *second)
{
    const struct gsh_operand *result = &first->operands[1], *operand = &second->operands[0];
    return first->loop == second->loop && second->fft.rank == 1 &&
           first->fft.rank < GSH_CORE_DIMS && result->dtype == first->loop &&
           operand->dtype == first->loop && result->address == operand->address &&
           second->fft.type != GSH_FFT_R2C &&
           (first->fft.type == GSH_FFT_C2C || second->fft.type == GSH_FFT_C2C) &&
           first->fft.is_inverse == second->fft.is_inverse;
}

/* Whether a node after the first writes what the first reads. */
static bool is_overwritten(const struct gsh_node *nodes, unsigned first, unsigned second)
{
    for (unsigned n = first; n <= second; n++)
        if (gsh_node_writes(&nodes[n], nodes[first].values[0]))
            return true;
    return false;
}

/* ---- joining ---- */

/* Puts the dimension that the second launch transforms before those of the first, or after them if it is halved. */
static void add_core(struct gsh_launch *joined, const struct gsh_launch *second,
                     const struct dimension *in)
{
    struct gsh_fft *fft = &joined->fft;
    int place = second->fft.type == GSH_FFT_C2R ? fft->rank : 0;
    for (int d = fft->rank++; d > place; d--) {
        fft->length[d] = fft->length[d - 1];
        for (unsigned k = 0; k < 2; k++) {
            fft->cores[k].extent[d] = fft->cores[k].extent[d - 1];
            fft->cores[k].stride[d] = fft->cores[k].stride[d - 1];
        }
    }
    fft->length[place] = second->fft.length[0];
    fft->cores[0].extent[place] = in->extent;
    fft->cores[0].stride[place] = in->stride;
    fft->cores[1].extent[place] = second->fft.cores[1].extent[0];
    fft->cores[1].stride[place] = second->fft.cores[1].stride[0];
    if (second->fft.type == GSH_FFT_C2R)
        fft->type = GSH_FFT_C2R;
    fft->factor *= second->fft.factor;
}

static void remove_batch(struct gsh_launch *joined, int dimension)
{
    joined->ndim--;
    for (int d = dimension; d < joined->ndim; d++) {
        joined->shape[d] = joined->shape[d + 1];
        for (unsigned k = 0; k < 2; k++)
            joined->strides[k][d] = joined->strides[k][d + 1];
    }
}

/* False: the second launch takes another array than the first one makes, or transforms the same dimension. */
static bool join(const struct gsh_launch *first, const struct gsh_launch *second,
                 struct gsh_launch *joined)
{
    struct dimension made[MOST_DIMS], taken;
    unsigned count = list_dimensions(first, 1, made);
    const struct gsh_core *core = &second->fft.cores[0];
    const struct dimension line = {true, 0, core->extent[0], core->stride[0]};
    if (count != (unsigned)second->ndim + 1 || !take(made, count, &line, true, &taken))
        return false;
    int from = taken.index;
    *joined = *first;
    joined->operands[1] = second->operands[1];
    for (int d = 0; d < second->ndim; d++) {
        const struct dimension batch = {false, d, second->shape[d], second->strides[0][d]};
        if (!take(made, count, &batch, false, &taken))
            return false;
        if (taken.is_core)
            joined->fft.cores[1].stride[taken.index] = second->strides[1][d];
        else
            joined->strides[1][taken.index] = second->strides[1][d];
    }
    const struct dimension in = {false, from, first->shape[from], first->strides[0][from]};
    remove_batch(joined, from);
    add_core(joined, second, &in);
    return true;
}

int gsh_node_transform_find(const struct gsh_node *nodes, unsigned second,
                            struct gsh_launch *joined)
{
    const struct gsh_node *node = &nodes[second];
    if (!is_transform(node) || !is_private(node->values[0]))
        return -1;
    for (unsigned first = second; first-- > 0;) {
        const struct gsh_node *other = &nodes[first];
        if (!is_transform(other) || other->values[1] != node->values[0])
            continue;
        bool fits = other->site == 0 && commute(&other->launch, &node->launch) &&
                    !is_overwritten(nodes, first, second) &&
                    join(&other->launch, &node->launch, joined) && gsh_fft_run_fits(joined) &&
                    gsh_backend_get()->supports(joined);
        return fits ? (int)first : -1;
    }
    return -1;
}
