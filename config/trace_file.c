/* SPDX-License-Identifier: Apache-2.0
 *
 * The text is made piece by piece in a static buffer. Times are microseconds of CLOCK_MONOTONIC, so that traces of processes of one
 * machine fit together.
 */
#include "trace_file.h"

#include "fmt.h"
#include "forked.h"
#include "log.h"
#include "options.h"
#include "report_file.h"
#include "stats.h"
#include "trace.h"
#include "version.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 65536, LONGEST_EVENT = 2048 };

static const char *const track_names[] = {
#define X(name, text) text,
#include "trace_tracks.def"
#undef X
};

static struct {
    const char *const *reason_names;
    size_t reason_count;
    pid_t pid;           /* of the process that has a file to write; 0: none has */
    bool is_child;       /* forked: it has a file only if it has an event */
    bool is_of_process;  /* the name has "%p" */
    char name[PATH_MAX]; /* absolute, with "%p" */
    size_t folder;       /* bytes of it that the option has not given */
    char file[PATH_MAX];
} trace;

/* What is being written. */
static struct {
    char text[PIECE];
    struct gsh_fmt fmt;
    bool is_begun; /* the file holds the beginning */
    int error;
} output;

const char *gsh_trace_file_name(void)
{
    return trace.file;
}

static bool name_file_sigsafe(void)
{
    trace.pid = getpid();
    return gsh_report_file_expand_sigsafe(trace.name, trace.folder, trace.file, sizeof trace.file);
}

static void begin_in_child_after_fork(void)
{
    if (!gsh_trace_is_on)
        return;
    gsh_trace_clear_after_fork();
    trace.is_child = true;
    if (trace.is_of_process && name_file_sigsafe())
        return;
    gsh_trace_stop_sigsafe();
    trace.pid = 0;
}

static bool begin(const char *name)
{
    trace.is_of_process = strstr(name, "%p") != NULL;
    if (!gsh_report_file_absolute(name, trace.name, sizeof trace.name))
        return false;
    trace.folder = strlen(trace.name) - strlen(name);
    return name_file_sigsafe() &&
           gsh_trace_start((uint64_t)gsh_option_number(GSH_OPTION_TRACE_EVENTS));
}

void gsh_trace_file_init(const char *const *reason_names, size_t reason_count)
{
    const char *name = gsh_option_text(GSH_OPTION_TRACE);
    if (name[0] == '\0')
        return;
    trace.reason_names = reason_names;
    trace.reason_count = reason_count;
    if (begin(name)) {
        gsh_forked_add(NULL, NULL, begin_in_child_after_fork);
        return;
    }
    trace.pid = 0;
    gsh_log(GSH_LOG_WARN, "GPUSHIM_TRACE=%.100s: there is no room for the trace", name);
}

bool gsh_trace_file_is_due_sigsafe(void)
{
    return trace.pid == getpid() && !(trace.is_child && gsh_trace_count() == 0);
}

/* ---- the text ---- */

static void put_out(void)
{
    if (output.error == 0)
        output.error =
            output.is_begun
                ? gsh_report_file_extend_sigsafe(trace.file, output.text, output.fmt.length)
                : gsh_report_file_write_sigsafe(trace.file, output.text, output.fmt.length);
    output.is_begun = true;
    gsh_fmt_init(&output.fmt, output.text, sizeof output.text);
}

/* Room for one more event. */
static void make_room(void)
{
    if (output.fmt.length > PIECE - LONGEST_EVENT)
        put_out();
}

static unsigned thread_id(unsigned track, unsigned thread)
{
    return track * GSH_TRACE_THREADS + thread + 1;
}

static void append_metadata(const char *kind, unsigned tid, const char *key)
{
    gsh_fmt_printf(&output.fmt,
                   ",\n{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %lld, \"tid\": %u, "
                   "\"args\": {\"%s\": ",
                   kind, (long long)trace.pid, tid, key);
}

static void append_process(void)
{
    gsh_fmt_printf(
        &output.fmt,
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %lld, \"args\": {\"name\": "
        "\"gpushim, process %lld\"}}",
        (long long)trace.pid, (long long)trace.pid);
}

static void append_track(unsigned track, unsigned thread)
{
    unsigned tid = thread_id(track, thread);
    make_room();
    append_metadata("thread_name", tid, "name");
    gsh_fmt_printf(&output.fmt, thread > 0 ? "\"%s (thread %u)\"}}" : "\"%s\"}}",
                   track_names[track], thread + 1);
    append_metadata("thread_sort_index", tid, "sort_index");
    gsh_fmt_printf(&output.fmt, "%u}}", tid);
}

