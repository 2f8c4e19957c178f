/* SPDX-License-Identifier: Apache-2.0
 *
 * See source_group_layout.h. With sinks a pack is a unit of their tree, or a part of one.
 */
#include "source_group_layout.h"

#include "source_parts.h"

#define PACK_BYTES 16
#define MAX_VECTOR 4
#define MAX_UNROLL 4
#define FLIGHT_BYTES 64 /* a thread's concurrent loads that hide the memory's latency */
#define MAX_COPIES 64   /* of steps in the text: more compile too slowly */
#define HEAVY_NS 1.5    /* NumPy's time per element from which steps count as bound by arithmetic */

static int64_t size_of(const struct gsh_group *group, unsigned k)
{
    return (int64_t)gsh_dtype_size(group->arrays[k].dtype);
}

/* Whether a step loads or stores elements of the array, in packs or one by one: it is in memory, and its strides
 * are not all 0. */
static bool is_moved(const struct gsh_source_layout *layout, unsigned k)
{
    return layout->is_stored[k] || layout->wiring.roles[k] == GSH_ROLE_ARRAY;
}

static bool is_constant(const struct gsh_group *group, unsigned k)
{
    for (int d = 0; d < group->ndim; d++)
        if (group->arrays[k].strides[d] != 0)
            return false;
    return group->ndim > 0;
}

/* Whether the address, and the strides of the first `dims` dimensions, are multiples of `unit` bytes. */
static bool is_multiple(const struct gsh_group_array *array, int dims, int64_t unit)
{
    uint64_t bits = array->address;
    for (int d = 0; d < dims; d++)
        bits |= (uint64_t)array->strides[d];
    return (bits & (uint64_t)(unit - 1)) == 0;
}

static bool is_dense(const struct gsh_group *group, const struct gsh_source_layout *layout)
{
    if (group->ndim > 1)
        return false;
    for (unsigned k = 0; group->ndim == 1 && k < group->array_count; k++)
        if (is_moved(layout, k) && group->arrays[k].strides[0] != size_of(group, k))
            return false;
    return true;
}

/* Whether `vector` neighbours of the array form a pack or are one element. */
static bool fits_array(const struct gsh_group *group, const struct gsh_source_layout *layout,
                       unsigned k, int64_t vector)
{
    const struct gsh_group_array *array = &group->arrays[k];
    int last = group->ndim - 1;
    if (layout->ndim == 0)
        return is_multiple(array, 0, vector * size_of(group, k));
    if (array->strides[last] == 0 && !layout->is_stored[k])
        return true;
    return array->strides[last] == size_of(group, k) &&
           is_multiple(array, last, vector * size_of(group, k));
}

static bool fits(const struct gsh_group *group, const struct gsh_source_layout *layout,
                 int64_t vector)
{
    bool has_rest = layout->ndim == 0 || (group->sink_count > 0 && group->nreduce == 1);
    if (!has_rest && group->shape[group->ndim - 1] % vector != 0)
        return false;
    for (unsigned k = 0; k < group->array_count; k++)
        if (is_moved(layout, k) && !fits_array(group, layout, k, vector))
            return false;
    return true;
}

/* The longest pack of at most `vector` elements that all arrays allow. */
static unsigned longest_pack(const struct gsh_group *group, const struct gsh_source_layout *layout,
                             int64_t vector)
{
    int64_t widest = 1;
    for (unsigned k = 0; k < group->array_count; k++)
        if (is_moved(layout, k))
            widest = GSH_MAX(widest, size_of(group, k));
    vector = GSH_MIN(PACK_BYTES / widest, vector);
    while (vector > 1 && (vector * group->step_count > MAX_COPIES || !fits(group, layout, vector)))
        vector /= 2;
    return (unsigned)vector;
}

static bool is_heavy(const struct gsh_group *group)
{
    double ns = 0;
    for (unsigned s = 0; s < group->step_count; s++)
        ns += gsh_op_info(group->steps[s].op)->host_ns;
    return ns >= HEAVY_NS;
}

/* Whether elements of the array are read more than once; later reads hit a cache. */
static bool is_broadcast(const struct gsh_group *group, unsigned k)
{
    for (int d = 0; d < group->ndim; d++)
        if (group->shape[d] != 1 && group->arrays[k].strides[d] == 0)
            return true;
    return false;
}

/* Steps of a thread. */
static void set_unroll(const struct gsh_group *group, struct gsh_source_layout *layout)
{
    int64_t bytes = 0, unroll = MAX_UNROLL;
    for (unsigned k = 0; k < group->array_count; k++)
        if (layout->wiring.roles[k] == GSH_ROLE_ARRAY && !is_broadcast(group, k))
            bytes += layout->vector * size_of(group, k);
    if (layout->is_heavy || bytes == 0)
        unroll = 2;
    while (unroll > 1 && (unroll * bytes > FLIGHT_BYTES ||
                          unroll * layout->vector * group->step_count > MAX_COPIES))
        unroll /= 2;
    layout->unroll = (unsigned)unroll;
}

