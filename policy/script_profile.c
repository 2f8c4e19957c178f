/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that gained nothing leaves no profile even where the start has no price.
 */
#include "script_profile.h"

bool gsh_script_profile_pays(double gains, double price)
{
    return gains > 0 && gains >= price;
}

bool gsh_script_profile_is_left(const struct gsh_script_run *run)
{
    return !run->has_failed && !run->forked_before_start &&
           gsh_script_profile_pays(run->gains, run->price);
}
