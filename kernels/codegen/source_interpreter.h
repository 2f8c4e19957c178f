/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of groups: kernels that are given a group as a program in their arguments, so that they serve every
 * group of their family. A result has the bits that the group's own kernel would give. No device, no CUDA types.
 */
#pragma once

#include "source.h"

/* The operations of a kernel. A family's kernel has the registers of its hungriest operation, so a program runs in the
 * first family that has all of its operations. */
enum gsh_source_interpreter_family {
    GSH_INTERPRETER_PLAIN, /* a few instructions an element */
    GSH_INTERPRETER_FULL,  /* also exp, sin, pow and others */
    GSH_INTERPRETER_FAMILIES
};

/* Whether an interpreter takes the group, collapsed: no sinks; loops of bool, int32, int64, float32 and float64, and of
 * these, for integers, those that neither divide nor are functions; arrays and constants of real dtypes but float16;
 * at most four dimensions and 2^31 - 1 elements. Results are cast to another dtype only where that cannot fail, or is
 * all that a step does. */
bool gsh_source_interpreter_takes(const struct gsh_group *group);
/* The group, with device addresses, as the only launch of its family's kernel. DECLINED where
 * gsh_source_interpreter_takes is false, and where the program has too many steps or needs too many slots. */
enum gsh_status gsh_source_interpreter_plan(const struct gsh_group *group,
                                            struct gsh_source_stage *stage);
/* The first family that has all operations of a group that is taken. */
enum gsh_source_interpreter_family
gsh_source_interpreter_find_family(const struct gsh_group *group);
/* The name of a family's text, gsh_source_stage.key. */
const char *gsh_source_interpreter_text_key(enum gsh_source_interpreter_family family);
void gsh_source_interpreter_text(enum gsh_source_interpreter_family family, struct gsh_fmt *fmt);
