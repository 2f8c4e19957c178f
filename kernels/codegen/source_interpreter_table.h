/* SPDX-License-Identifier: Apache-2.0
 *
 * What the interpreter's text and its programs agree on: which operations and casts there are, and their codes.
 */
#pragma once

#include "source_interpreter.h"

#define GSH_INTERPRETER_LOOPS 4
#define GSH_INTERPRETER_CASTS_FROM 5
#define GSH_INTERPRETER_FIRST_CAST 3 /* behind LOAD, STORE, LOCATE */
#define GSH_INTERPRETER_FIRST_OP                                                                   \
    (GSH_INTERPRETER_FIRST_CAST + GSH_INTERPRETER_CASTS_FROM * GSH_DTYPE_COUNT)

/* The loops' dtypes in the order of the codes, and the dtypes from which is cast: int64 stands for all integers that it
 * can hold. */
extern const enum gsh_dtype gsh_source_interpreter_table_loops[GSH_INTERPRETER_LOOPS];
extern const enum gsh_dtype gsh_source_interpreter_table_casts[GSH_INTERPRETER_CASTS_FROM];

/* Whether values of the dtype are held in slots. */
bool gsh_source_interpreter_table_holds(enum gsh_dtype dtype);
/* The loop in which an integer loop is computed: that of int64 for those whose integers it can hold. Else the loop itself. */
enum gsh_dtype gsh_source_interpreter_table_computed(enum gsh_dtype loop);
/* Whether the interpreter computes output j of the op. SELECT and COPY are not among these: a choice among words serves
 * all dtypes, and a copy is a cast or nothing. */
bool gsh_source_interpreter_table_has(enum gsh_op op, unsigned j, enum gsh_dtype loop);
/* The code of output j in the computed loop, where there is one; of a choice; of a cast between dtypes that are held. */
unsigned gsh_source_interpreter_table_op_code(enum gsh_op op, unsigned j, enum gsh_dtype loop);
unsigned gsh_source_interpreter_table_select_code(void);
unsigned gsh_source_interpreter_table_cast_code(enum gsh_dtype from, enum gsh_dtype to);
