/* SPDX-License-Identifier: Apache-2.0
 *
 * Spaces whose rows are short, or not contiguous, or whose inputs are cast: `points - centre` of shapes (n, 3) and (3,), `waves *
 * phase[:, None]`, `counts * weights` of integers and floats. NumPy's iterator copies an operand that is cast, or that one step
 * does not lead through, into a buffer of 8192 elements, in the loop's order. Here each thread does the same with smaller
 * buffers, so that NumPy's inner loop meets the steps that it would meet there, and gives the same bits. Needs no GIL; takes
 * no lock.
 */
#pragma once

#include "numpy_parallel.h"

/* Whether NumPy itself copies operands of the space to buffers, so that gsh_numpy_parallel_buffered_compute gives its bits; and one step
 * leads through each output. NumPy 1.23 to 2.4, whose buffers have their default size. */
bool gsh_numpy_parallel_buffered_takes(const struct gsh_numpy_space *space);
/* Whether several threads, or one thread, would compute the space sooner than NumPy's iterator. */
bool gsh_numpy_parallel_buffered_pays(const struct gsh_numpy_space *space);
/* Computes a space that is taken: in several threads, if there are some. */
void gsh_numpy_parallel_buffered_compute(const struct gsh_numpy_space *space);
