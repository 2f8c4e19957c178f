/* SPDX-License-Identifier: Apache-2.0
 *
 * The factors are those of ops.def and reductions.def, and those that numerics.md and linear_algebra.md state for products,
 * transforms and decompositions.
 */
#include "contract.h"

#include <math.h>

/* The factor of n eps that linear_algebra.md states, for residuals. */
#define RESIDUAL_FACTOR 30.0

static bool is_inexact(enum gsh_dtype dtype)
{
    return gsh_dtype_kind(dtype) == 'f' || gsh_dtype_kind(dtype) == 'c';
}

static struct gsh_contract of_op(const struct gsh_launch *launch)
{
    unsigned ulps = gsh_op_max_ulp(launch->op, launch->loop);
    if (ulps == 0)
        return (struct gsh_contract){.kind = GSH_CONTRACT_EXACT};
    /* these count in units of the larger input where the result is smaller */
    bool by_inputs = launch->op == GSH_OP_LOGADDEXP || launch->op == GSH_OP_LOGADDEXP2;
    bool is_power = launch->op == GSH_OP_POWER || launch->op == GSH_OP_FLOAT_POWER;
    bool is_open = (is_power && gsh_dtype_kind(launch->loop) == 'c') ||
                   (gsh_op_info(launch->op)->flags & GSH_OPEN) != 0;
    return (struct gsh_contract){.kind = by_inputs ? GSH_CONTRACT_MAGNITUDE : GSH_CONTRACT_ULPS,
                                 .factor = ulps,
                                 .least = (gsh_op_info(launch->op)->flags & GSH_OF_ONE) ? 1 : 0,
                                 .is_open = is_open};
}

static struct gsh_contract of_reduction(const struct gsh_launch *launch)
{
    unsigned ulps = is_inexact(launch->loop) ? gsh_reduction_info(launch->reduction)->max_ulp : 0;
    if (ulps == 0)
        return (struct gsh_contract){.kind = GSH_CONTRACT_EQUAL};
    return (struct gsh_contract){.kind = GSH_CONTRACT_MAGNITUDE, .factor = 2.0 * ulps};
}

static struct gsh_contract of_draw(const struct gsh_launch *launch)
{
    (void)launch;
    return (struct gsh_contract){.kind = GSH_CONTRACT_EXACT};
}

static struct gsh_contract of_product(const struct gsh_launch *launch)
{
    if (!is_inexact(launch->loop) || launch->loop == GSH_FLOAT16)
        return (struct gsh_contract){.kind = GSH_CONTRACT_EXACT};
    double terms = (double)GSH_MAX(launch->gemm.k, 1) + 1; /* and beta C */
    return (struct gsh_contract){.kind = GSH_CONTRACT_MAGNITUDE, .factor = 2 * terms};
}

static struct gsh_contract of_transform(const struct gsh_launch *launch)
{
    double points = 1;
    for (int d = 0; d < launch->fft.rank; d++)
        points *= (double)launch->fft.length[d];
    return (struct gsh_contract){.kind = GSH_CONTRACT_NORM, .factor = log2(2 * points)};
}

static struct gsh_contract of_filter(const struct gsh_launch *launch)
{
    (void)launch;
    return (struct gsh_contract){.kind = GSH_CONTRACT_EXACT};
}

static struct gsh_contract of_lapack(const struct gsh_launch *launch)
{
    int64_t order = 1;
    for (unsigned k = 0; k < launch->nin; k++)
        for (int d = 0; d < GSH_CORE_DIMS; d++)
            order = GSH_MAX(order, launch->lapack.cores[k].extent[d]);
    return (struct gsh_contract){.kind = GSH_CONTRACT_RESIDUAL,
                                 .factor = RESIDUAL_FACTOR * (double)order};
}

static struct gsh_contract of_element(const struct gsh_launch *launch)
{
    if (gsh_launch_has(launch, GSH_TRAIT_HAS_NO_OP))
        return (struct gsh_contract){.kind = GSH_CONTRACT_EXACT};
    return gsh_launch_has(launch, GSH_TRAIT_JOINS) ? of_reduction(launch) : of_op(launch);
}

struct gsh_contract gsh_contract_of(const struct gsh_launch *launch)
{
    static struct gsh_contract (*const of[])(const struct gsh_launch *launch) = {
#define X(kind, dtypes, errors, replay, host, source, unit, ...) [GSH_LAUNCH_##kind] = of_##unit,
#include "launch_kinds.def"
#undef X
    };
    return of[launch->kind](launch);
}

struct gsh_contract gsh_contract_join(struct gsh_contract first, struct gsh_contract second)
{
    struct gsh_contract joined = {.kind = GSH_MAX(first.kind, second.kind),
                                  .factor = first.factor + second.factor,
                                  .least = GSH_MAX(first.least, second.least),
                                  .is_open = first.is_open || second.is_open};
    /* what follows a rounded step may magnify its error */
    if (joined.kind == GSH_CONTRACT_ULPS)
        joined.kind = GSH_CONTRACT_MAGNITUDE;
    return joined;
}
