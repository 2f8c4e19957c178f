/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts of one call.
 */
#include "call_cost.h"

struct gsh_facts gsh_call_cost_facts(const struct gsh_rates *rates,
                                     const struct gsh_call_cost *cost)
{
    struct gsh_facts facts = {.host =
                                  gsh_cost_model_host_work(rates, &cost->work) * cost->host_factor,
                              .device = gsh_cost_model_device_work(rates, &cost->work)};
    for (unsigned k = 0; k < cost->count; k++)
        gsh_operand_cost_add(rates, &cost->operands[k], &facts);
    gsh_operand_cost_add_results(rates, cost->result_bytes, cost->result_share, &facts);
    return facts;
}
