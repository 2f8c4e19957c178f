/* SPDX-License-Identifier: Apache-2.0
 *
 * A rest raises the threshold of the hooks, and ends when its time is over.
 */
#include "check.h"
#include "clock.h"
#include "decide.h"
#include "small_call_rest.h"

static _Atomic int64_t least = GSH_DECIDE_LEAST_ELEMENTS;

static void check_rest(void)
{
    gsh_small_call_rest_init(&least);
    gsh_small_call_rest_begin(20000, 0.02);
    CHECK_INT(least, 20001);
    gsh_small_call_rest_begin(30000, 1.0); /* one at a time */
    gsh_small_call_rest_check();
    CHECK_INT(least, 20001);
    for (uint64_t end = gsh_clock_ns() + 20000000; gsh_clock_ns() <= end;)
        continue;
    CHECK_INT(least, 20001);
    gsh_small_call_rest_check();
    CHECK_INT(least, GSH_DECIDE_LEAST_ELEMENTS);
    gsh_small_call_rest_begin(30000, 1.0);
    CHECK_INT(least, 30001);
}

static void check_none(void)
{
    gsh_small_call_rest_until = 0;
    least = GSH_DECIDE_LEAST_ELEMENTS;
    gsh_small_call_rest_begin(100, 1.0); /* such calls are not looked at anyway */
    CHECK_INT(least, GSH_DECIDE_LEAST_ELEMENTS);
    gsh_small_call_rest_init(NULL);
    gsh_small_call_rest_begin(20000, 1.0);
    CHECK_INT(gsh_small_call_rest_until, 0);
}

int main(void)
{
    check_rest();
    check_none();
    return check_result();
}
