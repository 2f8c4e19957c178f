/* SPDX-License-Identifier: Apache-2.0
 *
 * Which operations can meet a floating-point error, and the lines of text that look for it
 * (kernels/cuda/math/errors.cuh has what they call).
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
/* What is said of an element's errors after output j has been computed. In the text stand the op's inputs as L0, L1, L2
 * with values a, b, c, its output r<j> of type R<j>, and that in the operand's type Out<j> as y<j>; `sink` is an
 * expression. */
void gsh_source_checks_write(struct gsh_fmt *fmt, const struct gsh_source_operation *operation,
                             unsigned j, const char *sink);
