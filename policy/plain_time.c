/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates are those of one core of a Sapphire Rapids (docs/results/archive.md, "Single operations", NumPy's column).
 */
#include "plain_time.h"

#define ZERO_RATE 10e9 /* bytes/s, of pages of 2 MiB, in the kernel */
#define MASK_NS 3.0    /* of an element: between a mask of long runs and a random one */
#define SHARE_DOUBLED 2

static const double core_flops[2] = {75e9, 37.5e9}; /* of a product, float32 and float64 */

/* By how much a product's arithmetic takes longer than at the cost model's rate. */
static double product_factor(const struct gsh_rates *rates, const struct gsh_plain_call *call)
{
    const struct gsh_work *work = &call->work;
    double rate = rates->host_flops[work->is_double];
    double few = GSH_MIN(rate, call->cores * core_flops[work->is_double]);
    return rate / few * (work->host_share < 1 ? SHARE_DOUBLED : 1);
}

static double modelled(const struct gsh_rates *rates, const struct gsh_plain_call *call)
{
    struct gsh_work work = call->work;
    if (call->measured > 0)
        return gsh_cost_model_host_work(rates, &work) * call->measured;
    if (work.kind == GSH_WORK_PRODUCT)
        work.flops *= product_factor(rates, call);
    if (call->is_masked)
        work.host_ns += MASK_NS;
    return gsh_cost_model_host_work(rates, &work);
}

double gsh_plain_time(const struct gsh_rates *rates, const struct gsh_plain_call *call)
{
    return modelled(rates, call) + call->mapped / ZERO_RATE + call->mapped / rates->host_memory;
}
