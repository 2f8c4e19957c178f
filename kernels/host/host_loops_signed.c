/* SPDX-License-Identifier: Apache-2.0
 *
 * ops.def compiled for the CPU: loops of int8, int16, int32, int64.
 */
#include "host_loops_table.h"

#define X(...)                                                                                     \
    GSH_HOST_LOOP(INT8, __VA_ARGS__)                                                               \
    GSH_HOST_LOOP(INT16, __VA_ARGS__)                                                              \
    GSH_HOST_LOOP(INT32, __VA_ARGS__)                                                              \
    GSH_HOST_LOOP(INT64, __VA_ARGS__)
#include "ops.def"
#undef X

const gsh_host_loops_table gsh_host_loops_INT8 = {
#define X(...) GSH_HOST_ENTRY(INT8, __VA_ARGS__)
#include "ops.def"
#undef X
};
const gsh_host_loops_table gsh_host_loops_INT16 = {
#define X(...) GSH_HOST_ENTRY(INT16, __VA_ARGS__)
#include "ops.def"
#undef X
};
const gsh_host_loops_table gsh_host_loops_INT32 = {
#define X(...) GSH_HOST_ENTRY(INT32, __VA_ARGS__)
#include "ops.def"
#undef X
};
const gsh_host_loops_table gsh_host_loops_INT64 = {
#define X(...) GSH_HOST_ENTRY(INT64, __VA_ARGS__)
#include "ops.def"
#undef X
};
