/* SPDX-License-Identifier: Apache-2.0
 *
 * The backend's functions between two switches of the stop-watch.
 */
#include "transfer.h"

#include "dispatch_lock.h"
#include "nvtx.h"
#include "stats.h"
#include "trace.h"
#include "wall_time.h"

enum gsh_status gsh_transfer_upload(uint64_t dst, const void *src, size_t size, bool registered)
{
    GSH_WALL_TIME(GSH_WALL_TRANSFERS);
    GSH_NVTX_RANGE("transfer", size);
    gsh_dispatch_lock_wait_launch();
    uint64_t begin = gsh_trace_begin();
    GSH_TRY(gsh_backend_get()->upload(dst, src, size, registered));
    GSH_TRACE_TRANSFER(begin, UPLOADS, size);
    return GSH_OK;
}

enum gsh_status gsh_transfer_download(void *dst, uint64_t src, size_t size, bool registered)
{
    if (gsh_stats_report_is_wanted())
        GSH_TRY(gsh_transfer_finish());
    GSH_WALL_TIME(GSH_WALL_TRANSFERS);
    GSH_NVTX_RANGE("transfer", size);
    uint64_t begin = gsh_trace_begin();
    GSH_TRY(gsh_backend_get()->download(dst, src, size, registered));
    GSH_TRACE_TRANSFER(begin, DOWNLOADS, size);
    return GSH_OK;
}

enum gsh_status gsh_transfer_finish(void)
{
    GSH_WALL_TIME(GSH_WALL_DEVICE);
    return gsh_backend_get()->finish();
}

enum gsh_status gsh_transfer_synchronize(void)
{
    GSH_WALL_TIME(GSH_WALL_DEVICE);
    return gsh_backend_get()->synchronize();
}
