/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading, handles, version; NVIDIA's libraries share the numbers of their properties.
 */
#include "cuda_opening.h"

#include "cuda_context.h"
#include "fmt.h"
#include "log.h"

static void note_version(struct gsh_cuda_opening *opening)
{
    int major = 0, minor = 0, patch = 0;
    (*opening->get_property)(GSH_CUBLAS_MAJOR_VERSION, &major);
    (*opening->get_property)(GSH_CUBLAS_MINOR_VERSION, &minor);
    (*opening->get_property)(GSH_CUBLAS_PATCH_LEVEL, &patch);
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, opening->version, sizeof opening->version);
    gsh_fmt_printf(&fmt, "%d.%d.%d", major, minor, patch);
}

static enum gsh_status try_open(struct gsh_cuda_opening *opening)
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

bool gsh_cuda_opening_is_ready(struct gsh_cuda_opening *opening)
{
    if (gsh_cuda_opening_state(opening) == GSH_CUDA_UNTRIED)
        __atomic_store_n(&opening->state,
                         try_open(opening) == GSH_OK ? GSH_CUDA_READY : GSH_CUDA_ABSENT,
                         __ATOMIC_RELAXED);
    return gsh_cuda_opening_state(opening) == GSH_CUDA_READY;
}
