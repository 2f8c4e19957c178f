/* SPDX-License-Identifier: Apache-2.0
 *
 * The vectors that loops use, and loops of elementary functions by the C library's vector
 * functions, libmvec: loaded when asked for, as it may be absent. What they give for an element
 * depends on the element alone: not on its place in a block, nor on its neighbours.
 */
#pragma once

#include "host_loops.h"

/* Takes the widest vectors that the processor has. May load a library: no lock may be held. Before
 * any thread computes; once is enough. */
void gsh_host_vector_init(void);
/* Vectors of 128, 256 or 512 bits; false where the processor lacks them. 0, as it is at the start:
 * what every processor has, and no vector functions; true. */
bool gsh_host_vector_use(unsigned bits);
/* Of the vectors in use. */
unsigned gsh_host_vector_bits(void);
/* The op's loop by the C library's vector functions; NULL where there is none. */
gsh_host_loop *gsh_host_vector_find(enum gsh_op op, enum gsh_dtype loop);
