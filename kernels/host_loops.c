/* SPDX-License-Identifier: Apache-2.0
 *
 * Look-ups in the tables of loops.
 */
#include "host_loops.h"

#include "host_loops_table.h"

gsh_host_loop *gsh_host_loops_find(enum gsh_op op, enum gsh_dtype loop)
{
    static const gsh_host_loops_table *const tables[GSH_DTYPE_COUNT] = {
#define X(name, ...) &gsh_host_loops_##name,
#include "dtypes.def"
#undef X
    };
    return op < GSH_OP_COUNT && loop < GSH_DTYPE_COUNT ? (*tables[loop])[op] : NULL;
}

enum gsh_dtype gsh_host_loops_dtype(enum gsh_dtype dtype)
{
    return dtype == GSH_FLOAT16 ? GSH_FLOAT32 : dtype;
}
