/* SPDX-License-Identifier: Apache-2.0
 *
 * Hands a launch to the file of its kind.
 */
#include "host_ops.h"

#include "host_elementwise.h"
#include "host_index.h"
#include "host_reduce.h"
#include "host_scan.h"

bool gsh_host_ops_supports(const struct gsh_launch *launch)
{
    switch (launch->kind) {
    case GSH_LAUNCH_ELEMENTWISE:
        return gsh_host_elementwise_supports(launch);
    case GSH_LAUNCH_REDUCE:
        return gsh_host_reduce_supports(launch);
    case GSH_LAUNCH_SCAN:
        return gsh_host_scan_supports(launch);
    case GSH_LAUNCH_TAKE:
    case GSH_LAUNCH_PUT:
    case GSH_LAUNCH_COMPRESS:
    case GSH_LAUNCH_EXPAND:
        return gsh_host_index_supports(launch);
    case GSH_LAUNCH_GEMM:
    case GSH_LAUNCH_LAPACK:
    case GSH_LAUNCH_FFT:
        break;
    }
    return false;
}

static void run(const struct gsh_launch *launch)
{
    switch (launch->kind) {
    case GSH_LAUNCH_ELEMENTWISE:
        gsh_host_elementwise_run(launch);
        break;
    case GSH_LAUNCH_REDUCE:
        gsh_host_reduce_run(launch);
        break;
    case GSH_LAUNCH_SCAN:
        gsh_host_scan_run(launch);
        break;
    default:
        gsh_host_index_run(launch);
        break;
    }
}

enum gsh_status gsh_host_ops_run(const struct gsh_launch *launch)
{
    if (!gsh_host_ops_supports(launch))
        return GSH_DECLINED;
    run(launch);
    return GSH_OK;
}
