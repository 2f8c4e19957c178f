/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdict in words, and its arithmetic.
 */
#include "report_verdict.h"

#include "line_profile.h"
#include "options.h"
#include "stats.h"

#include <string.h>

static void (*source)(struct gsh_report_device *device);
static const char *inactive;

/* ---- numbers ---- */

static const struct {
    const char *key, *label;
} parts[GSH_WALL_PARTS] = {
    [GSH_WALL_PROGRAM] = {"program_s", "Python and what is not hooked"},
    [GSH_WALL_CPU] = {"cpu_s", "NumPy on the CPU"},
    [GSH_WALL_DEVICE] = {"device_s", "waiting for the device"},
    [GSH_WALL_TRANSFERS] = {"transfers_s", "transfers"},
    [GSH_WALL_START] = {"start_s", "start and compilation"},
    [GSH_WALL_DISPATCH] = {"dispatch_s", "gpushim"},
};

double gsh_report_verdict_wall(const struct gsh_report_verdict *verdict)
{
    double wall = 0;
    for (unsigned part = 0; part < GSH_WALL_PARTS; part++)
        wall += verdict->parts[part];
    return wall;
}

double gsh_report_verdict_plain(const struct gsh_report_verdict *verdict)
{
    return verdict->parts[GSH_WALL_PROGRAM] + verdict->parts[GSH_WALL_CPU] +
           verdict->parallel_saved + verdict->reused + verdict->device_work;
}

double gsh_report_verdict_share(const struct gsh_report_verdict *verdict)
{
    const struct gsh_report_work *work = &verdict->work;
    double all = work->device + work->cpu;
    return all > 0 ? work->device / all : 0;
}

/* Reasons for less of NumPy's work than this, or for less than half a millisecond, do not matter. */
#define LEAST_SHARE 0.05
#define LEAST_SECONDS 5e-4
/* Transfers that are more of the wall time matter. */
#define MOVING_SHARE 0.1
/* The program's own part matters where it is more of the wall time, and takes longer. */
#define PROGRAM_SHARE 0.75
#define PROGRAM_SECONDS 2

static const char ADVICE_ON_PROGRAM[] =
    "most of the time is Python's own, and that of functions that gpushim does not know: `gpushim "
    "advise` names their lines";

static bool matters(const struct gsh_report_verdict *verdict,
                    const struct gsh_report_reason *reason)
{
    double least = LEAST_SHARE * (verdict->work.device + verdict->work.cpu);
    return reason->code != NULL && reason->seconds > GSH_MAX(least, LEAST_SECONDS);
}

/* Whether something is to be mended before a device can be used. */
static bool lacks_device(const struct gsh_report_device *device)
{
    return device->state == GSH_REPORT_INACTIVE || device->state == GSH_REPORT_RETIRED ||
           (device->state == GSH_REPORT_NOT_STARTED && device->why_not != NULL);
}

static bool exceeds(const struct gsh_report_verdict *verdict, enum gsh_wall_part part, double share,
                    double seconds)
{
    return verdict->parts[part] > GSH_MAX(share * gsh_report_verdict_wall(verdict), seconds);
}

/* What the parts say; NULL: nothing. */
static const char *advice_on_parts(const struct gsh_report_verdict *verdict)
{
    if (exceeds(verdict, GSH_WALL_TRANSFERS, MOVING_SHARE, LEAST_SECONDS))
        return "arrays go to and fro between the CPU and the device: keep them on one side";
    if (exceeds(verdict, GSH_WALL_PROGRAM, PROGRAM_SHARE, PROGRAM_SECONDS))
        return ADVICE_ON_PROGRAM;
    return NULL;
}

const char *gsh_report_verdict_advice(const struct gsh_report_verdict *verdict)
{
    if (verdict->device.is_switched_off)
        return NULL;
    if (lacks_device(&verdict->device))
        return "`gpushim doctor` says what is missing; `gpushim advise` forecasts what a GPU would "
               "do";
    for (unsigned i = 0; i < GSH_REPORT_REASONS; i++) {
        const struct gsh_report_reason *reason = &verdict->device.reasons[i];
        if (matters(verdict, reason) && reason->advice[0] != '\0')
            return reason->advice;
    }
    return advice_on_parts(verdict);
}

static struct gsh_report_work take_work(void)
{
    uint64_t cpu_ns = gsh_stats_get(GSH_COUNTER_PARALLEL_SAVED_NS);
    uint64_t device_ns =
        gsh_stats_get(GSH_COUNTER_DEVICE_WORK_NS) + gsh_stats_get(GSH_COUNTER_OTHER_WORK_NS);
    for (unsigned i = 0; i < gsh_stats_row_count(); i++) {
        struct gsh_stats_row_copy row;
        if (gsh_stats_get_row(i, &row))
            cpu_ns += row.host_ns;
    }
    return (struct gsh_report_work){(double)device_ns * 1e-9, (double)(int64_t)cpu_ns * 1e-9};
}

static bool is_switched_off(void)
{
    return gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_OFF ||
           gsh_option_number(GSH_OPTION_DEVICE) == GSH_DEVICE_NONE;
}

