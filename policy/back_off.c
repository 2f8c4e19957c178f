/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of the back-off.
 */
#include "back_off.h"

#define MOST_REFUSED 11U /* that count: 2^10 calls are left to the CPU then */

struct gsh_back_off gsh_back_off_after_refused(struct gsh_back_off state)
{
    uint32_t refused = GSH_MIN(state.refused + 1, MOST_REFUSED);
    return (struct gsh_back_off){refused, 1U << (refused - 1)};
}

struct gsh_back_off gsh_back_off_after_completed(struct gsh_back_off state)
{
    return (struct gsh_back_off){0, state.left};
}

bool gsh_back_off_is_due(struct gsh_back_off state)
{
    return state.left > 0;
}

struct gsh_back_off gsh_back_off_after_left(struct gsh_back_off state)
{
    return (struct gsh_back_off){state.refused, state.left - 1};
}
