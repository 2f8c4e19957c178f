/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a group's text that depends on its arrays: the elements that a thread holds (Held, Same, Results), and
 * the functions that load and store them (called by kernels/cuda/group/group.cuh and group_sinks.cuh).
 */
#include "source_group_layout.h"

/* The elements that a thread holds of each array, and the elements that all threads share. */
static void write_held(const struct gsh_group *group, const struct gsh_source_layout *layout,
                       struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "struct Held {\n");
    for (unsigned k = 0; k < group->array_count; k++) {
        enum gsh_source_role role = layout->wiring.roles[k];
        if (role == GSH_ROLE_ARRAY || role == GSH_ROLE_ROW)
            gsh_fmt_printf(fmt, "    Pack<%s, %u> a%u;\n",
                           gsh_dtype_cuda_stored(group->arrays[k].dtype),
                           role == GSH_ROLE_ROW ? 1 : layout->vector, k);
    }
    gsh_fmt_text(fmt, "};\nstruct Same {\n");
    for (unsigned k = 0; k < group->array_count; k++)
        if (layout->wiring.roles[k] == GSH_ROLE_SCALAR)
            gsh_fmt_printf(fmt, "    %s a%u;\n", gsh_dtype_cuda_stored(group->arrays[k].dtype), k);
    gsh_fmt_text(fmt, "};\nstruct Results {\n");
    for (unsigned k = 0; k < group->store_count; k++)
        gsh_fmt_printf(fmt, "    Pack<%s, VECTOR> s%u;\n",
                       gsh_dtype_cuda_stored(group->arrays[group->stores[k].array].dtype), k);
    gsh_fmt_text(fmt, "};\nFN Same load_same(const Args &args)\n{\n    Same same;\n");
    for (unsigned k = 0; k < group->array_count; k++)
        if (layout->wiring.roles[k] == GSH_ROLE_SCALAR)
            gsh_fmt_printf(fmt, "    same.a%u = *(const %s *)args.base[%u];\n", k,
                           gsh_dtype_cuda_stored(group->arrays[k].dtype), k);
    gsh_fmt_text(fmt, "    return same;\n}\n");
}

static void write_load(const struct gsh_group *group, const struct gsh_source_layout *layout,
                       struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "FN void load(const Args &args, const Spot &spot, Held &held)\n{\n");
    for (unsigned k = 0; k < group->array_count; k++) {
        enum gsh_source_role role = layout->wiring.roles[k];
        if (role == GSH_ROLE_ARRAY || role == GSH_ROLE_ROW)
            gsh_fmt_printf(
                fmt,
                "    load_pack<%s>(held.a%u, (const char *)args.base[%u] + spot.offset[%u]);\n",
                layout->is_aligned[k] ? "true" : "false", k, k, layout->track[k]);
    }
    gsh_fmt_text(fmt, "}\n");
}

/* Element e of the index arrays. */
static void write_indices(const struct gsh_group *group, const struct gsh_source_layout *layout,
                          struct gsh_fmt *fmt)
{
    unsigned index = 0;
    for (unsigned k = 0; k < group->array_count; k++) {
        if (layout->wiring.roles[k] != GSH_ROLE_INDEX)
            continue;
        gsh_fmt_printf(fmt, "    in.a%u = (i64)args.base[%u] + ", k, k);
        if (layout->ndim == 0)
            gsh_fmt_printf(fmt, "((i64)spot.step * VECTOR + e) * args.along[%u];\n", index++);
        else
            gsh_fmt_printf(fmt, "spot.offset[%u] + e * args.along[%u];\n", layout->track[k],
                           index++);
    }
}

/* A thread's elements one by one. */
static void write_element(const struct gsh_group *group, const struct gsh_source_layout *layout,
                          struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "FN Element element_of(const Args &args, const Spot &spot, const Same &same, "
                      "const Held &held, int e)\n{\n    Element in;\n");
    for (unsigned k = 0; k < group->array_count; k++) {
        enum gsh_source_role role = layout->wiring.roles[k];
        if (role == GSH_ROLE_ARRAY || role == GSH_ROLE_ROW)
            gsh_fmt_printf(fmt, "    in.a%u = held.a%u.element[%s];\n", k, k,
                           role == GSH_ROLE_ROW ? "0" : "e");
        else if (role == GSH_ROLE_SCALAR)
            gsh_fmt_printf(fmt, "    in.a%u = same.a%u;\n", k, k);
    }
    write_indices(group, layout, fmt);
    gsh_fmt_text(fmt, "    return in;\n}\n");
}

static void write_store(const struct gsh_group *group, const struct gsh_source_layout *layout,
                        struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "FN void keep(Results &results, int e, const Result &result)\n{\n");
    for (unsigned k = 0; k < group->store_count; k++)
        gsh_fmt_printf(fmt, "    results.s%u.element[e] = result.s%u;\n", k, k);
    gsh_fmt_text(fmt, "}\nFN void store(const Args &args, const Spot &spot, const "
                      "Results &results)\n{\n");
    for (unsigned k = 0; k < group->store_count; k++) {
        unsigned array = group->stores[k].array;
        gsh_fmt_printf(fmt,
                       "    store_pack<%s>(results.s%u, (char *)args.base[%u] + "
                       "spot.offset[%u]);\n",
                       layout->is_aligned[array] || layout->vector > 1 ? "true" : "false", k, array,
                       layout->track[array]);
    }
    gsh_fmt_text(fmt, "}\n");
}

/* Loads and stores of single elements: element e of a step. */
static void write_single(const struct gsh_group *group, const struct gsh_source_layout *layout,
                         struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "FN Element element_at(const Args &args, const Spot &spot, int e)\n{\n"
                      "    Element in;\n");
    for (unsigned k = 0; k < group->array_count; k++) {
        enum gsh_source_role role = layout->wiring.roles[k];
        if (role != GSH_ROLE_ARRAY && role != GSH_ROLE_ROW && role != GSH_ROLE_SCALAR)
            continue;
        gsh_fmt_printf(fmt, "    in.a%u = *(const %s *)", k,
                       gsh_dtype_cuda_stored(group->arrays[k].dtype));
        if (role == GSH_ROLE_SCALAR)
            gsh_fmt_printf(fmt, "args.base[%u];\n", k);
        else
            gsh_fmt_printf(fmt, "((const char *)args.base[%u] + offset_of(args, spot, %u, e));\n",
                           k, layout->track[k]);
    }
    write_indices(group, layout, fmt);
    gsh_fmt_text(fmt,
                 "    return in;\n}\nFN void store_one(const Args &args, const Spot &spot, int "
                 "e, const Result &result)\n{\n");
    for (unsigned k = 0; k < group->store_count; k++) {
        unsigned array = group->stores[k].array;
        gsh_fmt_printf(
            fmt,
            "    *(%s *)((char *)args.base[%u] + offset_of(args, spot, %u, e)) = result.s%u;\n",
            gsh_dtype_cuda_stored(group->arrays[array].dtype), array, layout->track[array], k);
    }
    gsh_fmt_text(fmt, "}\n");
}

void gsh_source_group_moves_write(const struct gsh_group *group,
                                  const struct gsh_source_layout *layout, struct gsh_fmt *fmt)
{
    write_held(group, layout, fmt);
    write_load(group, layout, fmt);
    write_element(group, layout, fmt);
    write_store(group, layout, fmt);
    write_single(group, layout, fmt);
}
