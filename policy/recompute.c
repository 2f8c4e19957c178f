/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory traffic against arithmetic.
 */
#include "recompute.h"

#define LEAST_GAIN 2e-6 /* s; planning takes time too */

bool gsh_recompute_could_pay(const struct gsh_rates *rates, double stored)
{
    return rates != NULL && gsh_cost_moving(rates, stored) >= LEAST_GAIN;
}

bool gsh_recompute_pays(const struct gsh_rates *rates, double stored, double loaded, double host_ns)
{
    return rates != NULL &&
           gsh_cost_moving(rates, stored - loaded) - gsh_cost_computing(rates, host_ns) >=
               LEAST_GAIN;
}
