/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy of the emulated backend whose functions add up, before they do the emulated one's work, what that takes on the GPU.
 */
#include "forecast.h"

#include "backend.h"
#include "cuda_named.h"
#include "launch_work.h"
#include "log.h"
#include "observer.h"
#include "options.h"
#include "price.h"
#include "report_sections.h"
#include "stats.h"

#include <stdatomic.h>
#include <string.h>

#define SECTOR 32.0 /* bytes that a GPU moves at least */

static struct gsh_backend backend;
static struct gsh_rates rates, speed; /* by which is decided; what work takes */
static const struct gsh_cuda_named *gpu;

/* Nanoseconds, but for the counts. */
static struct {
    _Atomic uint64_t kernels_ns, launches, uploads_ns, downloads_ns, locks_ns;
} sums;

static void add_seconds(_Atomic uint64_t *sum, double seconds)
{
    atomic_fetch_add_explicit(sum, (uint64_t)(seconds * 1e9), memory_order_relaxed);
}

static void add_kernel(double seconds)
{
    add_seconds(&sums.kernels_ns, seconds);
    atomic_fetch_add_explicit(&sums.launches, 1, memory_order_relaxed);
}

/* A kernel moves its bytes while it computes. */
static double loop_seconds(double bytes, double host_ns)
{
    return speed.device_call +
           GSH_MAX(gsh_cost_model_moving(&speed, bytes), gsh_cost_model_computing(&speed, host_ns));
}

static enum gsh_status run(const struct gsh_launch *launch, unsigned row)
{
    const struct gsh_work work = gsh_launch_work(launch);
    add_kernel(work.kind == GSH_WORK_LOOP ? loop_seconds(work.bytes, work.elements * work.host_ns)
                                          : gsh_cost_model_device_work(&speed, &work));
    return gsh_emu_backend.run(launch, row);
}

/* Bytes that the GPU moves for an array: elements that lie apart take a sector each. */
static double array_bytes(const struct gsh_group *group, const struct gsh_group_array *array)
{
    double elements = 1, size = (double)gsh_dtype_size(array->dtype), step = 0;
    for (int d = 0; d < group->ndim; d++) {
        double stride = (double)gsh_launch_step(array->strides[d]);
        if (group->shape[d] <= 1 || stride == 0)
            continue;
        elements *= (double)group->shape[d];
        step = step == 0 ? stride : GSH_MIN(step, stride);
    }
    return array->is_index ? 0 : elements * GSH_MAX(size, GSH_MIN(step, SECTOR));
}

static enum gsh_status run_group(const struct gsh_group *group, unsigned row,
                                 gsh_can_split *can_split, const void *item)
{
    double bytes = 0, host_ns = GSH_COST_REDUCE_NS * group->sink_count;
    for (unsigned k = 0; k < group->array_count; k++)
        bytes += array_bytes(group, &group->arrays[k]);
    for (unsigned k = 0; k < group->step_count; k++)
        host_ns += gsh_op_info(group->steps[k].op)->host_ns;
    add_kernel(loop_seconds(bytes, host_ns * (double)gsh_group_elements(group)));
    return gsh_emu_backend.run_group(group, row, can_split, item);
}

static void add_transfer(_Atomic uint64_t *sum, bool is_download, size_t size, bool registered)
{
    double seconds = gsh_cost_model_transfer(&speed, (double)size, registered, false);
    add_seconds(sum, seconds);
    if (gsh_observer != NULL)
        gsh_observer->moved(is_download, size, (uint64_t)(seconds * 1e9));
}

static enum gsh_status upload(uint64_t dst, const void *src, size_t size, bool registered)
{
    add_transfer(&sums.uploads_ns, false, size, registered);
    return gsh_emu_backend.upload(dst, src, size, registered);
}

static enum gsh_status download(void *dst, uint64_t src, size_t size, bool registered)
{
    add_transfer(&sums.downloads_ns, true, size, registered);
    return gsh_emu_backend.download(dst, src, size, registered);
}

/* Page-locking takes its time on a GPU, and makes transfers faster. */
static enum gsh_status register_host(void *base, size_t size)
{
    (void)base;
    add_seconds(&sums.locks_ns, (double)size / speed.pin);
    return GSH_OK;
}

static void unregister_host(void *base, size_t size)
{
    (void)base;
    (void)size;
}

/* ---- the report ---- */

static unsigned long long get(_Atomic uint64_t *sum)
{
    return (unsigned long long)atomic_load_explicit(sum, memory_order_relaxed);
}

static void append_json(struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt, "{\"gpu\": \"%s\", \"memory_bytes\": %llu, \"start_ns\": %llu", gpu->title,
                   (unsigned long long)gpu->memory,
                   (unsigned long long)(gsh_cuda_named_rates(gpu).start * 1e9));
    gsh_fmt_printf(fmt, ", \"kernels_ns\": %llu, \"launches\": %llu", get(&sums.kernels_ns),
                   get(&sums.launches));
    gsh_fmt_printf(fmt, ", \"uploads_ns\": %llu, \"downloads_ns\": %llu, \"locks_ns\": %llu}",
                   get(&sums.uploads_ns), get(&sums.downloads_ns), get(&sums.locks_ns));
}

/* The device is there at once: what its start and its compiler take is not part of the sums. */
static void make_backend(void)
{
    rates = gsh_cuda_named_rates(gpu);
    rates.start = rates.compile = 0;
    speed = gsh_cuda_named_speed(gpu);
    backend = gsh_emu_backend;
    backend.rates = &rates;
    backend.run = run;
    backend.run_group = run_group;
    backend.upload = upload;
    backend.download = download;
    backend.register_host = register_host;
    backend.unregister_host = unregister_host;
}

/* NULL: no forecast is asked for. */
static const char *named(void)
{
    const char *name = gsh_option_text(GSH_OPTION_ADVISE);
    return name[0] == '\0' || strcmp(name, GSH_FORECAST_MEASURE) == 0 ? NULL : name;
}

void gsh_forecast_check(void)
{
    const char *name = named();
    bool is_known = name != NULL && gsh_cuda_named_find(name) != NULL;
    char text[256];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_fmt_text(&fmt, is_known ? "GPUSHIM_DEVICE must be host" : "no such GPU; known are ");
    if (name == NULL || (is_known && gsh_option_number(GSH_OPTION_DEVICE) == GSH_DEVICE_HOST))
        return;
    if (!is_known)
        gsh_cuda_named_list(&fmt);
    gsh_log(GSH_LOG_WARN, "GPUSHIM_ADVISE=%.40s: %s", name, text);
}

enum gsh_status gsh_forecast_begin(void)
{
    static const struct gsh_report_section section = {.key = "forecast",
                                                      .append_json = append_json};
    if (named() == NULL)
        return GSH_OK;
    gpu = gsh_cuda_named_find(named());
    if (gpu == NULL || gsh_backend_get() != &gsh_emu_backend)
        return GSH_FAILED;
    make_backend();
    gsh_backend_replace(&backend);
    gsh_report_sections_add(&section);
    return GSH_OK;
}
