/* SPDX-License-Identifier: Apache-2.0
 *
 * The vectors that loops use, and loops of elementary functions by the C library's vector functions (libmvec), which
 * are loaded on request because they may be absent. The result for an element depends on that element only, not on
 * its place in a block or on its neighbours.
 */
#pragma once

#include "host_loops.h"

/* Selects the widest vectors that the processor has. May load a library: no lock may be held. Called before any
 * thread computes; once is enough. */
void gsh_host_vector_init(void);
/* Selects vectors of 128, 256 or 512 bits; false where the processor lacks them. 0, the initial state: vectors
 * that every processor has, without vector functions; true. */
bool gsh_host_vector_use(unsigned bits);
/* The bits of the vectors in use. */
unsigned gsh_host_vector_bits(void);
/* The op's loop by vector functions of the C library; NULL where none exists. */
gsh_host_loop *gsh_host_vector_find(enum gsh_op op, enum gsh_dtype loop);
