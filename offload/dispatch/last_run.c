/* SPDX-License-Identifier: Apache-2.0
 *
 * But for gsh_last_run_foresee, all functions work on a stack of the pool: the thread that loads NumPy may have a small one, and
 * so may a signal handler.
 */
#include "last_run.h"

#include "backend.h"
#include "critical.h"
#include "cuda_sharing.h"
#include "device.h"
#include "forked.h"
#include "hash.h"
#include "library_gains.h"
#include "log.h"
#include "options.h"
#include "price.h"
#include "profile_file.h"
#include "readiness.h"
#include "script_profile.h"
#include "stack_pool.h"
#include "warm_up.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct gsh_script_identity script;
    struct gsh_profile profile;   /* where one was found */
    bool is_known;                /* there is a script, and profiles are in use */
    bool is_resumed;              /* ... and the program has loaded NumPy */
    enum gsh_profile_found found; /* at the start */
    uint64_t devices;             /* hash of CUDA's variables, as the process began */
    pid_t process;
    atomic_bool forked_before_start;
    atomic_bool is_left;
} run;

static void note_fork(void)
{
    if (gsh_device_get_state() == GSH_DEVICE_IDLE)
        atomic_store_explicit(&run.forked_before_start, true, memory_order_relaxed);
}

/* CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER and the like, in the order of the environment. */
static uint64_t hash_devices_sigsafe(void)
{
    static const char prefix[] = "CUDA_";
    uint64_t hash = GSH_HASH_BEGIN;
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++)
        if (strncmp(*entry, prefix, strlen(prefix)) == 0)
            for (const char *letter = *entry; *letter != '\0'; letter++)
                hash = gsh_hash_add(hash, (unsigned char)*letter);
    return hash;
}

/* ---- the beginning ---- */

static bool is_in_use(void)
{
    return gsh_option_number(GSH_OPTION_PROFILE) &&
           gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_AUTO;
}

static void read_profile(void)
{
    run.process = getpid();
    run.devices = hash_devices_sigsafe();
    run.found = gsh_profile_file_read(&run.script, &run.profile);
    if (run.profile.is_shared)
        gsh_cuda_sharing_expect();
    run.is_known = true;
}

/* Whether a start at once pays, if this run gains as much as the last one. */
static bool pays(double *gains, double *price)
{
    if (run.found != GSH_PROFILE_FOUND)
        return false;
    *gains = (double)run.profile.gain_ns * 1e-9;
    *price = gsh_readiness_start_price_of(*gains, run.profile.libraries);
    return gsh_script_profile_pays(*gains, *price, true);
}

void gsh_last_run_foresee(void)
{
    double gains, price;
    if (!is_in_use())
        return;
    gsh_backend_choose();
    if (gsh_backend_get() == NULL || !gsh_script_identity_get(&run.script))
        return;
    read_profile();
    /* Not by forked.h: its handlers are registered later, behind OpenBLAS's. */
    pthread_atfork(NULL, note_fork, NULL);
    if (pays(&gains, &price))
        gsh_warm_up_begin(GSH_WARM_UP_CONTEXT);
}

static void resume(void *unused)
{
    double gains, price;
    (void)unused;
    if (!run.is_known && gsh_script_identity_get(&run.script))
        read_profile();
    run.is_resumed = run.is_known;
    gsh_forked_add(NULL, note_fork, NULL);
    if (!pays(&gains, &price))
        return;
    gsh_log(GSH_LOG_INFO,
            "the device is started at once: the last run of this script gained %.0f ms, and the "
            "start costs %.0f ms",
            gains * 1e3, price * 1e3);
    gsh_library_gains_expect(run.profile.libraries);
    gsh_device_start(false);
}

void gsh_last_run_resume(void)
{
    if (is_in_use())
        gsh_stack_pool_run(resume, NULL);
}

/* ---- the end ---- */

static void leave(void *unused)
{
    (void)unused;
    const struct gsh_script_run end = {.gains = gsh_readiness_gains(),
                                       .price = gsh_readiness_start_price_foreseen(),
                                       .has_profile = run.found == GSH_PROFILE_FOUND,
                                       .has_failed = gsh_device_get_state() == GSH_DEVICE_RETIRED,
                                       .has_set_devices = hash_devices_sigsafe() != run.devices,
                                       .forked_before_start = atomic_load_explicit(
                                           &run.forked_before_start, memory_order_relaxed)};
    const struct gsh_profile profile = {.gain_ns = (uint64_t)(end.gains * 1e9),
                                        .libraries = gsh_library_gains_worthwhile(),
                                        .is_shared = gsh_cuda_sharing_is_noted()};
    if (gsh_script_profile_is_left(&end))
        gsh_profile_file_write(&run.script, &profile);
    else if (run.found != GSH_PROFILE_NONE)
        gsh_profile_file_remove(&run.script);
}

/* Whether this call is the one that leaves it. The process is compared first: a child of vfork shares all memory with its
 * parent. */
static bool begin_leaving(void)
{
    return run.is_resumed && getpid() == run.process && !gsh_forked_is_child_sigsafe() &&
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
