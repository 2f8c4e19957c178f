/* SPDX-License-Identifier: Apache-2.0
 *
 * ops.def compiled for the CPU: loops of bool, float16, float32, float64.
 */
#include "host_loops_table.h"

#define X(...)                                                                                     \
    GSH_HOST_LOOP(BOOL, __VA_ARGS__)                                                               \
    GSH_HOST_LOOP(FLOAT16, __VA_ARGS__)                                                            \
    GSH_HOST_LOOP(FLOAT32, __VA_ARGS__)                                                            \
    GSH_HOST_LOOP(FLOAT64, __VA_ARGS__)
#include "ops.def"
#undef X

const gsh_host_loops_table gsh_host_loops_BOOL = {
#define X(...) GSH_HOST_ENTRY(BOOL, __VA_ARGS__)
#include "ops.def"
#undef X
};
const gsh_host_loops_table gsh_host_loops_FLOAT16 = {
#define X(...) GSH_HOST_ENTRY(FLOAT16, __VA_ARGS__)
#include "ops.def"
#undef X
};
const gsh_host_loops_table gsh_host_loops_FLOAT32 = {
#define X(...) GSH_HOST_ENTRY(FLOAT32, __VA_ARGS__)
#include "ops.def"
#undef X
};
const gsh_host_loops_table gsh_host_loops_FLOAT64 = {
#define X(...) GSH_HOST_ENTRY(FLOAT64, __VA_ARGS__)
#include "ops.def"
#undef X
};
