/* SPDX-License-Identifier: Apache-2.0
 *
 * See source_group_sinks.h. A sink's result has the bits of a launch of its own. So the first stage walks the tree
 * (kernels/cuda/tree.cuh) that this launch would have. Where a second stage joins segments, it is the launch's own
 * second stage.
 */
#include "source_group_sinks.h"

#include "source_parts.h"

#define SCRATCH_UNIT 256 /* bytes; each sink's part begins at a multiple */

/* Whether the launch visits the reduced elements in the group's order. */
static bool keeps_order(const struct gsh_launch *launch)
{
    for (int d = launch->ndim - launch->nreduce; d + 1 < launch->ndim; d++)
        if (gsh_launch_steps_further(launch, d + 1, d, true))
            return false;
    return true;
}

/* Dense strides over the kept dimensions in the launch's order. */
static void set_scratch_strides(const struct gsh_launch *launch, int64_t *strides)
{
    int kept = launch->ndim - launch->nreduce;
    for (int d = 0; d < kept; d++) {
        strides[d] = gsh_source_reduce_accumulator(launch);
        for (int e = 0; e < kept; e++) {
            bool is_behind = gsh_launch_steps_further(launch, d, e, false) ||
                             (e > d && !gsh_launch_steps_further(launch, e, d, false));
            strides[d] *= e != d && is_behind ? launch->shape[e] : 1;
        }
    }
}

static bool is_same_tree(const struct gsh_source_tree *a, const struct gsh_source_tree *b)
{
    return a->lanes_fast == b->lanes_fast && a->pack == b->pack && a->unroll == b->unroll &&
           a->chain == b->chain && a->lanes == b->lanes && a->segment == b->segment &&
           a->segments == b->segments;
}

/* An element may be evaluated twice, so no store may overwrite an array that is read. */
static bool is_in_place(const struct gsh_group *group)
{
    for (unsigned s = 0; s < group->store_count; s++)
        for (unsigned k = 0; k < group->array_count; k++)
            if (k != group->stores[s].array && !group->arrays[k].is_index &&
                group->arrays[k].address == group->arrays[group->stores[s].array].address)
                return true;
    return false;
}

static enum gsh_status set_sink(struct gsh_source_sinks *sinks, unsigned k)
{
    const struct gsh_group_sink *sink = &sinks->group->sinks[k];
    struct gsh_launch *launch = &sinks->launches[k];
    struct gsh_source_tree tree;
    if (!gsh_reduction_may_sink(sink->reduction, sink->loop))
        return GSH_DECLINED;
    *launch = gsh_group_sink_launch(sinks->group, sink);
    if (!keeps_order(launch))
        return GSH_DECLINED;
    set_scratch_strides(launch, sinks->scratch_strides[k]);
    gsh_launch_collapse(launch);
    gsh_source_reduce_tree(launch, &tree);
    if (tree.elements == 1 && gsh_source_reduce_copies_one(launch))
        return GSH_DECLINED; /* totals hold values, not bytes */
    if (k == 0)
        sinks->tree = tree;
    else if (!is_same_tree(&tree, &sinks->tree))
        return GSH_DECLINED;
    sinks->looks = sinks->looks || gsh_source_reduce_checks(launch);
    sinks->scratch_at[k] = sinks->scratch_bytes;
    size_t bytes =
        tree.segments > 1
            ? (size_t)(tree.segments * tree.outputs * gsh_source_reduce_accumulator(launch))
            : 0;
    sinks->scratch_bytes += (bytes + SCRATCH_UNIT - 1) / SCRATCH_UNIT * SCRATCH_UNIT;
    return GSH_OK;
}

enum gsh_status gsh_source_group_sinks_set(const struct gsh_group *group,
                                           struct gsh_source_sinks *sinks)
{
    sinks->group = group;
    sinks->kept = group->ndim - group->nreduce;
    sinks->scratch_bytes = 0;
    sinks->looks = false;
    if (group->nreduce == 0 || gsh_group_elements(group) == 0 || is_in_place(group))
        return GSH_DECLINED;
    for (unsigned k = 0; k < group->sink_count; k++)
        GSH_TRY(set_sink(sinks, k));
    return GSH_OK;
}

enum gsh_status gsh_source_group_sinks_put_ends(const struct gsh_source_sinks *sinks,
                                                uint64_t scratch, struct gsh_source_stage *stage)
{
    const struct gsh_group *group = sinks->group;
    bool is_last = sinks->tree.segments == 1;
    for (unsigned k = 0; k < group->sink_count; k++) {
        const struct gsh_launch *launch = &sinks->launches[k];
        uint64_t initial[2] = {0, 0};
        if (launch->has_initial)
            memcpy(initial, &launch->initial, gsh_dtype_size(launch->loop));
        GSH_TRY(gsh_source_put(stage, is_last ? launch->operands[1].address
                                              : scratch + sinks->scratch_at[k]));
        GSH_TRY(gsh_source_put(
            stage,
            is_last ? 0 : (uint64_t)(sinks->tree.outputs * gsh_source_reduce_accumulator(launch))));
        GSH_TRY(gsh_source_put(stage, initial[0]));
        GSH_TRY(gsh_source_put(stage, initial[1]));
        GSH_TRY(gsh_source_text_put_sink(stage, launch));
    }
    for (unsigned k = 0; k < group->sink_count; k++)
        GSH_TRY(gsh_source_put_many(stage,
                                    is_last ? group->arrays[group->sinks[k].array].strides
                                            : sinks->scratch_strides[k],
                                    sinks->kept, GSH_MAX(sinks->kept, 1)));
    return GSH_OK;
}

