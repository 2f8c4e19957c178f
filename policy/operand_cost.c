/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of transfers.
 */
#include "operand_cost.h"

static void add_block(const struct gsh_rates *rates, const struct gsh_operand_facts *operand,
                      struct gsh_facts *facts)
{
    double lacking = operand->missing - operand->expected;
    double upload =
        gsh_cost_model_transfer(rates, lacking, operand->is_pinned, operand->is_pinnable);
    facts->upload += gsh_ledger_asking_price(operand->ledger, upload);
    double download = gsh_cost_model_transfer(rates, operand->away, operand->is_pinned, false);
    facts->download += gsh_ledger_download_price(operand->ledger, download);
    if (lacking > 0)
        facts->debt += operand->ledger->debt;
}

static void add_unmanaged(const struct gsh_rates *rates, const struct gsh_operand_facts *operand,
                          struct gsh_facts *facts)
{
    double seconds = operand->is_temporary
                         ? gsh_cost_model_unmanaged_transfer(rates, operand->bytes)
                         : gsh_cost_model_transfer(rates, operand->bytes, false, false);
    facts->fetch += operand->is_written ? seconds : 0;
    facts->upload += operand->is_read ? seconds : 0;
}

void gsh_operand_cost_add(const struct gsh_rates *rates, const struct gsh_operand_facts *operand,
                          struct gsh_facts *facts)
{
    if (operand->place == GSH_OPERAND_BLOCK)
        add_block(rates, operand, facts);
    else
        add_unmanaged(rates, operand, facts);
}

void gsh_operand_cost_add_results(const struct gsh_rates *rates, double bytes, double share,
                                  struct gsh_facts *facts)
{
    if (share > 0)
        facts->fetch += share * gsh_cost_model_transfer(rates, bytes, true, false);
}