/* Tracks that have an event. */
static void append_tracks(void)
{
    bool is_used[GSH_TRACE_MEMORY][GSH_TRACE_THREADS] = {{false}};
    const struct gsh_trace_event *event;
    for (uint64_t i = 0; i < gsh_trace_count(); i++)
        if (gsh_trace_get(i, &event) && event->track < GSH_TRACE_MEMORY)
            is_used[event->track][event->thread] = true;
    for (unsigned track = 0; track < GSH_TRACE_MEMORY; track++)
        for (unsigned thread = 0; thread < GSH_TRACE_THREADS; thread++)
            if (is_used[track][thread])
                append_track(track, thread);
}

static void append_name(const struct gsh_trace_event *event)
{
    char name[80];
    struct gsh_fmt fmt;
    if (event->name != NULL) {
        gsh_fmt_json_string(&output.fmt, event->name);
        return;
    }
    gsh_fmt_init(&fmt, name, sizeof name);
    gsh_stats_append_name(event->row, &fmt);
    gsh_fmt_json_string(&output.fmt, name);
}

static void append_string(const char *key, const char *text, const char **separator)
{
    gsh_fmt_printf(&output.fmt, "%s\"%s\": ", *separator, key);
    gsh_fmt_json_string(&output.fmt, text);
    *separator = ", ";
}

static void append_number(const char *key, uint64_t number, const char **separator)
{
    gsh_fmt_printf(&output.fmt, "%s\"%s\": %llu", *separator, key, (unsigned long long)number);
    *separator = ", ";
}

static const char *reason_name(unsigned reason)
{
    return reason < trace.reason_count ? trace.reason_names[reason] : "unknown";
}

static void append_cause(const struct gsh_trace_event *event, const char **separator)
{
    char cause[256];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, cause, sizeof cause);
    gsh_fmt_printf(&fmt, event->of != NULL ? "%s %s" : "%s", event->why, event->of);
    append_string("why", cause, separator);
}

static void append_facts(const struct gsh_trace_event *event)
{
    const char *separator = "";
    if (event->track == GSH_TRACE_CALLS)
        append_string("ran on", event->reason != 0 ? "CPU" : "device", &separator);
    if (event->reason != 0)
        append_string("reason", reason_name(event->reason), &separator);
    if (event->text[0] != '\0')
        append_string("holds", event->text, &separator);
    if (event->count != 0)
        append_number("calls", event->count, &separator);
    if (event->bytes != 0)
        append_number("bytes", event->bytes, &separator);
    if (event->why != NULL)
        append_cause(event, &separator);
}

static void append_time(const char *key, uint64_t ns)
{
    gsh_fmt_printf(&output.fmt, ", \"%s\": %llu.%03llu", key, (unsigned long long)ns / 1000,
                   (unsigned long long)ns % 1000);
}

static void append_counter(const struct gsh_trace_event *event)
{
    gsh_fmt_printf(&output.fmt, ",\n{\"ph\": \"C\", \"pid\": %lld, \"name\": \"device memory\"",
                   (long long)trace.pid);
    append_time("ts", event->begin_ns);
    gsh_fmt_printf(&output.fmt, ", \"args\": {\"bytes\": %llu}}", (unsigned long long)event->bytes);
}

static void append_event(const struct gsh_trace_event *event)
{
    make_room();
    if (event->track == GSH_TRACE_MEMORY) {
        append_counter(event);
        return;
    }
    gsh_fmt_printf(&output.fmt, ",\n{\"ph\": \"X\", \"pid\": %lld, \"tid\": %u, \"name\": ",
                   (long long)trace.pid, thread_id(event->track, event->thread));
    append_name(event);
    append_time("ts", event->begin_ns);
    append_time("dur", GSH_MAX(event->end_ns, event->begin_ns) - event->begin_ns);
    gsh_fmt_text(&output.fmt, ", \"args\": {");
    append_facts(event);
    gsh_fmt_text(&output.fmt, "}}");
}

static void append_end(void)
{
    uint64_t short_ns, short_calls = gsh_trace_short_calls(&short_ns);
    make_room();
    gsh_fmt_printf(&output.fmt,
                   "\n],\n\"displayTimeUnit\": \"ms\",\n\"otherData\": {\"gpushim_version\": "
                   "\"%s\", \"dropped\": %llu, \"short_calls\": %llu, \"short_ns\": %llu}}\n",
                   gsh_version_get(), (unsigned long long)gsh_trace_dropped(),
                   (unsigned long long)short_calls, (unsigned long long)short_ns);
}

static void write_events(void)
{
    const struct gsh_trace_event *event;
    for (uint64_t i = 0; i < gsh_trace_count() && output.error == 0; i++)
        if (gsh_trace_get(i, &event))
            append_event(event);
}

int gsh_trace_file_write_sigsafe(void)
{
    if (!gsh_trace_file_is_due_sigsafe())
        return 0;
    gsh_trace_stop_sigsafe();
    gsh_fmt_init(&output.fmt, output.text, sizeof output.text);
    gsh_fmt_text(&output.fmt, "{\"traceEvents\": [\n");
    append_process();
    append_tracks();
    write_events();
    append_end();
    put_out();
    trace.pid = 0;
    return output.error;
}
