/* SPDX-License-Identifier: Apache-2.0
 *
 * Look-ups in reductions.def.
 */
#include "reductions.h"

#include <string.h>

static const struct gsh_reduction_info reductions[GSH_REDUCTION_COUNT] = {
#define X(name, label, ufunc, dtypes, result, max_ulp, combine, neutral)                           \
    {label, ufunc, dtypes, GSH_RESULT_##result, max_ulp, GSH_OP_##combine, GSH_NEUTRAL_##neutral},
#include "reductions.def"
#undef X
};

const struct gsh_reduction_info *gsh_reduction_info(enum gsh_reduction reduction)
{
    return &reductions[reduction];
}

enum gsh_dtype gsh_reduction_output_dtype(enum gsh_reduction reduction, enum gsh_dtype loop)
{
    return gsh_op_result_dtype(reductions[reduction].result, loop);
}

bool gsh_reduction_has_loop(enum gsh_reduction reduction, enum gsh_dtype loop)
{
    return reduction < GSH_REDUCTION_COUNT && loop < GSH_DTYPE_COUNT &&
           (reductions[reduction].dtypes >> loop & 1) != 0;
}

bool gsh_reduction_is_ordered(enum gsh_reduction reduction, enum gsh_dtype loop)
{
    return reductions[reduction].combine == GSH_OP_MULTIPLY && (GSH_SET_INEXACT >> loop & 1) != 0;
}

bool gsh_reduction_may_sink(enum gsh_reduction reduction, enum gsh_dtype loop)
{
    return gsh_reduction_has_loop(reduction, loop) && !gsh_reduction_is_ordered(reduction, loop) &&
           reductions[reduction].result != GSH_RESULT_INDEX;
}

int gsh_reduction_find(const char *ufunc)
{
    for (int reduction = 0; reduction < GSH_REDUCTION_COUNT; reduction++)
        if (*ufunc != '\0' && strcmp(reductions[reduction].ufunc, ufunc) == 0)
            return reduction;
    return -1;
}
