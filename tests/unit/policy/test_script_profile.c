/* SPDX-License-Identifier: Apache-2.0
 *
 * Which runs leave a profile: those whose gains reach the price, or half of it where there is a profile; more of them never
 * undoes it; and nothing leaves one for a
 * device that failed, for children that were forked before the start, or where the program chooses its devices itself.
 */
#include "script_profile.h"

#include "check.h"

static const double seconds[] = {0, 1e-6, 1e-3, 0.1, 0.4, 0.6, 2, 50};
enum { STEPS = GSH_COUNT(seconds) };

static void check_run(double gains, double price)
{
    struct gsh_script_run run = {.gains = gains, .price = price};
    bool pays = gsh_script_profile_pays(gains, price, false);
    CHECK_INT(pays, gains > 0 && gains >= price);
    CHECK(!pays || gsh_script_profile_pays(gains * 2, price, false));
    CHECK_INT(gsh_script_profile_pays(gains, price, true), gains > 0 && gains >= price / 2);
    CHECK_INT(gsh_script_profile_is_left(&run), pays);
    run.has_profile = true;
    CHECK_INT(gsh_script_profile_is_left(&run), gsh_script_profile_pays(gains, price, true));
    run.has_failed = true;
    CHECK(!gsh_script_profile_is_left(&run));
    run = (struct gsh_script_run){.gains = gains, .price = price, .forked_before_start = true};
    CHECK(!gsh_script_profile_is_left(&run));
    run = (struct gsh_script_run){.gains = gains, .price = price, .has_set_devices = true};
    CHECK(!gsh_script_profile_is_left(&run));
}

int main(void)
{
    for (unsigned point = 0; point < STEPS * STEPS; point++)
        check_run(seconds[point % STEPS], seconds[point / STEPS]);
    return check_result();
}
