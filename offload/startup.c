/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which offload/ is initialised.
 */
#include "startup.h"

#include "arena.h"
#include "backend.h"
#include "device.h"
#include "dispatch.h"
#include "dispatch_internal.h"
#include "fault.h"
#include "forecast.h"
#include "fork.h"
#include "history.h"
#include "host_calibration.h"
#include "host_threads.h"
#include "idle.h"
#include "last_run.h"
#include "library_gains.h"
#include "line_profile.h"
#include "line_report.h"
#include "log.h"
#include "options.h"
#include "pages.h"
#include "readiness.h"
#include "reasons.h"
#include "report_reasons.h"
#include "report_verdict.h"
#include "requirement.h"
#include "retire.h"
#include "stack_pool.h"
#include "stats.h"
#include "verify_share.h"

#include <stdlib.h>

/* Tests filling closed pages, on a block that is freed afterwards. */
static enum gsh_status test_pages(void)
{
    void *scratch = gsh_arena_allocate(GSH_GRANULE_LARGE, GSH_ARENA_HOST);
    if (scratch == NULL)
        return GSH_DECLINED;
    enum gsh_status status = gsh_pages_init((uintptr_t)scratch);
    gsh_arena_free(scratch);
    return status;
}

/* The wait at exit is registered after the driver's own exit functions, so it runs before them. Later, device time
 * cannot be measured. */
static void use_device(void)
{
    if (gsh_stats_report_is_wanted())
        atexit(gsh_dispatch_synchronize);
    gsh_library_gains_prepare();
}

/* Touches the tables that pricing the first call reads and writes. */
static void prefault_tables(void)
{
    gsh_stats_prefault();
    gsh_history_prefault();
    gsh_host_calibration_prefault();
}

/* The threads that compute NumPy's own loops, and memory for arrays that is used again. Without an arena NumPy's own allocator stays. */
static enum gsh_status start_without_device(void)
{
    char text[64];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_fmt_printf(&fmt, "cpu: %u threads", gsh_host_threads_count());
    gsh_stats_report_set_device(text);
    gsh_arena_serve_host_alone();
    (void)gsh_arena_init();
    gsh_stack_pool_init();
    gsh_fork_init_without_device();
    gsh_idle_init();
    return GSH_OK;
}

static const char no_gpu[] = "no NVIDIA GPU was found";

static enum gsh_report_state report_state(void)
{
    if (gsh_backend_get() == NULL)
        return GSH_REPORT_CORES;
    if (gsh_retire_reason() != NULL)
        return GSH_REPORT_RETIRED;
    switch (gsh_device_get_state()) {
    case GSH_DEVICE_READY:
        return GSH_REPORT_STARTED;
    case GSH_DEVICE_RETIRED:
        return GSH_REPORT_RETIRED;
    default:
        return GSH_REPORT_NOT_STARTED;
    }
}

static void describe_device(struct gsh_report_device *device)
{
    device->state = report_state();
    gsh_report_reasons_take(device->reasons);
    device->why_not = gsh_retire_reason() != NULL ? gsh_retire_reason() : gsh_device_why_retired();
    if (device->state != GSH_REPORT_NOT_STARTED)
        return;
    if (!gsh_backend_is_present(gsh_backend_get()))
        device->why_not = no_gpu;
    device->gain = gsh_readiness_foregone();
    device->price = gsh_readiness_start_price();
}

void gsh_startup_report(void)
{
    gsh_stats_report_init(gsh_reason_codes, GSH_REASON_COUNT);
    gsh_line_report_init();
    gsh_requirement_init();
    gsh_verify_share_check();
    gsh_forecast_check();
    if (gsh_option_text(GSH_OPTION_ADVISE)[0] != '\0')
        gsh_line_profile_want(false);
}

enum gsh_status gsh_startup(const char **why)
{
    gsh_report_verdict_set_source(describe_device);
    *why = "the program uses what writes memory unseen";
    if (gsh_retire_reason() != NULL)
        return GSH_DECLINED;
    if (gsh_option_number(GSH_OPTION_DEVICE) == GSH_DEVICE_CPU)
        return start_without_device();
    gsh_backend_choose();
    *why =
        gsh_option_number(GSH_OPTION_DEVICE) == GSH_DEVICE_NONE ? "GPUSHIM_DEVICE is none" : no_gpu;
    if (gsh_backend_get() == NULL)
        return GSH_DECLINED;
    *why = "GPUSHIM_ADVISE cannot be followed";
    GSH_TRY(gsh_forecast_begin());
    *why = "there is no address range to reserve for arrays";
    GSH_TRY(gsh_arena_init());
    *why = "the start-up checks failed";
    gsh_stack_pool_init();
    GSH_TRY(gsh_fault_init());
    GSH_TRY(test_pages());
    gsh_fork_init();
    gsh_idle_init();
    gsh_device_on_ready(use_device);
    prefault_tables();
    gsh_dispatch_init();
    return GSH_OK;
}

bool gsh_startup_has_device(void)
{
    return gsh_backend_get() != NULL;
}

void gsh_startup_device(void)
{
    if (gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_FORCE)
        gsh_device_start(true);
    gsh_last_run_resume();
}
