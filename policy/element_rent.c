/* SPDX-License-Identifier: Apache-2.0
 *
 * At most twice the cost of the better choice.
 */
#include "element_rent.h"

#define FAULT_SECONDS 20e-6 /* a page fault and two changes of protection, beside the transfer */

struct gsh_element_price gsh_element_rent_read_price(const struct gsh_rates *rates, double bytes,
                                                     bool is_pinned)
{
    return (struct gsh_element_price){
        .access = rates->transfer_call,
        .fetch = FAULT_SECONDS + gsh_cost_model_transfer(rates, bytes, is_pinned, false)};
}

struct gsh_element_price gsh_element_rent_store_price(const struct gsh_rates *rates, double bytes,
                                                      bool is_pinned)
{
    return (struct gsh_element_price){
        .access = rates->device_call,
        .fetch = FAULT_SECONDS + 2 * gsh_cost_model_transfer(rates, bytes, is_pinned, false)};
}

bool gsh_element_rent_pay(struct gsh_element_rent *rent, const struct gsh_element_price *price,
                          bool is_first)
{
    if (is_first)
        rent->paid = 0;
    bool is_due = rent->paid > 0 && rent->paid + price->access > price->fetch;
    rent->paid = is_due ? 0 : rent->paid + price->access;
    return !is_due;
}
