/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the inner loops of NumPy on several cores. The elements of a loop are divided into pieces, which the threads of
 * kernels/host/host_threads.h compute by NumPy's own loop. Each element is computed from the same bytes by the same code, so
 * the result is NumPy's to the bit. Floating-point flags that a thread raises are raised in the caller's thread too, where NumPy looks for them.
 *
 * Off unless the mode is auto and the process may use more than one core. Needs no GIL; takes no lock of the project.
 */
#pragma once

#include "numpy_loops.h"

/* A loop over several dimensions, whose elements may be computed in any order and at once. Dimension 0 is the innermost: each
 * call of NumPy's loop computes a part of it. */
struct gsh_numpy_space {
    const struct gsh_numpy_loop *loop;
    char *first[GSH_MAX_OPERANDS]; /* addresses of the first element, inputs first */
    int ndim;                      /* at least 1 */
    int64_t shape[GSH_MAX_DIMS];   /* all > 0 */
    int64_t strides[GSH_MAX_OPERANDS][GSH_MAX_DIMS]; /* bytes */
    /* In memory: the loop's dtypes or, for numpy_parallel_buffered.h, others. */
    enum gsh_dtype given[GSH_MAX_OPERANDS];
};

/* Called once, at attach: counts the cores. */
void gsh_numpy_parallel_install(void);
/* Whether loops may run on several cores at all. */
bool gsh_numpy_parallel_is_on(void);
/* Threads for work of so many seconds on one core; 1: it does not pay. */
unsigned gsh_numpy_parallel_threads(double seconds);

/* A part of some work, computed by any thread. */
typedef void gsh_numpy_parallel_part(void *context, int64_t part);
/* Computes the parts [0, parts) of work of so many seconds on one core, in several threads. Signal handlers of the program run
 * in between where it takes long. False: nothing was computed, because it does not pay or there are no threads for it. */
bool gsh_numpy_parallel_do(gsh_numpy_parallel_part *compute, void *context, int64_t parts,
                           double seconds);

/* Elements below which no loop or reduction is computed in several threads, where no operand steps by more than
 * GSH_PARALLEL_LOOP_LINE bytes. */
int64_t gsh_numpy_parallel_least(const struct gsh_numpy_loop *loop);

/* Bytes of an element of all operands together; broadcast operands count in the dimensions that they have. */
size_t gsh_numpy_parallel_element_bytes(const struct gsh_numpy_space *space);
/* Whether several threads would compute the space sooner than one. */
bool gsh_numpy_parallel_pays(const struct gsh_numpy_space *space);
/* Computes the space in several threads, if that pays. False: nothing was computed. */
bool gsh_numpy_parallel_run(const struct gsh_numpy_space *space);
/* Computes the space in any case. */
void gsh_numpy_parallel_compute(const struct gsh_numpy_space *space);
/* How many times several threads computed something for this thread. */
uint64_t gsh_numpy_parallel_count(void);
