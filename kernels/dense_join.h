/* SPDX-License-Identifier: Apache-2.0
 *
 * A REDUCE or SCAN launch in two parts: a copy of its input to scratch memory without gaps, cast to the loop's dtype, and the
 * launch on the copy. The second part needs the kernel of a common layout only, so it can run while the kernel of the whole is
 * compiled. Only for results that do not depend on the order in which elements are joined, which that kernel's layout decides: the
 * bits are the same. Pure functions.
 */
#pragma once

#include "launch.h"

/* Bytes of the copy; 0 where the launch has no parts: it is of another kind, has a mask, reads a constant, its input's cast can
 * fail, its result depends on the order, or its input is such a copy already. */
size_t gsh_dense_join_scratch(const struct gsh_launch *launch);
/* Sets an ELEMENTWISE launch, and the launch on its output; both are collapsed. The copy keeps the order in which the input's
 * dimensions lie in memory. `scratch`: the address of gsh_dense_join_scratch bytes, which are not 0. */
void gsh_dense_join_make(const struct gsh_launch *launch, uint64_t scratch, struct gsh_launch *copy,
                         struct gsh_launch *join);
