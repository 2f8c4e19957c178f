/* SPDX-License-Identifier: Apache-2.0
 *
 * A group as a list of instructions on slots, for blocks of at most GSH_HOST_BLOCK elements. A slot holds one value
 * for each element of the block, contiguous. It lies in a buffer of the thread, in the group's own memory, or, where
 * all elements have one value, in a shared buffer that is filled once for the run.
 */
#pragma once

#include "group.h"
#include "host_loops.h"

#define GSH_HOST_GROUP_SLOTS 768
#define GSH_HOST_GROUP_INPUTS 5
#define GSH_HOST_GROUP_NO_SLOT UINT16_MAX

/* The form of a slot's elements: a dtype in stored form, or floats that stand for the float16 values of a loop. */
#define GSH_HOST_GROUP_FLOATS_OF_HALF GSH_DTYPE_COUNT

enum gsh_host_group_place {
    GSH_HOST_GROUP_BUFFER, /* one of the thread's */
    GSH_HOST_GROUP_MEMORY, /* an array of the group, in place */
    GSH_HOST_GROUP_SHARED  /* the same for every element: filled by the setup */
};

struct gsh_host_group_slot {
    struct gsh_group_input of; /* the value held; NOTHING: an intermediate value of the step */
    uint8_t form;              /* enum gsh_dtype, or GSH_HOST_GROUP_FLOATS_OF_HALF */
    uint8_t place;             /* enum gsh_host_group_place */
    uint16_t number;           /* of the buffer, the array, the shared buffer */
    uint16_t last;             /* the last instruction that uses it */
};

enum gsh_host_group_action {
    GSH_HOST_GROUP_FILL,    /* out = constant `number` */
    GSH_HOST_GROUP_GATHER,  /* out = array `number` */
    GSH_HOST_GROUP_CONVERT, /* out = cast of in[0] */
    GSH_HOST_GROUP_SOURCE,  /* looks for errors in the first cast of COPY's source in[0] */
    GSH_HOST_GROUP_RUN,     /* out[0], out[1] = loop of in[0 ..], array `number` being the index */
    GSH_HOST_GROUP_ROUND, /* out = in[0], the result `number` of the step, as it would be stored */
    GSH_HOST_GROUP_BLEND, /* out = in[0] where in[2] is true, else in[1] */
    GSH_HOST_GROUP_STORE  /* array `number` = in[0] */
};

struct gsh_host_group_instruction {
    uint8_t action; /* enum gsh_host_group_action */
    uint8_t step;   /* the step that it belongs to */
    uint8_t number;
    bool checks_errors;                 /* the step looks for errors */
    uint16_t in[GSH_HOST_GROUP_INPUTS]; /* slots; also those that must only be kept */
    uint16_t out[GSH_OP_OUTPUTS];
    gsh_host_loop *loop;
};

struct gsh_host_group_list {
    unsigned count;
    struct gsh_host_group_instruction at[GSH_HOST_GROUP_SLOTS];
};

struct gsh_host_group_program {
    const struct gsh_group *group;
    int trailing; /* the first dimension in which a block's elements may differ */
    bool is_linear[GSH_GROUP_ARRAYS];     /* the trailing dimensions step as one in the array */
    unsigned slot_count, buffers, shared; /* buffers, shared: counts, of buffer_bytes each */
    size_t buffer_bytes;
    struct gsh_host_group_slot slots[GSH_HOST_GROUP_SLOTS];
    uint16_t sink_in[GSH_GROUP_SINKS], sink_mask[GSH_GROUP_SINKS];
    struct gsh_host_group_list setup, body; /* run once; run for each block */
};

/* Bytes of an element in a slot. */
static inline size_t gsh_host_group_form_size(uint8_t form)
{
    return form == GSH_HOST_GROUP_FLOATS_OF_HALF ? sizeof(float)
                                                 : gsh_dtype_size((enum gsh_dtype)form);
}

/* Writes the program, which keeps a pointer to the group. `sinks`: bit set of the sinks whose inputs are computed.
 * Without `stores` nothing is stored. */
void gsh_host_group_program_make(struct gsh_host_group_program *program,
                                 const struct gsh_group *group, int trailing, unsigned sinks,
                                 bool stores);
