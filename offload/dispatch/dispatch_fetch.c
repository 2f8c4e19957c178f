/* SPDX-License-Identifier: Apache-2.0
 *
 * gsh_dispatch_fetch: the operands of a call that is left to the CPU.
 */
#include "coherence.h"
#include "dispatch.h"
#include "readers.h"
#include "wall_time.h"

void gsh_dispatch_fetch(const struct gsh_call *call)
{
    GSH_WALL_TIME(GSH_WALL_DISPATCH);
    GSH_READER(gsh_launch_name(&call->launch));
    for (unsigned k = 0; k < gsh_launch_operands(&call->launch); k++) {
        const struct gsh_operand *operand = &call->launch.operands[k];
        if (operand->is_constant || operand->address == 0)
            continue;
        int64_t low = 0, high = 0;
        gsh_launch_extent(&call->launch, k, &low, &high);
        gsh_coherence_fetch((const void *)(operand->address + (uint64_t)low), (size_t)(high - low),
                            gsh_launch_is_output(&call->launch, k));
    }
}
