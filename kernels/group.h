/* SPDX-License-Identifier: Apache-2.0
 *
 * A group: operations over one iteration space, run as one kernel. A step may use results of earlier steps. Each
 * element is loaded once, all steps are computed in order in registers, and only stores and sinks write results to
 * memory. The CPU runs this structure (host_group.h), and CUDA text is generated from it (source.h).
 */
#pragma once

#include "launch.h"

#define GSH_GROUP_STEPS 48
#define GSH_GROUP_ARRAYS 24
#define GSH_GROUP_CONSTANTS 32
#define GSH_GROUP_STORES 8
#define GSH_GROUP_SINKS 4

/* The source of an input: none (the input does not exist), an earlier step, an array, a constant. */
enum gsh_group_source { GSH_FROM_NOTHING, GSH_FROM_STEP, GSH_FROM_ARRAY, GSH_FROM_CONSTANT };

struct gsh_group_input {
    uint8_t source; /* enum gsh_group_source */
    uint8_t index;  /* of the step, array or constant */
    uint8_t output; /* of the step: 0 or 1 */
};

/* Memory that the group reads or writes; one entry is never both. Element x lies at address + the sum of x[d] *
 * strides[d]. An index array has no memory: its element x is that sum itself, as an int64, with strides counted in
 * index steps instead of bytes. It is the index i of an op with GSH_USES_INDEX. */
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

/* out[j] = op(in ...), computed as by an ELEMENTWISE launch: inputs are cast to gsh_op_input_dtype, results from
 * gsh_op_output_dtype to out[j]. Later steps and stores read the result as it would be stored. */
struct gsh_group_step {
    enum gsh_op op;
    enum gsh_dtype loop;
    struct gsh_group_input in[GSH_MAX_INPUTS];
    struct gsh_group_input index; /* the index array of an op with GSH_USES_INDEX */
    enum gsh_dtype out[GSH_OP_OUTPUTS];
    struct gsh_group_input
        mask; /* of bool, or NOTHING; where false, no error is raised and output j is old[j] */
    struct gsh_group_input old[GSH_OP_OUTPUTS]; /* of dtype out[j] */
    struct gsh_error_sink errors;
};

/* Array `array` receives `from`, a step's output of the same dtype. */
struct gsh_group_store {
    struct gsh_group_input from;
    uint8_t array;
};

/* A REDUCE launch over the last nreduce dimensions whose input is `in`. `strides` are those that the input has, or
 * would have if it were stored. They and the shape decide the summation tree, so a result does not depend on the
 * other operations of the group. The array has stride 0 in the reduced dimensions. */
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

/* Every element is loaded before it is stored. A stored array overlaps no array that is read, except one with the
 * same address, strides and dtype size, and no other stored array. */
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
/* The sink as a launch over the group's dimensions, not collapsed. Only the output has an address. A mask that is
 * in no array has the input's strides. */
struct gsh_launch gsh_group_sink_launch(const struct gsh_group *group,
                                        const struct gsh_group_sink *sink);
/* Elements of the iteration space. */
int64_t gsh_group_elements(const struct gsh_group *group);
/* An ELEMENTWISE or REDUCE launch as a group of its own; false for other kinds. */
bool gsh_group_of_launch(struct gsh_group *group, const struct gsh_launch *launch);
/* The same work in the fewest dimensions: drops extents of 1, and merges neighbours that all arrays and sinks step
 * through as one dimension. Kept and reduced dimensions stay apart. Dimensions are not reordered. */
void gsh_group_collapse(struct gsh_group *group);
