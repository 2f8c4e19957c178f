/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch as CUDA C text. Op, dtypes and layout class decide the text; sizes and strides are arguments, so one
 * kernel serves every shape of its class. No CUDA types, no device.
 *
 * A kernel's geometry (grid, block, shared memory, scratch) is computed here too. It depends on the launch only,
 * never on the GPU's size, so the form of a reduction's tree, and with it the result's bits, are the same on every
 * machine.
 */
#pragma once

#include "fmt.h"
#include "group.h"
#include "status.h"

#define GSH_SOURCE_KEY_SIZE 128
#define GSH_SOURCE_MAX_STAGES 8
#define GSH_SOURCE_ARGUMENT_BYTES 4064 /* CUDA allows 4096 */

/* One kernel of the launch: entry point "gsh_kernel", one __grid_constant__-like struct passed by value. */
struct gsh_source_stage {
    char key[GSH_SOURCE_KEY_SIZE]; /* canonical name of the text, e.g. "add_d_dada_d_v2" */
    unsigned grid[3], block[3];
    /* How often it is launched; where that is more than once, the first word of the arguments counts from 0. */
    unsigned runs;
    unsigned shared_bytes;
    unsigned char arguments[GSH_SOURCE_ARGUMENT_BYTES]; /* the kernel's only parameter, by value */
    size_t argument_bytes;
};

struct gsh_source_plan {
    unsigned
        stage_count; /* of many elements: reductions 2, scans 3, sorts 5; of groups: 1 + sinks */
    struct gsh_source_stage stages[GSH_SOURCE_MAX_STAGES];
    size_t scratch_bytes; /* device memory the stages share; gsh_source_plan is given its address */
};

/* Scratch bytes that the launch (already collapsed) needs; 0 for most. */
size_t gsh_source_scratch(const struct gsh_launch *launch);
/* Geometry, keys and arguments of a launch that has a kernel of this folder, e.g. elementwise ones and GEMMs of
 * dtypes that BLAS lacks. The launch is collapsed and has device addresses. DECLINED where no kernel exists for
 * it. `scratch` is a device address of gsh_source_scratch bytes, or 0. */
enum gsh_status gsh_source_plan(const struct gsh_launch *launch, uint64_t scratch,
                                struct gsh_source_plan *plan);
/* True where gsh_source_plan surely gives OK; told from kind, op, dtypes and size, without a plan. False: only a plan can tell. */
bool gsh_source_is_certain(const struct gsh_launch *launch);
/* The text of stage `stage`'s kernel, for NVRTC (C++17, --fmad=false). Uses only the launch's op,
 * dtypes and layout class. */
void gsh_source_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);

/* The same for a group (already collapsed, device addresses inside). DECLINED also where its arrays, dimensions
 * and error sinks exceed the size of the arguments. */
size_t gsh_source_group_scratch(const struct gsh_group *group);
enum gsh_status gsh_source_group_plan(const struct gsh_group *group, uint64_t scratch,
                                      struct gsh_source_plan *plan);
void gsh_source_group_text(const struct gsh_group *group, unsigned stage, struct gsh_fmt *fmt);
