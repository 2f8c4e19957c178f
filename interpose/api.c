/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of gpushim.h.
 */
#include "gpushim.h"

#include "base.h"
#include "coherence.h"
#include "dispatch.h"
#include "doctor.h"
#include "fmt.h"
#include "plan.h"
#include "snapshot.h"
#include "stats.h"
#include "version.h"

_Static_assert((int)GPUSHIM_FOREIGN == (int)GSH_UNMANAGED &&
                   (int)GPUSHIM_HOST == (int)GSH_RESIDENT_HOST &&
                   (int)GPUSHIM_SHARED == (int)GSH_RESIDENT_SHARED &&
                   (int)GPUSHIM_DEVICE == (int)GSH_RESIDENT_DEVICE,
               "gpushim.h gives out coherence.h's numbers");

GSH_EXPORT const char *gpushim_version(void)
{
    return gsh_version_get();
}

GSH_EXPORT int gpushim_active(void)
{
    return gsh_dispatch_is_live();
}

GSH_EXPORT void gpushim_synchronize(void)
{
    gsh_dispatch_synchronize();
}

GSH_EXPORT void gpushim_disable(void)
{
    gsh_dispatch_switch(true);
}

GSH_EXPORT void gpushim_enable(void)
{
    gsh_dispatch_switch(false);
}

GSH_EXPORT void gpushim_keep_results(int keep)
{
    gsh_plan_live_keep_results(keep != 0);
}

GSH_EXPORT int gpushim_prefetch(const void *address, size_t size)
{
    gsh_coherence_note_address(address, false);
    return gsh_dispatch_prefetch(address, size);
}

GSH_EXPORT int gpushim_residency(const void *address)
{
    gsh_coherence_note_address(address, false); /* taken for this query only */
    return (int)gsh_coherence_residency(address);
}

GSH_EXPORT unsigned long long gpushim_device_pointer(const void *address, size_t size)
{
    gsh_coherence_note_address(address, false);
    return gsh_snapshot_acquire_address(address, size);
}

GSH_EXPORT int gpushim_device_release(unsigned long long pointer)
{
    return gsh_snapshot_release_address(pointer);
}

GSH_EXPORT size_t gpushim_describe_device(char *buffer, size_t size)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, buffer, size);
    gsh_doctor_describe_device(&fmt);
    return fmt.required;
}

GSH_EXPORT size_t gpushim_report_json(char *buffer, size_t size)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, buffer, size);
    gsh_stats_report_json(&fmt);
    return fmt.required;
}