void gsh_report_verdict_take(struct gsh_report_verdict *verdict, const char *name)
{
    *verdict = (struct gsh_report_verdict){
        .device = {.state = GSH_REPORT_INACTIVE,
                   .why_not = inactive,
                   .is_switched_off = is_switched_off()},
        .name = name,
        .device_work = (double)gsh_stats_get(GSH_COUNTER_DEVICE_WORK_NS) * 1e-9,
        .parallel_saved = (double)gsh_stats_get(GSH_COUNTER_PARALLEL_SAVED_NS) * 1e-9,
        .reused = (double)gsh_stats_get(GSH_COUNTER_REUSED_NS) * 1e-9,
        .work = take_work()};
    if (inactive == NULL && source != NULL)
        source(&verdict->device);
    for (unsigned part = 0; part < GSH_WALL_PARTS; part++)
        verdict->parts[part] = (double)gsh_wall_time_get((enum gsh_wall_part)part) * 1e-9;
}

void gsh_report_verdict_set_source(void (*describe)(struct gsh_report_device *device))
{
    source = describe;
}

void gsh_report_verdict_set_inactive(const char *why)
{
    inactive = why;
}

/* ---- words ---- */

/* Three significant digits. */
static void append_seconds(struct gsh_fmt *fmt, double seconds)
{
    gsh_fmt_printf(fmt, "%.*f s",
                   seconds >= 100  ? 0
                   : seconds >= 10 ? 1
                   : seconds >= 1  ? 2
                                   : 3,
                   seconds);
}

static void append_comparison(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict)
{
    double wall = gsh_report_verdict_wall(verdict), plain = gsh_report_verdict_plain(verdict);
    append_seconds(fmt, wall);
    gsh_fmt_text(fmt, " instead of an estimated ");
    append_seconds(fmt, plain);
    if (plain >= 1.05 * wall)
        gsh_fmt_printf(fmt, ", %.*f times as fast", plain < 9.95 * wall ? 1 : 0, plain / wall);
    else
        gsh_fmt_text(fmt, plain < 0.95 * wall ? ", slower" : ", about as fast");
}

/* Of the name up to the first comma: "GPU NVIDIA H200, compute capability ...". */
static int short_length(const char *name)
{
    return (int)strcspn(name, ",");
}

static void append_use(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict)
{
    int length = short_length(verdict->name);
    if (verdict->work.device <= 0) {
        gsh_fmt_printf(fmt, "nothing ran on %.*s; NumPy computed on the CPU", length,
                       verdict->name);
        return;
    }
    gsh_fmt_printf(fmt, "%.0f %% of NumPy's hooked work ran on %.*s: ",
                   100 * gsh_report_verdict_share(verdict), length, verdict->name);
    append_comparison(fmt, verdict);
}

static void append_cores(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict)
{
    gsh_fmt_printf(fmt, "NumPy ran on the CPU's cores (%s): ", verdict->name);
    append_comparison(fmt, verdict);
}

static void append_why_not(struct gsh_fmt *fmt, const char *what,
                           const struct gsh_report_device *device)
{
    gsh_fmt_printf(fmt, "%s%s%s; NumPy computed on the CPU", what,
                   device->why_not != NULL ? ": " : "",
                   device->why_not != NULL ? device->why_not : "");
}

static void append_not_started(struct gsh_fmt *fmt, const struct gsh_report_device *device)
{
    if (device->why_not != NULL) {
        append_why_not(fmt, "the device was not started", device);
        return;
    }
    gsh_fmt_text(fmt, "the device was not started: predicted gain ");
    append_seconds(fmt, device->gain);
    gsh_fmt_text(fmt, ", start ");
    append_seconds(fmt, device->price);
    gsh_fmt_text(fmt, "; NumPy computed on the CPU");
}

static void append_verdict(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict)
{
    switch (verdict->device.state) {
    case GSH_REPORT_INACTIVE:
        append_why_not(fmt, "not active", &verdict->device);
        break;
    case GSH_REPORT_CORES:
        append_cores(fmt, verdict);
        break;
    case GSH_REPORT_NOT_STARTED:
        append_not_started(fmt, &verdict->device);
        break;
    case GSH_REPORT_RETIRED:
        append_why_not(fmt, "the device was given up", &verdict->device);
        break;
    case GSH_REPORT_STARTED:
        append_use(fmt, verdict);
        break;
    }
}

static void append_part(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict,
                        enum gsh_wall_part part, const char *separator)
{
    gsh_fmt_text(fmt, separator);
    append_seconds(fmt, verdict->parts[part]);
    gsh_fmt_printf(fmt, " %s", parts[part].label);
}