/* A unit of the sinks' tree is some packs. */
static void set_units(const struct gsh_group *group, const struct gsh_source_tree *tree,
                      struct gsh_source_layout *layout)
{
    layout->vector = longest_pack(group, layout, tree->pack);
    layout->unroll = layout->is_heavy ? GSH_MIN(2, (unsigned)tree->unroll) : (unsigned)tree->unroll;
    while (layout->unroll > 1 &&
           layout->unroll * (unsigned)tree->pack * group->step_count > MAX_COPIES)
        layout->unroll /= 2;
}

/* Arrays whose strides are all 0 get the role SCALAR. */
static void set_roles(const struct gsh_group *group, struct gsh_source_layout *layout)
{
    for (unsigned k = 0; k < group->array_count; k++)
        if (layout->wiring.roles[k] == GSH_ROLE_ARRAY && is_constant(group, k))
            layout->wiring.roles[k] = GSH_ROLE_SCALAR;
}

static void set_rows(const struct gsh_group *group, struct gsh_source_layout *layout)
{
    for (unsigned k = 0; k < group->array_count; k++)
        if (layout->ndim > 0 && layout->vector > 1 && layout->wiring.roles[k] == GSH_ROLE_ARRAY &&
            group->arrays[k].strides[group->ndim - 1] == 0)
            layout->wiring.roles[k] = GSH_ROLE_ROW;
}

static bool is_stepped_alike(const struct gsh_group *group, const struct gsh_source_layout *layout,
                             unsigned a, unsigned b)
{
    if (layout->ndim == 0)
        return size_of(group, a) == size_of(group, b);
    return memcmp(group->arrays[a].strides, group->arrays[b].strides,
                  (size_t)group->ndim * sizeof(int64_t)) == 0;
}

bool gsh_source_group_layout_has_track(const struct gsh_source_layout *layout, unsigned k)
{
    enum gsh_source_role role = layout->wiring.roles[k];
    return is_moved(layout, k) || role == GSH_ROLE_ROW ||
           (role == GSH_ROLE_INDEX && layout->ndim > 0);
}

static void note_strides(const int64_t *strides, int count, struct gsh_source_layout *layout)
{
    for (int d = 0; d < count; d++)
        if (strides[d] * MAX_VECTOR != (int32_t)(strides[d] * MAX_VECTOR))
            layout->is_short = false;
}

static void set_tracks(const struct gsh_group *group, struct gsh_source_layout *layout)
{
    for (unsigned k = 0; k < group->array_count; k++) {
        unsigned t = 0;
        layout->indices += layout->wiring.roles[k] == GSH_ROLE_INDEX;
        if (!gsh_source_group_layout_has_track(layout, k))
            continue;
        while (t < layout->tracks && !is_stepped_alike(group, layout, k, layout->leader[t]))
            t++;
        layout->track[k] = (uint8_t)t;
        if (t < layout->tracks)
            continue;
        layout->leader[layout->tracks++] = (uint8_t)k;
        note_strides(group->arrays[k].strides, group->ndim, layout);
    }
}

/* Only complex arrays may be aligned to their parts instead of their elements. */
static void set_alignment(const struct gsh_group *group, struct gsh_source_layout *layout)
{
    for (unsigned k = 0; k < group->array_count; k++)
        layout->is_aligned[k] = gsh_dtype_kind(group->arrays[k].dtype) != 'c' ||
                                is_multiple(&group->arrays[k], group->ndim, size_of(group, k));
}

/* Strides of the arrays that the sinks write, and the width of indices. */
static void note_sinks(const struct gsh_group *group, const struct gsh_source_sinks *sinks,
                       struct gsh_source_layout *layout)
{
    for (unsigned k = 0; k < group->sink_count; k++) {
        note_strides(group->arrays[group->sinks[k].array].strides, group->ndim, layout);
        note_strides(sinks->scratch_strides[k], sinks->kept, layout);
    }
    layout->is_wide = sinks->tree.is_wide;
}

enum gsh_status gsh_source_group_layout_make(const struct gsh_group *group,
                                             struct gsh_source_layout *layout,
                                             struct gsh_source_sinks *sinks)
{
    bool has_sinks = group->sink_count > 0;
    if (!gsh_source_group_steps_wire(group, &layout->wiring))
        return GSH_DECLINED;
    if (has_sinks)
        GSH_TRY(gsh_source_group_sinks_set(group, sinks));
    memset(layout->is_stored, 0, sizeof(layout->is_stored));
    for (unsigned k = 0; k < group->store_count; k++)
        layout->is_stored[group->stores[k].array] = true;
    layout->tracks = layout->indices = 0;
    layout->is_short = true;
    layout->is_heavy = is_heavy(group);
    layout->is_wide = gsh_group_elements(group) > INT32_MAX;
    set_roles(group, layout);
    layout->ndim = !has_sinks && is_dense(group, layout) ? 0 : group->ndim;
    if (has_sinks)
        set_units(group, &sinks->tree, layout);
    else {
        layout->vector = longest_pack(group, layout, MAX_VECTOR);
        set_unroll(group, layout);
    }
    set_rows(group, layout);
    set_tracks(group, layout);
    set_alignment(group, layout);
    if (has_sinks)
        note_sinks(group, sinks, layout);
    return GSH_OK;
}
