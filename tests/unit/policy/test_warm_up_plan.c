/* SPDX-License-Identifier: Apache-2.0
 *
 * When a routine is warmed up, by how small a launch, and for which calls; and what is computed again rather than stored.
 */
#include "warm_up_plan.h"

#include "check.h"
#include "rematerialise.h"

static void check_steps(void)
{
    struct gsh_warm_up_facts facts = {.is_pending = true};
    CHECK_INT(gsh_warm_up_plan_next(&facts), GSH_WARM_UP_WAIT);
    facts = (struct gsh_warm_up_facts){.is_ready = true, .opening = 0.1};
    CHECK_INT(gsh_warm_up_plan_next(&facts), GSH_WARM_UP_OPEN);
    facts.opening = 0;
    CHECK_INT(gsh_warm_up_plan_next(&facts), GSH_WARM_UP_RUN);
    CHECK(gsh_warm_up_plan_may_run(&facts));
    facts.is_ending = true;
    CHECK(!gsh_warm_up_plan_may_run(&facts));
    facts = (struct gsh_warm_up_facts){.is_ending = true, .is_pending = true};
    CHECK_INT(gsh_warm_up_plan_next(&facts), GSH_WARM_UP_RUN); /* nobody waits for it any more */
    facts = (struct gsh_warm_up_facts){.opening = 0.1};        /* the device is retired */
    CHECK_INT(gsh_warm_up_plan_next(&facts), GSH_WARM_UP_RUN);
    CHECK(!gsh_warm_up_plan_may_run(&facts));
}

static void check_extents(void)
{
    for (int64_t longest = 1; longest < 100000; longest = longest * 3 / 2 + 1) {
        int64_t last = 0;
        for (int64_t extent = 0; extent <= longest; extent += longest / 50 + 1) {
            int64_t small = gsh_warm_up_plan_extent(extent, longest);
            CHECK(small <= extent && small <= 1024 && small >= last && (small > 0) == (extent > 0));
            CHECK(longest > 1024 || small == extent);
            last = small;
        }
        CHECK_INT(gsh_warm_up_plan_extent(longest, longest), GSH_MIN(longest, 1024));
    }
    CHECK_INT(gsh_warm_up_plan_batch(256, false, false), 16);
    CHECK_INT(gsh_warm_up_plan_batch(257, false, true), 2);
    CHECK_INT(gsh_warm_up_plan_batch(20, true, true), 16);
    CHECK_INT(gsh_warm_up_plan_batch(20, true, false), 1);
    CHECK(gsh_warm_up_plan_fits((size_t)512 << 20) &&
          !gsh_warm_up_plan_fits(((size_t)512 << 20) + 1));
}

static void check_alike(void)
{
    CHECK(gsh_warm_up_plan_shape(100, 100, false) == gsh_warm_up_plan_shape(500, 500, false));
    const int64_t shapes[][3] = {{30, 30, 0},  {30, 30, 1},   {100, 100, 0}, {100, 90, 0},
                                 {90, 100, 0}, {600, 600, 0}, {600, 90, 0}};
    for (unsigned i = 0; i < GSH_COUNT(shapes); i++)
        for (unsigned j = 0; j < GSH_COUNT(shapes); j++) {
            uint64_t x = gsh_warm_up_plan_shape(shapes[i][0], shapes[i][1], shapes[i][2]),
                     y = gsh_warm_up_plan_shape(shapes[j][0], shapes[j][1], shapes[j][2]);
            CHECK((x == y) == (i == j) && x < 32);
        }
    CHECK(gsh_warm_up_plan_is_smooth(1) && gsh_warm_up_plan_is_smooth(2 * 27 * 125 * 7));
    CHECK(!gsh_warm_up_plan_is_smooth(11) && !gsh_warm_up_plan_is_smooth(2 * 13) &&
          !gsh_warm_up_plan_is_smooth(0));
}

/* More stored bytes speak for it, more loads and more arithmetic against it; without a device it never happens. */
static void check_recompute(void)
{
    const struct gsh_rates rates = {.device_memory = 1e12, .device_cores = 1000};
    CHECK(gsh_rematerialise_could_pay(&rates, 2.1e6) &&
          !gsh_rematerialise_could_pay(&rates, 1.9e6));
    CHECK(gsh_rematerialise_pays(&rates, 1e7, 0, 0));
    CHECK(!gsh_rematerialise_pays(&rates, 1e7, 9e6, 0));
    CHECK(!gsh_rematerialise_pays(&rates, 1e7, 0, 1e7));
    CHECK(!gsh_rematerialise_could_pay(NULL, 1e12) && !gsh_rematerialise_pays(NULL, 1e12, 0, 0));
}

int main(void)
{
    check_steps();
    check_extents();
    check_alike();
    check_recompute();
    return check_result();
}
