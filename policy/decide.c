/* SPDX-License-Identifier: Apache-2.0
 *
 * The one rule of the policy.
 */
#include "decide.h"

struct gsh_verdict gsh_decide(const struct gsh_facts *facts)
{
    double gain = facts->host + facts->download - facts->device - facts->fetch;
    enum gsh_reason reason = GSH_REASON_NONE;
    if (gain <= 0)
        reason = GSH_REASON_TOO_SMALL;
    else if (gain + facts->debt <= facts->upload)
        reason = GSH_REASON_DATA_ON_HOST;
    return (struct gsh_verdict){.reason = reason, .gain = gain, .has_data = facts->download > 0};
}
