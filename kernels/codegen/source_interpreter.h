/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of groups: one kernel that is given a group as a program in its arguments. A result has the bits that
 * the group's own kernel would give. No device, no CUDA types.
 */
#pragma once

#include "source.h"

/* The name of its text, gsh_source_stage.key. */
#define GSH_SOURCE_INTERPRETER_KEY "interpreter"

/* Whether it takes the group, collapsed: no sinks; loops of bool, float32, float64 and integers but
 * uint64, and of integers those that neither divide nor are functions; arrays and constants of real dtypes but float16;
 * at most four dimensions and 2^31 - 1 elements. Results are cast to another dtype only where that cannot fail, or is
 * all that a step does. */
bool gsh_source_interpreter_takes(const struct gsh_group *group);
/* The group, with device addresses, as a launch of the interpreter. DECLINED where
 * gsh_source_interpreter_takes is false, and where the program has too many steps or needs too many slots. */
enum gsh_status gsh_source_interpreter_plan(const struct gsh_group *group,
                                            struct gsh_source_stage *stage);
void gsh_source_interpreter_text(struct gsh_fmt *fmt);
