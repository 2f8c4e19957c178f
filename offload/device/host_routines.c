/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "host_routines.h"

#define ROUTINES (GSH_LAPACK_COUNT + GSH_GEMM_FORMS)

/* By the width of their integers, and which of them was registered last: a thread that registers one while another runs
 * leaves it a function with its own width. */
enum { NARROW, WIDE, WIDTHS };
static gsh_host_routines_function *functions[ROUTINES][GSH_DTYPE_COUNT][WIDTHS]; /* atomic */
static int last_registered[ROUTINES][GSH_DTYPE_COUNT];                           /* atomic */
static struct gsh_host_loop loops[ROUTINES][GSH_DTYPE_COUNT];

void gsh_host_routines_register_loop(unsigned routine, enum gsh_dtype dtype,
                                     gsh_host_routines_loop *loop, void *data)
{
    loops[routine][dtype] = (struct gsh_host_loop){loop, data};
}

const struct gsh_host_loop *gsh_host_routines_find_loop(unsigned routine, enum gsh_dtype dtype)
{
    return &loops[routine][dtype];
}

void gsh_host_routines_register(unsigned routine, enum gsh_dtype dtype,
                                gsh_host_routines_function *function, int integer_bits)
{
    int width = integer_bits == 64 ? WIDE : NARROW;
    __atomic_store_n(&functions[routine][dtype][width], function, __ATOMIC_RELAXED);
    __atomic_store_n(&last_registered[routine][dtype], width,
                     __ATOMIC_RELEASE); /* pairs with find */
}

gsh_host_routines_function *gsh_host_routines_find(unsigned routine, enum gsh_dtype dtype,
                                                   int *integer_bits)
{
    int width = __atomic_load_n(&last_registered[routine][dtype], __ATOMIC_ACQUIRE);
    *integer_bits = width == WIDE ? 64 : 32;
    return __atomic_load_n(&functions[routine][dtype][width], __ATOMIC_RELAXED);
}
