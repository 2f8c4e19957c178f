/* SPDX-License-Identifier: Apache-2.0
 *
 * All functions work on a stack of the pool: the thread that loads NumPy may have a small one, and so may a signal handler.
 */
#include "last_run.h"

#include "critical.h"
#include "device.h"
#include "forked.h"
#include "log.h"
#include "options.h"
#include "price.h"
#include "profile_file.h"
#include "readiness.h"
#include "script_profile.h"
#include "stack_pool.h"

#include <stdatomic.h>
#include <unistd.h>

static struct {
    struct gsh_script_identity script;
    bool is_known;                /* there is a script, and profiles are in use */
    enum gsh_profile_found found; /* at the start */
    pid_t process;
    atomic_bool forked_before_start;
    atomic_bool is_left;
} run;

static void note_fork(void)
{
    if (gsh_device_get_state() == GSH_DEVICE_IDLE)
        atomic_store_explicit(&run.forked_before_start, true, memory_order_relaxed);
}

static void start_by(const struct gsh_profile *profile)
{
    double gains = (double)profile->gain_ns * 1e-9;
    double price = gsh_readiness_start_price_of(gains, profile->libraries);
    if (!gsh_script_profile_pays(gains, price, true))
        return;
    gsh_log(GSH_LOG_INFO,
            "the device is started at once: the last run of this script gained %.0f ms, and the "
            "start costs %.0f ms",
            gains * 1e3, price * 1e3);
    gsh_readiness_expect(profile->libraries);
    gsh_device_start(false);
}

static void resume(void *unused)
{
    (void)unused;
    struct gsh_profile profile;
    if (!gsh_script_identity_get(&run.script))
        return;
    run.process = getpid();
    gsh_forked_add(NULL, note_fork, NULL);
    run.found = gsh_profile_file_read(&run.script, &profile);
    run.is_known = true;
    if (run.found == GSH_PROFILE_FOUND)
        start_by(&profile);
}

void gsh_last_run_resume(void)
{
    if (gsh_option_number(GSH_OPTION_PROFILE) &&
        gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_AUTO)
        gsh_stack_pool_run(resume, NULL);
}

static void leave(void *unused)
{
    (void)unused;
    const struct gsh_script_run end = {.gains = gsh_readiness_gains(),
                                       .price = gsh_readiness_start_price(),
                                       .has_profile = run.found == GSH_PROFILE_FOUND,
                                       .has_failed = gsh_device_get_state() == GSH_DEVICE_RETIRED,
                                       .forked_before_start = atomic_load_explicit(
                                           &run.forked_before_start, memory_order_relaxed)};
    const struct gsh_profile profile = {.gain_ns = (uint64_t)(end.gains * 1e9),
                                        .libraries = gsh_readiness_libraries()};
    if (gsh_script_profile_is_left(&end))
        gsh_profile_file_write(&run.script, &profile);
    else if (run.found != GSH_PROFILE_NONE)
        gsh_profile_file_remove(&run.script);
}

/* Whether this call is the one that leaves it. The process is compared first: a child of vfork shares all memory with its
 * parent. */
static bool begin_leaving(void)
{
    return run.is_known && getpid() == run.process && !gsh_forked_is_child_sigsafe() &&
           !atomic_exchange(&run.is_left, true);
}

static void trim(void *unused)
{
    (void)unused;
    gsh_profile_file_trim();
}

void gsh_last_run_leave(void)
{
    if (!begin_leaving())
        return;
    gsh_stack_pool_run(leave, NULL);
    gsh_stack_pool_run(trim, NULL);
}

void gsh_last_run_leave_at_once(void)
{
    if (!gsh_critical_is_inside() && begin_leaving())
        gsh_stack_pool_run(leave, NULL);
}
