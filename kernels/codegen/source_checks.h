/* SPDX-License-Identifier: Apache-2.0
 *
 * Which operations can meet a floating-point error, and the text that checks for it (it calls
 * kernels/cuda/math/errors.cuh).
 */
#pragma once

#include "source.h"

/* An elementwise operation with the dtypes that its errors depend on. */
struct gsh_source_operation {
    enum gsh_op op;
    enum gsh_dtype loop;
    enum gsh_dtype in[GSH_MAX_INPUTS];  /* of the operands, before their casts */
    enum gsh_dtype out[GSH_OP_OUTPUTS]; /* likewise */
};

bool gsh_source_checks_may_fail(const struct gsh_source_operation *operation);
/* Writes the check of an element's errors, for the place behind the computation of output j. Names in the text:
 * the op's inputs have types L0, L1, L2 and values a, b, c; output j is r<j> of type R<j>, and y<j> of the
 * operand's type Out<j>. `sink` is an expression. */
void gsh_source_checks_write(struct gsh_fmt *fmt, const struct gsh_source_operation *operation,
                             unsigned j, const char *sink);
