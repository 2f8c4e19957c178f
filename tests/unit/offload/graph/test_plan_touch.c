/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses that share a byte collide, those in different places of a common step do not; and what shares a byte with an
 * access collides with one that covers it. All small accesses are tried.
 */
#include "check.h"
#include "plan_internal.h"

enum { LOWS = 7, STEPS = 7, COUNTS = 3, WIDTHS = 4, ALL = LOWS * STEPS * COUNTS * WIDTHS };

static struct gsh_plan_touch touches[ALL];
static uint64_t bytes[ALL]; /* those that the access touches */

static struct gsh_plan_touch make(int64_t low, int64_t step, int64_t count, int64_t width)
{
    int64_t high = low + step * (count - 1) + width;
    return (struct gsh_plan_touch){
        .range = {low, high}, .step = count > 1 ? step : 0, .width = width};
}

static uint64_t bytes_of(int64_t low, int64_t step, int64_t count, int64_t width)
{
    uint64_t set = 0;
    for (int64_t index = 0; index < count; index++)
        for (int64_t k = 0; k < width; k++)
            set |= UINT64_C(1) << (low + index * step + k);
    return set;
}

static void make_all(void)
{
    for (int n = 0; n < ALL; n++) {
        int64_t low = n % LOWS, step = n / LOWS % STEPS + 1, count = n / LOWS / STEPS % COUNTS + 1,
                width = n / LOWS / STEPS / COUNTS + 1;
        touches[n] = make(low, step, count, width);
        bytes[n] = bytes_of(low, step, count, width);
    }
}

static void check_collide(void)
{
    unsigned missed = 0, found = 0;
    for (int x = 0; x < ALL; x++)
        for (int y = 0; y < ALL; y++) {
            bool collide = gsh_plan_collide(&touches[x], &touches[y]);
            missed += !collide && (bytes[x] & bytes[y]) != 0;
            found += !collide && gsh_plan_overlap(touches[x].range, touches[y].range);
        }
    CHECK_INT(missed, 0);
    CHECK(found > 1000);
}

static void check_covers(void)
{
    unsigned wrong = 0;
    for (int x = 0; x < ALL; x++)
        for (int y = 0; y < ALL; y++)
            for (int other = 0; gsh_plan_covers(&touches[x], &touches[y]) && other < ALL; other++)
                wrong += (bytes[other] & bytes[y]) != 0 &&
                         !gsh_plan_collide(&touches[other], &touches[x]);
    CHECK_INT(wrong, 0);
}

static void check_planes(void)
{
    struct gsh_plan_touch first = make(0, 800, 100, 8), second = make(8, 800, 100, 8),
                          all = make(0, 8, 10000, 8);
    CHECK(!gsh_plan_collide(&first, &second));
    CHECK(gsh_plan_collide(&first, &first));
    CHECK(gsh_plan_collide(&first, &all) && gsh_plan_collide(&all, &second));
    CHECK(gsh_plan_covers(&first, &first) && gsh_plan_covers(&all, &second));
    CHECK(!gsh_plan_covers(&first, &all));
}

int main(void)
{
    make_all();
    check_collide();
    check_covers();
    check_planes();
    return check_result();
}
