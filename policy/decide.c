/* SPDX-License-Identifier: Apache-2.0
 *
 * The rule for one call.
 */
#include "decide.h"

#define SMALL 20e-6 /* s on the CPU: no more than the launch itself may cost */

struct gsh_verdict gsh_decide(const struct gsh_facts *facts)
{
    double gain = facts->host + facts->download - facts->device - facts->fetch;
    enum gsh_reason reason = GSH_REASON_NONE;
    if (gain <= 0)
        reason = facts->host < SMALL ? GSH_REASON_TOO_SMALL : GSH_REASON_NO_GAIN;
    else if (gain + facts->debt <= facts->upload)
        reason = GSH_REASON_DATA_ON_HOST;
    return (struct gsh_verdict){.reason = reason, .gain = gain, .facts = *facts};
}

double gsh_decide_loss(const struct gsh_facts *facts)
{
    return facts->device + facts->upload + facts->fetch - facts->host;
}

bool gsh_decide_by_options(const struct gsh_override *options, struct gsh_verdict *verdict)
{
    if (!options->sends_all && options->minimum < 0)
        return false;
    bool is_sent = options->sends_all || options->size >= (double)options->minimum;
    *verdict = (struct gsh_verdict){.reason = is_sent ? GSH_REASON_NONE : GSH_REASON_TOO_SMALL,
                                    .is_forced = is_sent};
    return true;
}
