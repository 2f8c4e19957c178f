/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table that only grows: counts by line, operation and kind. The lines are the line profile's (line_profile.h). Entry 0 gathers
 * what did not fit.
 */
#include "python_advice.h"

#include "clock.h"
#include "forecast.h"
#include "line_profile.h"
#include "lock.h"
#include "observer.h"
#include "options.h"
#include "python_line.h"
#include "python_sampler.h"
#include "reasons.h"
#include "report_sections.h"

#include <string.h>

enum { COUNTS = 8192 }; /* a power of 2 */

/* What is counted of a line, beside the reasons for the CPU. */
enum kind { DEVICE = GSH_STATS_MAX_REASONS, UPLOAD, DOWNLOAD, SMALL_DOWNLOAD, SAMPLE };

struct count {
    unsigned place; /* row of the line profile */
    unsigned row, kind;
    bool is_used;
    uint64_t calls, ns, bytes;
};

static struct gsh_lock lock = GSH_LOCK_INITIALIZER(GSH_RANK_ADVICE);
static struct count counts[COUNTS]; /* the lock */
static unsigned count_count;
static uint64_t sampled_until_ns;           /* clock of the last sample. The lock */
static uint64_t known_ns;                   /* of calls on the CPU since then. The lock */
static _Thread_local uint64_t next_host_ns; /* of the call that the device is to get; 0: none */
static _Thread_local bool is_sampled;       /* the thread whose place the samples tell */

/* ---- counts ---- */

/* Caller holds the lock. */
static struct count *find_count(unsigned place, unsigned row, unsigned kind)
{
    uint64_t key = ((uint64_t)place * 31 + row) * 31 + kind;
    size_t slot = key * UINT64_C(0x9E3779B97F4A7C15) >> 40;
    for (slot %= COUNTS; counts[slot].is_used; slot = (slot + 1) % COUNTS)
        if (counts[slot].place == place && counts[slot].row == row && counts[slot].kind == kind)
            return &counts[slot];
    if (count_count >= COUNTS / 2)
        return &counts[0];
    count_count++;
    counts[slot] = (struct count){.place = place, .row = row, .kind = kind, .is_used = true};
    return &counts[slot];
}

/* Caller holds the lock. */
static void add_locked(const struct count *event)
{
    struct count *count = find_count(event->place, event->row, event->kind);
    count->calls += event->calls;
    count->ns += event->ns;
    count->bytes += event->bytes;
}

static void add(const struct count *event)
{
    GSH_LOCKED(&lock);
    add_locked(event);
}

/* Calls on the CPU know their lines and times; a sample is of the rest, whose line may be another when the sampler comes late. */
static void sample(const struct gsh_python_place_frame *frames, unsigned count, uint64_t ns)
{
    struct count event = {.place = gsh_python_line_row(frames, count), .kind = SAMPLE, .calls = 1};
    GSH_LOCKED(&lock);
    event.ns = ns - GSH_MIN(ns, known_ns);
    add_locked(&event);
    sampled_until_ns = gsh_clock_ns();
    known_ns = 0;
}

/* The call that ends now, as far as it lies after the last sample. Caller holds the lock. */
static void add_call_as_sample(unsigned place, uint64_t ns)
{
    const struct count event = {.place = place,
                                .kind = SAMPLE,
                                .calls = 1,
                                .ns = GSH_MIN(ns, gsh_clock_ns() - sampled_until_ns)};
    known_ns += event.ns;
    add_locked(&event);
}

static void host_call(unsigned row, unsigned reason, unsigned calls, uint64_t ns)
{
    const struct count event = {.place = gsh_line_profile_here(),
                                .row = row,
                                .kind = GSH_MIN(reason, GSH_STATS_MAX_REASONS - 1),
                                .calls = calls,
                                .ns = ns};
    next_host_ns = 0;
    GSH_LOCKED(&lock);
    add_locked(&event);
    if (is_sampled)
        add_call_as_sample(event.place, ns);
}

static void accepted(uint64_t host_ns)
{
    next_host_ns = host_ns;
}

static void device_call(unsigned row)
{
    const struct count event = {.place = gsh_line_profile_here(),
                                .row = row,
                                .kind = DEVICE,
                                .calls = 1,
                                .ns = next_host_ns};
    next_host_ns = 0;
    add(&event);
}

static unsigned kind_of_download(size_t bytes)
{
    return bytes <= GSH_LINE_PROFILE_SMALL_BYTES ? SMALL_DOWNLOAD : DOWNLOAD;
}

static void moved(bool is_download, size_t bytes, uint64_t ns)
{
    const struct count event = {.place = gsh_line_profile_here_sigsafe(),
                                .kind = is_download ? kind_of_download(bytes) : UPLOAD,
                                .calls = 1,
                                .ns = ns,
                                .bytes = bytes};
    add(&event);
}

/* ---- the report ---- */

static void append_count(struct gsh_fmt *fmt, const struct count *count)
{
    static const char *const kinds[] = {"device", "upload", "download", "small", "sample"};
    struct gsh_stats_row_copy row = {.name = "", .signature = ""};
    struct gsh_line_profile_copy line;
    (void)gsh_stats_get_row(count->row, &row);
    (void)gsh_line_profile_get(count->place, &line);
    bool is_host = count->kind < DEVICE, has_line = count->place != 0;
    gsh_fmt_text(fmt, "{\"file\": ");
    gsh_fmt_json_string(fmt, has_line ? line.file : "");
    gsh_fmt_printf(fmt, ", \"line\": %u, \"name\": ", has_line ? line.line : 0);
    gsh_fmt_json_string(fmt, row.name);
    gsh_fmt_text(fmt, ", \"signature\": ");
    gsh_fmt_json_string(fmt, row.signature);
    gsh_fmt_printf(fmt, ", \"kind\": \"%s\", \"reason\": \"%s\"",
                   is_host ? "host" : kinds[count->kind - DEVICE],
                   is_host && count->kind < GSH_REASON_COUNT ? gsh_reason_codes[count->kind] : "");
    gsh_fmt_printf(fmt, ", \"calls\": %llu, \"ns\": %llu, \"bytes\": %llu}",
                   (unsigned long long)count->calls, (unsigned long long)count->ns,
                   (unsigned long long)count->bytes);
}

static void append_json(struct gsh_fmt *fmt)
{
    bool is_first = true;
    gsh_fmt_text(fmt, "[");
    for (size_t slot = 0; slot < COUNTS; slot++) {
        if (!counts[slot].is_used)
            continue;
        gsh_fmt_text(fmt, is_first ? "\n  " : ",\n  ");
        append_count(fmt, &counts[slot]);
        is_first = false;
    }
    gsh_fmt_text(fmt, "\n ]");
}

void gsh_python_advice_install(void)
{
    static const struct gsh_observer observer = {
        .host_call = host_call, .accepted = accepted, .device_call = device_call, .moved = moved};
    static const struct gsh_report_section section = {.key = "advice_lines",
                                                      .append_json = append_json};
    const char *name = gsh_option_text(GSH_OPTION_ADVISE);
    if (name[0] == '\0')
        return;
    if (strcmp(name, GSH_FORECAST_MEASURE) == 0) {
        sampled_until_ns = gsh_clock_ns();
        is_sampled = gsh_python_sampler_begin(sample);
    }
    gsh_report_sections_add(&section);
    gsh_observer = &observer;
}
