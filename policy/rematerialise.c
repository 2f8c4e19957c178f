/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory traffic against arithmetic.
 */
#include "rematerialise.h"

#define LEAST_GAIN 2e-6 /* s; planning takes time too */

bool gsh_rematerialise_could_pay(const struct gsh_rates *rates, double stored)
{
    return rates != NULL && gsh_cost_model_moving(rates, stored) >= LEAST_GAIN;
}

bool gsh_rematerialise_pays(const struct gsh_rates *rates, double stored, double loaded,
                            double host_ns)
{
    return rates != NULL && gsh_cost_model_moving(rates, stored - loaded) -
                                    gsh_cost_model_computing(rates, host_ns) >=
                                LEAST_GAIN;
}
