/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy's inner loops and the functions of the process's own BLAS and LAPACK, as interposition finds them. The device "host"
 * computes by them, so that results have their bits. Of several for one routine and dtype the last counts.
 */
#pragma once

#include "launch.h"

/* NumPy's signature of an inner loop: the operands' addresses; the batch's extent, then the core dimensions'; the batch's
 * steps, then the core dimensions', operand after operand. */
typedef void gsh_host_routines_loop(char **args, const int64_t *dimensions, const int64_t *steps,
                                    void *data);
typedef void gsh_host_routines_function(void);

struct gsh_host_loop {
    gsh_host_routines_loop *function; /* NULL: none is registered */
    void *data;
};

/* What a routine is known by: a row of lapack.def ... */
static inline unsigned gsh_host_routines_lapack(enum gsh_lapack_routine routine)
{
    return (unsigned)routine;
}
/* ... or a form of product. GE: matmul's loop, and cblas_?gemm; another: the Fortran function (dsyrk_, ztrmm_, ...). */
static inline unsigned gsh_host_routines_product(enum gsh_gemm_form form)
{
    return GSH_LAPACK_COUNT + (unsigned)form;
}

/* Registers a loop. GIL, and before the device runs a launch of the routine. */
void gsh_host_routines_register_loop(unsigned routine, enum gsh_dtype dtype,
                                     gsh_host_routines_loop *loop, void *data);
/* Never NULL. Any thread. */
const struct gsh_host_loop *gsh_host_routines_find_loop(unsigned routine, enum gsh_dtype dtype);

/* Registers a function, whose integers have 32 or 64 bits. Any thread, no lock. */
void gsh_host_routines_register(unsigned routine, enum gsh_dtype dtype,
                                gsh_host_routines_function *function, int integer_bits);
/* The function and the width of its integers; NULL: none is registered. Any thread, no lock. */
gsh_host_routines_function *gsh_host_routines_find(unsigned routine, enum gsh_dtype dtype,
                                                   int *integer_bits);
