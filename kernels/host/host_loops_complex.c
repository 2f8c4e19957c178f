/* SPDX-License-Identifier: Apache-2.0
 *
 * ops.def compiled for the CPU: loops of complex64, complex128.
 */
#include "host_loops_table.h"

#define X(...)                                                                                     \
    GSH_HOST_LOOP(COMPLEX64, __VA_ARGS__)                                                          \
    GSH_HOST_LOOP(COMPLEX128, __VA_ARGS__)
#include "ops.def"
#undef X

const gsh_host_loops_table gsh_host_loops_COMPLEX64 = {
#define X(...) GSH_HOST_ENTRY(COMPLEX64, __VA_ARGS__)
#include "ops.def"
#undef X
};
const gsh_host_loops_table gsh_host_loops_COMPLEX128 = {
#define X(...) GSH_HOST_ENTRY(COMPLEX128, __VA_ARGS__)
#include "ops.def"
#undef X
};
