/* SPDX-License-Identifier: Apache-2.0
 *
 * By NVIDIA's header, which needs no library: it loads the one that a profiler names, once. CMakeLists.txt defines GSH_HAS_NVTX where
 * the header was found. A build without it has no ranges.
 */
#include "nvtx_range.h"

#include "log.h"

#ifdef GSH_HAS_NVTX

#include <nvtx3/nvToolsExt.h>

static nvtxDomainHandle_t domain;

bool gsh_nvtx_range_start(void)
{
    domain = nvtxDomainCreateA("gpushim");
    return domain != NULL;
}

bool gsh_nvtx_range_push(const char *name, uint64_t payload)
{
    nvtxEventAttributes_t event = {
        .version = NVTX_VERSION,
        .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
        .messageType = NVTX_MESSAGE_TYPE_ASCII,
        .message.ascii = name,
    };
    if (payload > 0) {
        event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
        event.payload.ullValue = payload;
    }
    (void)nvtxDomainRangePushEx(domain, &event);
    return true;
}

void gsh_nvtx_range_pop(void)
{
    (void)nvtxDomainRangePop(domain);
}

#else

bool gsh_nvtx_range_start(void)
{
    gsh_log(GSH_LOG_WARN, "GPUSHIM_NVTX: this library was built without NVTX's header");
    return false;
}

bool gsh_nvtx_range_push(const char *name, uint64_t payload)
{
    (void)name;
    (void)payload;
    return true;
}

void gsh_nvtx_range_pop(void)
{
}

#endif
