/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole reductions on several cores. NumPy's inner loop, called with an accumulator, reduces parts of the input; the parts'
 * results are joined by the same operation. Parts and joins follow the tree by which NumPy itself sums floats (pairwise
 * summation), so the result is NumPy's to the bit. Of other operations only those are divided for which any tree gives the
 * same bits. Needs no GIL; takes no lock of the project.
 */
#pragma once

#include "numpy_loops.h"

/* Tries a call of an inner loop. False: it is no reduction, or does not pay, and nothing was computed. */
bool gsh_numpy_parallel_reduce_run(const struct gsh_numpy_loop *loop, char **args, int64_t count,
                                   const int64_t *steps);
