/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch as CUDA C text: op, dtypes and layout class decide the text, sizes and strides are
 * arguments, so one kernel serves every shape of its class. No CUDA types, no device.
 *
 * A kernel's geometry (grid, block, shared memory, scratch) is computed here too, from the launch
 * alone, never from the GPU's size, so that a reduction's tree, and so its bits, do not depend on
 * the machine.
 */
#pragma once

#include "fmt.h"
#include "group.h"
#include "status.h"

#define GSH_SOURCE_KEY_SIZE 128
#define GSH_SOURCE_MAX_STAGES 5
#define GSH_SOURCE_ARGUMENT_BYTES 4064 /* CUDA allows 4096 */

/* One kernel of the work: entry point "gsh_kernel", one __grid_constant__-like struct passed by
 * value. */
struct gsh_source_stage {
    char key[GSH_SOURCE_KEY_SIZE]; /* canonical name of the text, e.g. "add_d_dada_d_v2" */
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    unsigned char arguments[GSH_SOURCE_ARGUMENT_BYTES]; /* the kernel's only parameter, by value */
    size_t argument_bytes;
};

struct gsh_source_plan {
    unsigned
        stage_count; /* a reduction over many elements needs two, a scan three, a group one more than it has sinks */
    struct gsh_source_stage stages[GSH_SOURCE_MAX_STAGES];
    size_t scratch_bytes; /* device memory the stages share; gsh_source_plan is given its address */
};

/* Scratch bytes that the launch (already collapsed) needs; 0 for most. */
size_t gsh_source_scratch(const struct gsh_launch *launch);
/* Geometry, keys and arguments of an elementwise launch and the like, and of a GEMM that is no BLAS's (already collapsed,
 * device addresses inside). DECLINED where no kernel exists for it. `scratch` is a device address of
 * gsh_source_scratch bytes, or 0. */
enum gsh_status gsh_source_plan(const struct gsh_launch *launch, uint64_t scratch,
                                struct gsh_source_plan *plan);
/* The text of stage `stage`'s kernel, for NVRTC (C++17, --fmad=false). Uses only the launch's op,
 * dtypes and layout class. */
void gsh_source_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);

/* The same for a group (already collapsed, device addresses inside). DECLINED also where it has more arrays, dimensions
 * and error sinks than arguments have room for. */
size_t gsh_source_group_scratch(const struct gsh_group *group);
enum gsh_status gsh_source_group_plan(const struct gsh_group *group, uint64_t scratch,
                                      struct gsh_source_plan *plan);
void gsh_source_group_text(const struct gsh_group *group, unsigned stage, struct gsh_fmt *fmt);