/* Writes, in a namespace of its own, the text in front of a reduction's kernel. NaNs stay as the GPU makes them. */
static void write_sink(const struct gsh_launch *launch, unsigned k, struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt, "namespace fast { namespace sink%u {\nconstexpr bool is_half = %s;\n", k,
                   launch->loop == GSH_FLOAT16 ? "true" : "false");
    gsh_source_reduce_write(launch, fmt);
    gsh_fmt_text(fmt, "}}\n");
}

static void write_joins(const struct gsh_source_sinks *sinks, struct gsh_fmt *fmt)
{
    unsigned count = sinks->group->sink_count;
    gsh_fmt_text(fmt, "template <bool CHECKED> FN Total join_totals(const Args &args, const Total "
                      "&a, const Total &b)\n{\n    Total r;\n");
    for (unsigned k = 0; k < count; k++) {
        gsh_fmt_printf(fmt, "    r.t%u = fast::sink%u::join_values(a.t%u, b.t%u);\n", k, k, k, k);
        if (gsh_source_reduce_checks(&sinks->launches[k]))
            gsh_fmt_printf(fmt,
                           "    if constexpr (CHECKED)\n        check_join<fast::sink%u::SinkType, "
                           "fast::sink%u::MAY>(args.ends[%u].sink, a.t%u, b.t%u, r.t%u);\n",
                           k, k, k, k, k, k);
    }
    gsh_fmt_text(fmt, "    return r;\n}\nFN bool is_fine(const Total &total)\n{\n    return true");
    for (unsigned k = 0; k < count; k++)
        if (gsh_source_reduce_checks(&sinks->launches[k]))
            gsh_fmt_printf(fmt, " && gsh_isfinite(total.t%u)", k);
    gsh_fmt_text(fmt, ";\n}\nFN Total choose_totals(bool is_there, const Total &x, const Total "
                      "&begin)\n{\n    Total r;\n");
    for (unsigned k = 0; k < count; k++)
        gsh_fmt_printf(fmt, "    r.t%u = fast::sink%u::REPEATS || is_there ? x.t%u : begin.t%u;\n",
                       k, k, k, k);
    gsh_fmt_text(fmt, "    return r;\n}\n");
}

/* Stores the total in the sink's array or the scratch, after joining it to `initial` unless the total began with
 * it. */
static void write_stores(const struct gsh_source_sinks *sinks, struct gsh_fmt *fmt)
{
    gsh_fmt_text(
        fmt,
        "FN void store_totals(const Args &args, const i64 (&at)[ENDS], const Total &total)\n{\n");
    for (unsigned k = 0; k < sinks->group->sink_count; k++) {
        bool checks = gsh_source_reduce_checks(&sinks->launches[k]);
        gsh_fmt_printf(
            fmt,
            "    auto whole%u = total.t%u;\n    if constexpr (fast::sink%u::JOINS_INITIAL) {\n"
            "        const auto initial = fast::sink%u::initial_value(args.ends[%u]);\n"
            "        whole%u = fast::sink%u::join_values(initial, total.t%u);\n",
            k, k, k, k, k, k, k, k);
        if (checks)
            gsh_fmt_printf(fmt,
                           "        check_join<fast::sink%u::SinkType, fast::sink%u::MAY>"
                           "(args.ends[%u].sink, initial, total.t%u, whole%u);\n",
                           k, k, k, k, k);
        gsh_fmt_text(fmt, "    }\n");
        if (checks)
            gsh_fmt_printf(
                fmt, "    check_rounding<fast::sink%u::Result>(args.ends[%u].sink, whole%u);\n", k,
                k, k);
        gsh_fmt_printf(fmt,
                       "    *(fast::sink%u::Out *)at[%u] = fast::sink%u::result_of(whole%u);\n", k,
                       k, k, k);
    }
    gsh_fmt_text(fmt, "}\n");
}

void gsh_source_group_sinks_write_totals(const struct gsh_source_sinks *sinks, struct gsh_fmt *fmt)
{
    const struct gsh_group *group = sinks->group;
    bool begins = false;
    for (unsigned k = 0; k < group->sink_count; k++)
        write_sink(&sinks->launches[k], k, fmt);
    gsh_fmt_text(fmt, "struct Total {\n");
    for (unsigned k = 0; k < group->sink_count; k++)
        gsh_fmt_printf(fmt, "    fast::sink%u::A t%u;\n", k, k);
    gsh_fmt_text(fmt,
                 "};\nFN Total begin_totals(const Args &args, const Result &one)\n{\n    Total "
                 "r;\n");
    for (unsigned k = 0; k < group->sink_count; k++) {
        gsh_fmt_printf(
            fmt,
            "    r.t%u = fast::sink%u::begin_value(args.ends[%u], (const char *)&one.r%u, 0);\n", k,
            k, k, k);
        begins = begins || gsh_source_reduce_begins_with_first(&sinks->launches[k]);
    }
    gsh_fmt_text(fmt, "    return r;\n}\nFN Total totals_of(const Total &begin, const Result "
                      "&result)\n{\n    Total r;\n");
    for (unsigned k = 0; k < group->sink_count; k++) {
        gsh_fmt_printf(fmt, "    r.t%u = ", k);
        if (sinks->launches[k].has_mask)
            gsh_fmt_printf(fmt, "!value(result.m%u) ? begin.t%u : ", k, k);
        gsh_fmt_printf(fmt, "fast::sink%u::accumulate(result.r%u, 0);\n", k, k);
    }
    gsh_fmt_printf(fmt, "    return r;\n}\nconstexpr bool BEGINS_WITH_FIRST = %s, LOOKS = %s;\n",
                   begins ? "true" : "false", sinks->looks ? "true" : "false");
    write_joins(sinks, fmt);
    write_stores(sinks, fmt);
}
