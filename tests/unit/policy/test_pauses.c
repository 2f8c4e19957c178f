/* SPDX-License-Identifier: Apache-2.0
 *
 * Short pauses, long ones, and places where the program is known to pause.
 */
#include "pauses.h"

#include "check.h"

static struct gsh_pauses pauses;

/* Rounds without an operation after `count` ones until the pause is long; 0: not within `most` rounds. */
static unsigned pause_of(uint64_t count, uint64_t place, unsigned most)
{
    for (unsigned round = 1; round <= most; round++)
        if (gsh_pauses_is_long(&pauses, count, place))
            return round;
    return 0;
}

int main(void)
{
    for (uint64_t count = 1; count < 100; count++)
        CHECK_INT(pause_of(count, count % 3, GSH_PAUSES_ROUNDS), 0);
    CHECK_INT(pause_of(100, 7, 100), GSH_PAUSES_ROUNDS + 1);
    CHECK_INT(pause_of(101, 8, GSH_PAUSES_ROUNDS), 0);
    CHECK_INT(pause_of(102, 7, 100), 2);
    CHECK_INT(pause_of(103, 8, 100), GSH_PAUSES_ROUNDS + 1);
    for (uint64_t place = 9; place < 9 + GSH_PAUSES_PLACES - 1; place++)
        CHECK_INT(pause_of(200 + place, place, 100), GSH_PAUSES_ROUNDS + 1);
    CHECK_INT(pause_of(300, 8, 100), 2);
    CHECK_INT(pause_of(301, 7, 100), GSH_PAUSES_ROUNDS + 1); /* the oldest is forgotten */
    return check_result();
}
