/* SPDX-License-Identifier: Apache-2.0
 *
 * A key is a hash of everything that the text of a group depends on.
 */
#include "source_group_layout.h"

#include "hash.h"
#include "source_parts.h"

static uint64_t word_of(struct gsh_group_input input)
{
    return (uint64_t)input.source << 16 | (uint64_t)input.index << 8 | input.output;
}

static void mix_step(struct gsh_hash_pair *hash, const struct gsh_group_step *step, bool checks)
{
    const struct gsh_op_info *info = gsh_op_info(step->op);
    uint64_t inputs = 0;
    for (unsigned k = 0; k < info->nin; k++)
        inputs = inputs << 21 | (word_of(step->in[k]) & 0x1fffff);
    gsh_hash_pair_add(hash, (uint64_t)step->op << 32 | (uint64_t)step->loop << 24 |
                                (uint64_t)step->out[0] << 16 |
                                (info->nout > 1 ? (uint64_t)step->out[1] << 8 : 0) | checks);
    gsh_hash_pair_add(hash, inputs);
    if ((info->flags & GSH_USES_INDEX) != 0)
        gsh_hash_pair_add(hash, word_of(step->index));
    gsh_hash_pair_add(hash, word_of(step->mask));
    for (unsigned j = 0; step->mask.source != GSH_FROM_NOTHING && j < info->nout; j++)
        gsh_hash_pair_add(hash, word_of(step->old[j]));
}

static void mix_array(struct gsh_hash_pair *hash, const struct gsh_group *group,
                      const struct gsh_source_layout *layout, unsigned k)
{
    uint64_t flags = (uint64_t)layout->is_stored[k] << 1 | layout->is_aligned[k];
    uint64_t track = gsh_source_group_layout_has_track(layout, k) ? layout->track[k] : 0xff;
    gsh_hash_pair_add(hash, (uint64_t)group->arrays[k].dtype << 32 |
                                (uint64_t)layout->wiring.roles[k] << 24 | track << 8 | flags);
}

static void mix_sinks(struct gsh_hash_pair *hash, const struct gsh_source_sinks *sinks)
{
    const struct gsh_group *group = sinks->group;
    const struct gsh_source_tree *tree = &sinks->tree;
    gsh_hash_pair_add(hash, (uint64_t)sinks->kept << 32 | (uint64_t)tree->pack << 24 |
                                (uint64_t)tree->unroll << 16 | (uint64_t)(tree->segments > 1) << 1 |
                                tree->lanes_fast);
    for (unsigned k = 0; k < group->sink_count; k++) {
        const struct gsh_group_sink *sink = &group->sinks[k];
        gsh_hash_pair_add(hash, (uint64_t)sink->reduction << 32 | (uint64_t)sink->loop << 24 |
                                    (uint64_t)group->arrays[sink->array].dtype << 16 |
                                    (uint64_t)sink->has_initial << 1 |
                                    gsh_source_reduce_checks(&sinks->launches[k]));
        gsh_hash_pair_add(hash, word_of(sink->in));
        gsh_hash_pair_add(hash, word_of(sink->mask));
    }
}

static struct gsh_hash_pair hash_of(const struct gsh_group *group,
                                    const struct gsh_source_layout *layout,
                                    const struct gsh_source_sinks *sinks)
{
    struct gsh_hash_pair hash = GSH_HASH_PAIR_BEGIN;
    gsh_hash_pair_add(&hash, (uint64_t)group->array_count << 32 |
                                 (uint64_t)group->constant_count << 24 |
                                 (uint64_t)group->step_count << 16 |
                                 (uint64_t)group->store_count << 8 | (uint64_t)layout->ndim);
    gsh_hash_pair_add(&hash, (uint64_t)layout->vector << 16 | (uint64_t)layout->unroll << 8 |
                                 (uint64_t)layout->is_wide << 1 | layout->is_short);
    for (unsigned k = 0; k < group->array_count; k++)
        mix_array(&hash, group, layout, k);
    for (unsigned k = 0; k < group->constant_count; k++)
        gsh_hash_pair_add(&hash, (uint64_t)group->constants[k].dtype);
    for (unsigned s = 0; s < group->step_count; s++)
        mix_step(&hash, &group->steps[s], layout->wiring.sink[s] >= 0);
    for (unsigned k = 0; k < group->store_count; k++)
        gsh_hash_pair_add(&hash, word_of(group->stores[k].from) << 8 | group->stores[k].array);
    if (group->sink_count > 0)
        mix_sinks(&hash, sinks);
    gsh_hash_pair_add(&hash, group->sink_count);
    return hash;
}

/* Five bits a letter, the lowest first. */
static void write_bits(struct gsh_fmt *fmt, uint64_t bits)
{
    char text[14] = {0};
    for (int i = 0; i < 13; i++, bits >>= 5)
        text[i] = "abcdefghijklmnopqrstuvwxyz234567"[bits & 31];
    gsh_fmt_text(fmt, text);
}

/* E.g. group5_ and 26 letters: the number of steps, the hash. */
void gsh_source_group_key_write(const struct gsh_group *group,
                                const struct gsh_source_layout *layout,
                                const struct gsh_source_sinks *sinks, char *key)
{
    struct gsh_hash_pair hash = hash_of(group, layout, sinks);
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, "group");
    gsh_fmt_decimal(&fmt, group->step_count);
    gsh_fmt_text(&fmt, "_");
    write_bits(&fmt, hash.first);
    write_bits(&fmt, hash.second);
}
