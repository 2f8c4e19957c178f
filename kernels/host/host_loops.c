/* SPDX-License-Identifier: Apache-2.0
 *
 * Look-ups in the tables of loops.
 */
#include "host_loops.h"

#include "host_loops_table.h"
#include "host_vector.h"

/* NULL where no such loop exists, or the vectors in use do not allow it. */
static gsh_host_loop *find_wide(enum gsh_op op, enum gsh_dtype loop)
{
    if (gsh_host_vector_bits() < 256 || (loop != GSH_FLOAT32 && loop != GSH_FLOAT64))
        return NULL;
    return (loop == GSH_FLOAT32 ? gsh_host_loops_wide_FLOAT32 : gsh_host_loops_wide_FLOAT64)[op];
}

gsh_host_loop *gsh_host_loops_find(enum gsh_op op, enum gsh_dtype loop)
{
    static const gsh_host_loops_table *const tables[GSH_DTYPE_COUNT] = {
#define X(name, ...) &gsh_host_loops_##name,
#include "dtypes.def"
#undef X
    };
    if (op >= GSH_OP_COUNT || loop >= GSH_DTYPE_COUNT)
        return NULL;
    gsh_host_loop *found = gsh_host_vector_find(op, loop);
    if (found == NULL)
        found = find_wide(op, loop);
    return found != NULL ? found : (*tables[loop])[op];
}

enum gsh_dtype gsh_host_loops_dtype(enum gsh_dtype dtype)
{
    return dtype == GSH_FLOAT16 ? GSH_FLOAT32 : dtype;
}
