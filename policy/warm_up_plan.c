/* SPDX-License-Identifier: Apache-2.0
 *
 * When, how small, and which are alike.
 */
#include "warm_up_plan.h"

#define LONGEST INT64_C(1024)          /* extent of a matrix */
#define LARGE INT64_C(256)             /* so long ones come in twos */
#define MOST_MATRICES INT64_C(16)      /* along a dimension of a batch */
#define MOST_BYTES ((size_t)512 << 20) /* of all operands */

enum gsh_warm_up_step gsh_warm_up_plan_next(const struct gsh_warm_up_facts *facts)
{
    if (facts->is_ending)
        return GSH_WARM_UP_RUN;
    if (facts->is_ready && facts->opening != 0)
        return GSH_WARM_UP_OPEN;
    return facts->is_pending ? GSH_WARM_UP_WAIT : GSH_WARM_UP_RUN;
}

bool gsh_warm_up_plan_may_run(const struct gsh_warm_up_facts *facts)
{
    return !facts->is_ending && facts->is_ready;
}

int64_t gsh_warm_up_plan_extent(int64_t extent, int64_t longest)
{
    return longest <= LONGEST ? extent : (extent * LONGEST + longest - 1) / longest;
}

int64_t gsh_warm_up_plan_batch(int64_t longest, bool is_routine, bool is_many)
{
    if (is_routine)
        return is_many ? MOST_MATRICES : 1;
    return longest > LARGE ? 2 : MOST_MATRICES;
}

bool gsh_warm_up_plan_fits(size_t bytes)
{
    return bytes <= MOST_BYTES;
}

uint64_t gsh_warm_up_plan_shape(int64_t rows, int64_t columns, bool is_many)
{
    int64_t longest = GSH_MAX(rows, columns);
    return (uint64_t)is_many << 4 | (uint64_t)(longest > 32) << 3 | (uint64_t)(longest > 512) << 2 |
           (uint64_t)(rows > columns) << 1 | (rows < columns);
}

bool gsh_warm_up_plan_is_smooth(int64_t length)
{
    static const int64_t primes[] = {2, 3, 5, 7};
    for (size_t k = 0; k < GSH_COUNT(primes); k++)
        while (length % primes[k] == 0 && length > 0)
            length /= primes[k];
    return length == 1;
}
