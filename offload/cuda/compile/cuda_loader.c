/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading, handles, version. NVIDIA's libraries share the numbers of their properties.
 */
#include "cuda_loader.h"

#include "clock.h"
#include "cuda_context.h"
#include "fmt.h"
#include "log.h"
#include "trace.h"

#include <sched.h>

#define OVERDUE_SHARE 0.5 /* of the time that it has taken is expected to be left, at least */

static struct gsh_cuda_loader
    *_Atomic in_progress; /* the last whose opening has begun, until its end */

static void note_version(struct gsh_cuda_loader *loader)
{
    int major = 0, minor = 0, patch = 0;
    (*loader->get_property)(GSH_CUBLAS_MAJOR_VERSION, &major);
    (*loader->get_property)(GSH_CUBLAS_MINOR_VERSION, &minor);
    (*loader->get_property)(GSH_CUBLAS_PATCH_LEVEL, &patch);
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, loader->version, sizeof loader->version);
    gsh_fmt_printf(&fmt, "%d.%d.%d", major, minor, patch);
}

static enum gsh_status try_open(struct gsh_cuda_loader *loader)
{
    char why[256];
    for (unsigned k = 0; k < loader->library_count; k++) {
        GSH_TRY(gsh_cuda_compile_thread_go_on());
        if (gsh_cuda_libs_load(loader->libraries[k], gsh_cuda.driver / 1000, 0, why, sizeof why) !=
            GSH_OK) {
            gsh_log(GSH_LOG_WARN, "%s: %s on the CPU", why, loader->work);
            return GSH_FAILED;
        }
    }
    GSH_TRY(gsh_cuda_compile_thread_go_on());
    if (loader->open_handles != NULL)
        GSH_TRY(loader->open_handles());
    note_version(loader);
    return GSH_OK;
}

static enum gsh_status open_now(void *what)
{
    struct gsh_cuda_loader *loader = what;
    if (loader->needs != NULL)
        gsh_cuda_compile_thread_do_first(&loader->needs->job);
    uint64_t begin = gsh_trace_begin(), begin_ns = gsh_clock_ns();
    __atomic_store_n(&loader->begun_ns, begin_ns, __ATOMIC_RELAXED);
    in_progress = loader;
    enum gsh_status status = try_open(loader);
    GSH_TRACE_END(begin, COMPILES, .name = "open a library",
                  .why = gsh_cuda_libs_path(loader->libraries[0]));
    in_progress = NULL;
    __atomic_store_n(&loader->state, status == GSH_OK ? GSH_CUDA_READY : GSH_CUDA_ABSENT,
                     __ATOMIC_RELEASE);
    if (status == GSH_OK)
        gsh_cuda_load_times_note(loader->kept, (double)(gsh_clock_ns() - begin_ns) * 1e-9);
    return status;
}

/* Whether the caller is the one to open it. */
static bool claim(struct gsh_cuda_loader *loader)
{
    int untried = GSH_CUDA_UNTRIED;
    return __atomic_compare_exchange_n(&loader->state, &untried, GSH_CUDA_LOADING, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void gsh_cuda_loader_close(struct gsh_cuda_loader *loader)
{
    __atomic_store_n(&loader->state, GSH_CUDA_ABSENT, __ATOMIC_RELEASE);
}

void gsh_cuda_loader_begin(struct gsh_cuda_loader *loader)
{
    if (!claim(loader))
        return;
    gsh_cuda_compile_thread_submit_work(&loader->job, open_now, loader);
}

/* Whether the library's file is in memory. Looked up once. */
static bool is_at_hand(struct gsh_cuda_loader *loader)
{
    int place = __atomic_load_n(&loader->place, __ATOMIC_RELAXED);
    if (GSH_UNLIKELY(place == GSH_CUDA_PLACE_UNKNOWN)) {
        bool is_in_memory = loader->library_count > 0 &&
                            gsh_cuda_libs_is_at_hand(loader->libraries[loader->library_count - 1]);
        place = is_in_memory ? GSH_CUDA_PLACE_MEMORY : GSH_CUDA_PLACE_DISK;
        __atomic_store_n(&loader->place, place, __ATOMIC_RELAXED);
    }
    return place == GSH_CUDA_PLACE_MEMORY;
}

static double expected_seconds(struct gsh_cuda_loader *loader)
{
    double last = gsh_cuda_load_times_get(loader->kept);
    if (last > 0)
        return last;
    return is_at_hand(loader) ? loader->seconds_at_hand : loader->seconds;
}

/* Of one whose opening has begun. */
static double rest(struct gsh_cuda_loader *loader)
{
    uint64_t begun = __atomic_load_n(&loader->begun_ns, __ATOMIC_RELAXED);
    double taken = (double)(gsh_clock_ns() - begun) * 1e-9;
    return GSH_MAX(expected_seconds(loader) - taken, taken * OVERDUE_SHARE);
}

double gsh_cuda_loader_left(struct gsh_cuda_loader *loader)
{
    if (gsh_cuda_loader_state(loader) > GSH_CUDA_LOADING)
        return 0;
    if (__atomic_load_n(&loader->begun_ns, __ATOMIC_RELAXED) != 0)
        return rest(loader);
    struct gsh_cuda_loader *other = in_progress;
    return expected_seconds(loader) + (other != NULL ? rest(other) : 0);
}

bool gsh_cuda_loader_is_ready(struct gsh_cuda_loader *loader)
{
    if (claim(loader))
        (void)open_now(loader);
    while (gsh_cuda_loader_state(loader) == GSH_CUDA_LOADING) {
        gsh_cuda_compile_thread_finish(&loader->job);
        sched_yield(); /* the thread that claimed it may be about to submit it */
    }
    return gsh_cuda_loader_state(loader) == GSH_CUDA_READY;
}
