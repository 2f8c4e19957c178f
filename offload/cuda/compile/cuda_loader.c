/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading, handles, version. NVIDIA's libraries share the numbers of their properties.
 */
#include "cuda_loader.h"

#include "clock.h"
#include "cuda_context.h"
#include "fmt.h"
#include "log.h"

#include <sched.h>

#define LEAST_LEFT 0.05 /* least share of the time reported as left until it is open */

static void note_version(struct gsh_cuda_loader *opening)
{
    int major = 0, minor = 0, patch = 0;
    (*opening->get_property)(GSH_CUBLAS_MAJOR_VERSION, &major);
    (*opening->get_property)(GSH_CUBLAS_MINOR_VERSION, &minor);
    (*opening->get_property)(GSH_CUBLAS_PATCH_LEVEL, &patch);
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, opening->version, sizeof opening->version);
    gsh_fmt_printf(&fmt, "%d.%d.%d", major, minor, patch);
}

static enum gsh_status try_open(struct gsh_cuda_loader *opening)
{
    char why[256];
    for (unsigned k = 0; k < opening->library_count; k++)
        if (gsh_cuda_libs_load(opening->libraries[k], gsh_cuda.driver / 1000, 0, why, sizeof why) !=
            GSH_OK) {
            gsh_log(GSH_LOG_WARN, "%s: %s on the CPU", why, opening->work);
            return GSH_FAILED;
        }
    if (opening->open_handles != NULL)
        GSH_TRY(opening->open_handles());
    note_version(opening);
    return GSH_OK;
}

static enum gsh_status open_now(void *what)
{
    struct gsh_cuda_loader *opening = what;
    enum gsh_status status = try_open(opening);
    __atomic_store_n(&opening->state, status == GSH_OK ? GSH_CUDA_READY : GSH_CUDA_ABSENT,
                     __ATOMIC_RELEASE);
    return status;
}

/* Whether the caller is the one to open it. */
static bool claim(struct gsh_cuda_loader *opening)
{
    int untried = GSH_CUDA_UNTRIED;
    return __atomic_compare_exchange_n(&opening->state, &untried, GSH_CUDA_LOADER, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void gsh_cuda_loader_close(struct gsh_cuda_loader *opening)
{
    __atomic_store_n(&opening->state, GSH_CUDA_ABSENT, __ATOMIC_RELEASE);
}

void gsh_cuda_loader_begin(struct gsh_cuda_loader *opening)
{
    uint64_t now = gsh_clock_ns();
    if (!claim(opening))
        return;
    __atomic_store_n(&opening->begun_ns, now, __ATOMIC_RELAXED);
    gsh_cuda_compile_thread_submit_work(&opening->job, open_now, opening);
}

double gsh_cuda_loader_left(const struct gsh_cuda_loader *opening)
{
    enum gsh_cuda_loader_state state = gsh_cuda_loader_state(opening);
    uint64_t begun = __atomic_load_n(&opening->begun_ns, __ATOMIC_RELAXED);
    if (state > GSH_CUDA_LOADER)
        return 0;
    if (state == GSH_CUDA_UNTRIED || begun == 0)
        return opening->seconds;
    double left = opening->seconds - (double)(gsh_clock_ns() - begun) * 1e-9;
    return GSH_MAX(left, opening->seconds * LEAST_LEFT);
}

bool gsh_cuda_loader_is_ready(struct gsh_cuda_loader *opening)
{
    if (claim(opening))
        (void)open_now(opening);
    while (gsh_cuda_loader_state(opening) == GSH_CUDA_LOADER) {
        gsh_cuda_compile_thread_finish(&opening->job);
        sched_yield(); /* the thread that claimed it may be about to submit it */
    }
    return gsh_cuda_loader_state(opening) == GSH_CUDA_READY;
}
