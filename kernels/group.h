/* SPDX-License-Identifier: Apache-2.0
 *
 * A group: operations over one iteration space that feed each other, run as one kernel. Each element
 * is loaded once, all steps are computed in order on what is held in registers, and only what is
 * listed as a store or a sink leaves them. The same structure is run by the CPU (host_group.h) and
 * written as CUDA text (source.h).
 */
#pragma once

#include "launch.h"

#define GSH_GROUP_STEPS 48
#define GSH_GROUP_ARRAYS 24
#define GSH_GROUP_CONSTANTS 32
#define GSH_GROUP_STORES 8
#define GSH_GROUP_SINKS 4

/* Where an input comes from: nowhere (there is none), an earlier step, an array, a constant. */
enum gsh_group_source { GSH_FROM_NOTHING, GSH_FROM_STEP, GSH_FROM_ARRAY, GSH_FROM_CONSTANT };

struct gsh_group_input {
    uint8_t source; /* enum gsh_group_source */
    uint8_t index;  /* of the step, array or constant */
    uint8_t output; /* of the step: 0 or 1 */
};

/* Memory that the group reads or writes; never both through one entry. Element x lies at address + the sum of x[d] *
 * strides[d]. An index array has no memory: its element x is that sum itself, as an int64, with steps of 1 where others
 * have bytes; it is what an op with GSH_USES_INDEX takes as i. */
struct gsh_group_array {
    enum gsh_dtype dtype;
    bool is_index;
    uint64_t address; /* a device address; of an index array the first index */
    int64_t strides[GSH_MAX_DIMS];
};

struct gsh_group_constant {
    enum gsh_dtype dtype;
    union gsh_scalar value;
};

/* out[j] = op(in ...), as an ELEMENTWISE launch computes it: inputs cast to gsh_op_input_dtype, results from
 * gsh_op_output_dtype to out[j]; what a later step or a store takes is what would have been stored. */
struct gsh_group_step {
    enum gsh_op op;
    enum gsh_dtype loop;
    struct gsh_group_input in[GSH_MAX_INPUTS];
    struct gsh_group_input index; /* the index array of an op with GSH_USES_INDEX */
    enum gsh_dtype out[GSH_OP_OUTPUTS];
    struct gsh_group_input
        mask; /* of bool, or NOTHING; where it is false the op is not looked at (no errors either)
                                    and output j is old[j] */
    struct gsh_group_input old[GSH_OP_OUTPUTS]; /* of dtype out[j] */
    struct gsh_error_sink errors;
};

/* Array `array` receives `from`, a step's output of the same dtype. */
struct gsh_group_store {
    struct gsh_group_input from;
    uint8_t array;
};

/* A REDUCE launch over the last nreduce dimensions whose input is `in`. `strides` are those that the input has, or would
 * have if it were stored: the summation tree follows from them and the shape, so that a result does not depend on what
 * it was fused with. The array has stride 0 in the reduced dimensions. */
struct gsh_group_sink {
    enum gsh_reduction reduction;
    enum gsh_dtype loop;
    struct gsh_group_input in, mask; /* mask: elements to leave out are false; or NOTHING */
    int64_t strides[GSH_MAX_DIMS];
    uint8_t array;
    bool has_initial;
    union gsh_scalar initial;
    struct gsh_error_sink errors;
};

/* Every element's loads happen before its stores; a stored array overlaps no array that is read but one with the same
 * address, strides and dtype size, and no other stored one. */
struct gsh_group {
    int ndim, nreduce; /* nreduce: dimensions at the end that the sinks reduce; 0 without sinks */
    int64_t shape[GSH_MAX_DIMS];
    unsigned array_count, constant_count, step_count, store_count, sink_count;
    struct gsh_group_array arrays[GSH_GROUP_ARRAYS];
    struct gsh_group_constant constants[GSH_GROUP_CONSTANTS];
    struct gsh_group_step steps[GSH_GROUP_STEPS];
    struct gsh_group_store stores[GSH_GROUP_STORES];
    struct gsh_group_sink sinks[GSH_GROUP_SINKS];
};

/* The arrays that stores write, and those that sinks write: bit a for array a. */
static inline uint32_t gsh_group_stored(const struct gsh_group *group)
{
    uint32_t arrays = 0;
    for (unsigned k = 0; k < group->store_count; k++)
        arrays |= UINT32_C(1) << group->stores[k].array;
    return arrays;
}
static inline uint32_t gsh_group_joined(const struct gsh_group *group)
{
    uint32_t arrays = 0;
    for (unsigned k = 0; k < group->sink_count; k++)
        arrays |= UINT32_C(1) << group->sinks[k].array;
    return arrays;
}

/* The dtype of an input: that of the array, constant or step's output. */
enum gsh_dtype gsh_group_dtype(const struct gsh_group *group, struct gsh_group_input input);
/* The sink as a launch over the group's dimensions as they are, not collapsed; only the output has an address, and a mask
 * that no array holds steps as the input does. */
struct gsh_launch gsh_group_sink_launch(const struct gsh_group *group,
                                        const struct gsh_group_sink *sink);
/* Elements of the iteration space. */
int64_t gsh_group_elements(const struct gsh_group *group);
/* An ELEMENTWISE or REDUCE launch as a group of its own; false for other kinds. */
bool gsh_group_of_launch(struct gsh_group *group, const struct gsh_launch *launch);
/* Same work, fewest dimensions: drops extents of 1 and merges neighbours that step as one in all arrays and sinks; kept
 * and reduced dimensions stay apart. Dimensions are not reordered. */
void gsh_group_collapse(struct gsh_group *group);