/* Parts of less than half a millisecond are not named, but for the first. */
static void append_parts(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict)
{
    gsh_fmt_text(fmt, " time: ");
    append_seconds(fmt, gsh_report_verdict_wall(verdict));
    append_part(fmt, verdict, GSH_WALL_PROGRAM, " = ");
    if (verdict->device.state == GSH_REPORT_INACTIVE)
        gsh_fmt_text(fmt, ", here all of NumPy");
    for (int part = GSH_WALL_PROGRAM + 1; part < GSH_WALL_PARTS; part++)
        if (verdict->parts[part] >= 5e-4)
            append_part(fmt, verdict, (enum gsh_wall_part)part, " + ");
    gsh_fmt_text(fmt, "\n");
}

static void append_reasons(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict)
{
    const char *separator = " on the CPU: ";
    for (unsigned i = 0; i < GSH_REPORT_REASONS; i++) {
        const struct gsh_report_reason *reason = &verdict->device.reasons[i];
        if (!matters(verdict, reason))
            continue;
        gsh_fmt_text(fmt, separator);
        append_seconds(fmt, reason->seconds);
        gsh_fmt_printf(fmt, " %s (%s)", reason->code, reason->text);
        separator = ", ";
    }
    if (separator[0] == ',')
        gsh_fmt_text(fmt, "\n");
}

static void append_advice(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict)
{
    const char *advice = gsh_report_verdict_advice(verdict);
    bool names_lines = !lacks_device(&verdict->device) && advice != ADVICE_ON_PROGRAM &&
                       !gsh_line_profile_is_reported();
    gsh_fmt_printf(fmt, " to change: %s%s\n", advice,
                   names_lines ? "; `gpushim run --line-profile` names the lines" : "");
}

void gsh_report_verdict_text(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict)
{
    gsh_fmt_text(fmt, "gpushim: ");
    append_verdict(fmt, verdict);
    gsh_fmt_text(fmt, "\n");
    append_parts(fmt, verdict);
    if (verdict->device.state == GSH_REPORT_STARTED)
        gsh_fmt_printf(fmt, " device: %s\n", verdict->name);
    append_reasons(fmt, verdict);
    if (gsh_report_verdict_advice(verdict) != NULL)
        append_advice(fmt, verdict);
}

/* ---- JSON ---- */

static void append_json_reasons(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict)
{
    gsh_fmt_text(fmt, ", \"reasons\": [");
    for (unsigned i = 0; i < GSH_REPORT_REASONS; i++) {
        const struct gsh_report_reason *reason = &verdict->device.reasons[i];
        if (reason->code == NULL)
            break;
        gsh_fmt_printf(fmt, "%s{\"code\": \"%s\", \"text\": ", i > 0 ? ", " : "", reason->code);
        gsh_fmt_json_string(fmt, reason->text);
        gsh_fmt_printf(fmt, ", \"seconds\": %.6f, \"calls\": %llu}", reason->seconds,
                       (unsigned long long)reason->calls);
    }
    gsh_fmt_text(fmt, "]");
}

/* Null where times were not measured. */
static void append_json_sums(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict)
{
    if (gsh_stats_report_is_wanted())
        gsh_fmt_printf(fmt, ", \"share\": %.4f, \"wall_s\": %.6f, \"plain_s\": %.6f",
                       gsh_report_verdict_share(verdict), gsh_report_verdict_wall(verdict),
                       gsh_report_verdict_plain(verdict));
    else
        gsh_fmt_text(fmt, ", \"share\": null, \"wall_s\": null, \"plain_s\": null");
}

void gsh_report_verdict_json(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict)
{
    const char *advice = gsh_report_verdict_advice(verdict);
    static const char *const states[] = {
        [GSH_REPORT_INACTIVE] = "inactive",       [GSH_REPORT_CORES] = "cores",
        [GSH_REPORT_NOT_STARTED] = "not-started", [GSH_REPORT_STARTED] = "started",
        [GSH_REPORT_RETIRED] = "retired",
    };
    gsh_fmt_printf(fmt, "{\"state\": \"%s\", \"why_not\": ", states[verdict->device.state]);
    gsh_fmt_json_string(fmt, verdict->device.why_not != NULL ? verdict->device.why_not : "");
    append_json_sums(fmt, verdict);
    gsh_fmt_printf(fmt, ", \"device_work_s\": %.6f, \"parallel_saved_s\": %.6f, \"reused_s\": %.6f",
                   verdict->device_work, verdict->parallel_saved, verdict->reused);
    gsh_fmt_printf(fmt, ", \"work\": {\"device_s\": %.6f, \"cpu_s\": %.6f}", verdict->work.device,
                   verdict->work.cpu);
    append_json_reasons(fmt, verdict);
    gsh_fmt_text(fmt, ", \"advice\": ");
    gsh_fmt_json_string(fmt, advice != NULL ? advice : "");
    gsh_fmt_printf(fmt, ", \"foregone_s\": %.6f, \"start_price_s\": %.6f, \"parts\": {",
                   verdict->device.gain, verdict->device.price);
    for (unsigned part = 0; part < GSH_WALL_PARTS; part++)
        gsh_fmt_printf(fmt, "%s\"%s\": %.6f", part > 0 ? ", " : "", parts[part].key,
                       verdict->parts[part]);
    gsh_fmt_text(fmt, "}}");
}
