/* SPDX-License-Identifier: Apache-2.0
 *
 * ops.def compiled for the CPU: loops of uint8, uint16, uint32, uint64.
 */
#include "host_loops_table.h"

#define X(...)                                                                                     \
    GSH_HOST_LOOP(UINT8, __VA_ARGS__)                                                              \
    GSH_HOST_LOOP(UINT16, __VA_ARGS__)                                                             \
    GSH_HOST_LOOP(UINT32, __VA_ARGS__)                                                             \
    GSH_HOST_LOOP(UINT64, __VA_ARGS__)
#include "ops.def"
#undef X

const gsh_host_loops_table gsh_host_loops_UINT8 = {
#define X(...) GSH_HOST_ENTRY(UINT8, __VA_ARGS__)
#include "ops.def"
#undef X
};
const gsh_host_loops_table gsh_host_loops_UINT16 = {
#define X(...) GSH_HOST_ENTRY(UINT16, __VA_ARGS__)
#include "ops.def"
#undef X
};
const gsh_host_loops_table gsh_host_loops_UINT32 = {
#define X(...) GSH_HOST_ENTRY(UINT32, __VA_ARGS__)
#include "ops.def"
#undef X
};
const gsh_host_loops_table gsh_host_loops_UINT64 = {
#define X(...) GSH_HOST_ENTRY(UINT64, __VA_ARGS__)
#include "ops.def"
#undef X
};
