/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that gained nothing leaves no profile even where the start has no price.
 */
#include "script_profile.h"

#define KEPT_SHARE 0.5 /* of the price, for a profile that exists */

bool gsh_script_profile_pays(double gains, double price, bool has_profile)
{
    return gains > 0 && gains >= price * (has_profile ? KEPT_SHARE : 1);
}

bool gsh_script_profile_is_left(const struct gsh_script_run *run)
{
    return !run->has_failed && !run->has_set_devices && !run->forked_before_start &&
           gsh_script_profile_pays(run->gains, run->price, run->has_profile);
}
