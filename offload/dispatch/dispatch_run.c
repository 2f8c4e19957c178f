/* SPDX-License-Identifier: Apache-2.0
 *
 * gsh_dispatch_run, with what the trace and profilers are told of a call.
 */
#include "dispatch.h"
#include "dispatch_internal.h"
#include "nvtx.h"
#include "trace.h"

static __attribute__((noinline)) enum gsh_status run_traced(const struct gsh_call *call,
                                                            enum gsh_reason *why)
{
    GSH_NVTX_RANGE_OF_ROW(call->row);
    GSH_TRACE_CAUSE("operand of", gsh_launch_name(&call->launch));
    uint64_t begin = gsh_trace_begin();
    enum gsh_status status = gsh_dispatch_run_untraced(call, why);
    if (status == GSH_OK)
        GSH_TRACE_END(begin, CALLS, .row = call->row);
    return status;
}

enum gsh_status gsh_dispatch_run(const struct gsh_call *call, enum gsh_reason *why)
{
    return GSH_UNLIKELY(gsh_trace_is_on || gsh_nvtx_is_on) ? run_traced(call, why)
                                                           : gsh_dispatch_run_untraced(call, why);
}
