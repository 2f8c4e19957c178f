/* SPDX-License-Identifier: Apache-2.0
 *
 * A node's signature is what a kernel is made for: operation, dtypes, shape, strides, and the call that made it (its stats
 * row). Addresses, offsets and values of constants are no part of it.
 */
#include "node_iterations.h"

#include "hash.h"
#include "pauses.h"
#include "period.h"

/* A value of which all but so many bytes are written counts as written whole. */
#define SLACK_BYTES 4096

static struct gsh_period period;
static struct gsh_pauses pauses;

/* ---- what is told of a node ---- */

static uint64_t add_operand(uint64_t hash, const struct gsh_launch *launch, unsigned k)
{
    const struct gsh_operand *operand = &launch->operands[k];
    hash = gsh_hash_add(hash, (uint64_t)operand->dtype << 1 | operand->is_constant);
    for (int d = 0; d < launch->ndim; d++)
        hash = gsh_hash_spread(gsh_hash_add(hash, (uint64_t)launch->strides[k][d]));
    return hash;
}

static uint64_t signature_of(const struct gsh_node *node)
{
    const struct gsh_launch *launch = &node->launch;
    uint64_t hash =
        gsh_hash_add(GSH_HASH_BEGIN, (uint64_t)node->row << 32 | (uint64_t)launch->kind << 24 |
                                         (uint64_t)launch->loop << 16 |
                                         (uint64_t)launch->nreduce << 8 | launch->has_mask);
    hash = gsh_hash_spread(gsh_hash_add(hash, launch->op));
    for (int d = 0; d < launch->ndim; d++)
        hash = gsh_hash_spread(gsh_hash_add(hash, (uint64_t)launch->shape[d]));
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        hash = add_operand(hash, launch, k);
    return hash;
}

/* The operands that the node reads, and who wrote them; returns how many. */
static unsigned list_reads(const struct gsh_node *node, struct gsh_period_read *reads)
{
    const struct gsh_launch *launch = &node->launch;
    unsigned count = 0;
    for (unsigned k = 0; k < gsh_launch_operands(launch) && count < GSH_PERIOD_READS; k++) {
        const struct gsh_value *value = node->values[k];
        if (value != NULL && (!gsh_launch_is_output(launch, k) || gsh_launch_reads_output(launch)))
            reads[count++] = (struct gsh_period_read){value->written_at, value->accessed_at,
                                                      value->is_whole_written};
    }
    return count;
}

static void note_accesses(const struct gsh_node *node)
{
    const struct gsh_launch *launch = &node->launch;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        struct gsh_value *value = node->values[k];
        if (value == NULL)
            continue;
        value->accessed_at = node->number;
        if (!gsh_launch_is_output(launch, k))
            continue;
        size_t written = (size_t)gsh_launch_output_elements(launch, k) *
                         gsh_dtype_size(launch->operands[k].dtype);
        value->written_at = node->number;
        value->is_whole_written = written + SLACK_BYTES > value->size;
    }
}

void gsh_node_iterations_note_locked(struct gsh_node *node)
{
    struct gsh_period_read reads[GSH_PERIOD_READS];
    unsigned count = list_reads(node, reads);
    gsh_period_note(&period, signature_of(node), reads, count);
    node->number = period.count;
    note_accesses(node);
}

void gsh_node_iterations_note_boundary_locked(void)
{
    gsh_period_note_boundary(&period);
}

/* ---- pieces ---- */

unsigned gsh_node_iterations_piece_end_locked(const struct gsh_node *nodes, unsigned first,
                                              unsigned count)
{
    unsigned end = first + 1;
    while (end < count && !gsh_period_is_cut(&period, nodes[end - 1].number, nodes[end].number))
        end++;
    return end;
}

/* Whether a piece ends before node `index`; index == count: before the node that is recorded next. */
static bool ends_before(const struct gsh_node *nodes, unsigned index, unsigned count)
{
    uint64_t next = index < count ? nodes[index].number : period.count + 1;
    return gsh_period_is_cut(&period, nodes[index - 1].number, next);
}

/* The index of the last end of a piece before index `limit`; 0: there is none. */
static unsigned last_end(const struct gsh_node *nodes, unsigned limit, unsigned count)
{
    for (unsigned index = limit; index-- > 1;)
        if (ends_before(nodes, index, count))
            return index;
    return 0;
}

unsigned gsh_node_iterations_settled_locked(const struct gsh_node *nodes, unsigned count)
{
    return last_end(nodes, last_end(nodes, count + 1, count), count);
}

unsigned gsh_node_iterations_whole_locked(const struct gsh_node *nodes, unsigned count)
{
    unsigned settled = gsh_node_iterations_settled_locked(nodes, count);
    return settled != 0 ? settled : last_end(nodes, count, count);
}

bool gsh_node_iterations_is_pause_locked(void)
{
    return gsh_pauses_is_long(&pauses, period.count, gsh_period_place(&period));
}
