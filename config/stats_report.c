/* SPDX-License-Identifier: Apache-2.0
 *
 * The report: the numbers of stats.c as the text printed at exit and as JSON. Only the process that attached to NumPy
 * reports. Its forked children share the numbers and print nothing, but for a report of the form dir:DIR: there each counts from
 * the fork on.
 */
#include "clock.h"
#include "forked.h"
#include "futex.h"
#include "line_profile.h"
#include "log.h"
#include "nvtx.h"
#include "option_words.h"
#include "options.h"
#include "readers.h"
#include "readers_report.h"
#include "report_file.h"
#include "report_process.h"
#include "report_sections.h"
#include "report_verdict.h"
#include "stats.h"
#include "trace.h"
#include "trace_file.h"
#include "version.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_WAIT_MS 10000U /* for another thread that writes the files */
#define SURE_ROWS 12        /* the text shows the busiest; JSON has all */
#define TEXT_ROWS 40        /* and up to so many, while a row takes a share of the time of all: */
#define LEAST_SHARE 1000    /* one of so many parts */
#define OPERATION_WIDTH 32

enum mode { SILENT, PRINTED, JSON_FILE };
enum end { AT_EXIT, BY_SIGNAL, ABRUPT };
enum writing { NOT_WRITTEN, IS_WRITING, IS_WRITTEN };

static _Atomic uint32_t writing; /* what has become of the files */

static struct {
    const char *const *reason_names;
    size_t reason_count;
    enum mode mode;
    pid_t pid; /* of the process that attached; 0 before */
    uint64_t start_ns;
    bool is_written;
    bool is_child;         /* forked: it reports only what it has counted itself */
    char folder[PATH_MAX]; /* absolute; "": the file is not that of dir:DIR */
    bool is_timed;         /* the times are wanted for something else than a report */
    char device[256];
    char file[PATH_MAX]; /* absolute */
} report = {.device = "no device"};

static const char *const counter_keys[GSH_COUNTER_COUNT] = {
#define X(name, key, help) key,
#include "stats.def"
#undef X
};

static bool set_file(const char *name)
{
    return gsh_report_file_name(name, report.file, sizeof report.file);
}

/* The text without the word "lines", which asks for the line profile: the first or the last of a list. "lines" alone: "1". */
static const char *take_lines(const char *text, char *rest, size_t size)
{
    size_t length = strlen(text);
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, rest, size);
    if (strcmp(text, "lines") == 0)
        gsh_fmt_text(&fmt, "1");
    else if (strncmp(text, "lines,", 6) == 0)
        gsh_fmt_text(&fmt, text + 6);
    else if (length > 6 && strcmp(text + length - 6, ",lines") == 0)
        gsh_fmt_printf(&fmt, "%.*s", (int)(length - 6), text);
    else
        return text;
    gsh_line_profile_want(true);
    return rest;
}

static void begin_in_child_after_fork(void)
{
    gsh_stats_forget_after_fork();
    gsh_line_profile_forget_after_fork();
    gsh_readers_forget_after_fork();
    gsh_wall_time_begin_after_fork();
    gsh_report_process_begin_after_fork();
    report.pid = getpid();
    report.start_ns = gsh_clock_ns();
    report.is_written = false;
    atomic_store(&writing, NOT_WRITTEN);
    report.is_child = true;
    (void)gsh_report_process_file_sigsafe(report.folder, report.file, sizeof report.file);
}

/* dir:DIR: each process has a file there. False: it cannot be named. */
static bool set_folder(const char *text)
{
    static const char prefix[] = "dir:";
    if (strncmp(text, prefix, strlen(prefix)) != 0 || text[strlen(prefix)] == '\0' ||
        !gsh_report_file_name(text + strlen(prefix), report.folder, sizeof report.folder))
        return false;
    gsh_report_process_init();
    if (!gsh_report_process_file_sigsafe(report.folder, report.file, sizeof report.file))
        return false;
    (void)mkdir(report.folder, 0777); /* what goes wrong is said when the file is written */
    gsh_forked_add(NULL, NULL, begin_in_child_after_fork);
    return true;
}

static enum mode parse_mode(const char *text)
{
    static const char json[] = "json:";
    char rest[PATH_MAX];
    int64_t is_on;
    text = take_lines(text, rest, sizeof rest);
    if (text[0] == '\0')
        return SILENT;
    if (gsh_option_words_bool(text, &is_on))
        return is_on ? PRINTED : SILENT;
    if (strncmp(text, json, strlen(json)) == 0 && text[strlen(json)] != '\0' &&
        set_file(text + strlen(json))) {
        gsh_report_process_init();
        return JSON_FILE;
    }
    if (set_folder(text))
        return JSON_FILE;
    gsh_log(GSH_LOG_WARN,
            "GPUSHIM_REPORT=%.100s: bad value, taken as 0; allowed: 0|1|json:FILE|dir:DIR, each "
            "also with "
            ",lines",
            text);
    return SILENT;
}

void gsh_stats_report_init(const char *const *reason_names, size_t reason_count)
{
    report.reason_names = reason_names;
    report.reason_count = GSH_MIN(reason_count, (size_t)GSH_STATS_MAX_REASONS);
    report.pid = getpid();
    report.start_ns = gsh_clock_ns();
    report.mode = parse_mode(gsh_option_text(GSH_OPTION_REPORT));
    if (report.mode != SILENT)
        gsh_wall_time_begin();
    gsh_trace_file_init(reason_names, reason_count);
    gsh_nvtx_init();
}

bool gsh_stats_report_is_wanted(void)
{
    return report.mode != SILENT || report.is_timed || gsh_trace_is_on;
}

bool gsh_stats_report_counts_tiny(void)
{
    return report.mode != SILENT || report.is_timed;
}

void gsh_stats_report_want_times(void)
{
    report.is_timed = true;
}

void gsh_stats_report_set_device(const char *text)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, report.device, sizeof report.device);
    gsh_fmt_text(&fmt, text);
}

static const char *reason_name(size_t reason)
{
    return reason < report.reason_count ? report.reason_names[reason] : "unknown";
}

static const char *top_reason(const struct gsh_stats_row_copy *row)
{
    unsigned top = gsh_stats_top_reason(row->reasons, row->reason_ns);
    return row->reasons[top] > 0 ? reason_name(top) : "-";
}

/* Three significant digits and a suitable unit; "-" where no time was measured. */
static void format_time(char *text, size_t size, uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, size);
    if (ns == 0) {
        gsh_fmt_text(&fmt, "-");
        return;
    }
    double value = (double)ns;
    size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < GSH_COUNT(units); unit++)
        value /= 1000;
    gsh_fmt_printf(&fmt, "%.*f %s",
                   unit == 0 || value >= 99.95 ? 0
                   : value >= 9.995            ? 1
                                               : 2,
                   value, units[unit]);
}

/* Busiest first: by time measured, then by calls. */
static bool is_before(uint16_t left, uint16_t right)
{
    struct gsh_stats_cost a = gsh_stats_row_cost(left), b = gsh_stats_row_cost(right);
    if (a.ns != b.ns)
        return a.ns > b.ns;
    return a.calls != b.calls ? a.calls > b.calls : left < right;
}

/* Shell sort: qsort may allocate, which a signal handler must not. */
static void sort(uint16_t *order, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (size_t i = gap; i < count; i++) {
            uint16_t moved = order[i];
            size_t j = i;
            for (; j >= gap && is_before(moved, order[j - gap]); j -= gap)
                order[j] = order[j - gap];
            order[j] = moved;
        }
}

/* The rows that counted something, busiest first. */
static size_t sort_rows(uint16_t order[GSH_STATS_MAX_ROWS])
{
    size_t count = 0;
    for (unsigned i = 0; i < gsh_stats_row_count(); i++) {
        struct gsh_stats_cost cost = gsh_stats_row_cost(i);
        if (cost.calls > 0 || cost.ns > 0)
            order[count++] = (uint16_t)i;
    }
    sort(order, count);
    return count;
}

static void append_text_row(struct gsh_fmt *fmt, unsigned index)
{
    struct gsh_stats_row_copy row;
    if (!gsh_stats_get_row(index, &row))
        return;
    char op[128], device_time[16], host_time[16];
    struct gsh_fmt op_fmt;
    gsh_fmt_init(&op_fmt, op, sizeof op);
    gsh_fmt_printf(&op_fmt, "%s%s%s", row.name, row.signature[0] != '\0' ? " " : "", row.signature);
    format_time(device_time, sizeof device_time, row.device_ns);
    format_time(host_time, sizeof host_time, row.host_ns);
    gsh_fmt_printf(fmt, " %-*s", OPERATION_WIDTH, op);
    if (op_fmt.length > OPERATION_WIDTH)
        gsh_fmt_printf(fmt, "\n %*s", OPERATION_WIDTH, "");
    gsh_fmt_printf(fmt, " %12llu %9s %12llu %9s   %s\n", (unsigned long long)row.device_calls,
                   device_time, (unsigned long long)row.host_calls, host_time, top_reason(&row));
}

static void append_count(struct gsh_fmt *fmt, const char *before, enum gsh_counter counter,
                         const char *one, const char *many)
{
    gsh_fmt_text(fmt, before);
    gsh_fmt_count(fmt, gsh_stats_get(counter), one, many);
}

static void append_moved(struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, " moved: host to device ");
    gsh_fmt_bytes(fmt, (double)gsh_stats_get(GSH_COUNTER_UPLOAD_BYTES), "B");
    append_count(fmt, " (", GSH_COUNTER_UPLOADS, "transfer", "transfers");
    gsh_fmt_text(fmt, "), device to host ");
    gsh_fmt_bytes(fmt, (double)gsh_stats_get(GSH_COUNTER_DOWNLOAD_BYTES), "B");
    append_count(fmt, " (", GSH_COUNTER_DOWNLOADS, "transfer", "transfers");
    gsh_fmt_text(fmt, "), inside the device ");
    gsh_fmt_bytes(fmt, (double)gsh_stats_get(GSH_COUNTER_DEVICE_COPY_BYTES), "B");
    gsh_fmt_text(fmt, "\n");
}

static void append_start(struct gsh_fmt *fmt)
{
    char start[16];
    format_time(start, sizeof start, gsh_stats_get(GSH_COUNTER_START_NS));
    gsh_fmt_printf(fmt, " device start %s", start);
    append_count(fmt, "; ", GSH_COUNTER_LAUNCHES, "launch", "launches");
    append_count(fmt, ", ", GSH_COUNTER_COMPILES, "kernel", "kernels");
    gsh_fmt_printf(fmt, " compiled, %llu from the disk cache",
                   (unsigned long long)gsh_stats_get(GSH_COUNTER_CACHE_HITS));
    append_count(fmt, "; ", GSH_COUNTER_EVICTIONS, "eviction", "evictions");
    gsh_fmt_text(fmt, "\n");
}

/* Calls that ran otherwise than one by one. */
static void append_together(struct gsh_fmt *fmt)
{
    if (gsh_stats_get(GSH_COUNTER_PARALLEL_LOOPS) != 0) {
        append_count(fmt, " ", GSH_COUNTER_PARALLEL_LOOPS, "loop or copy",
                     "loops of NumPy and copies");
        gsh_fmt_text(fmt, " ran on several cores\n");
    }
    if (gsh_stats_get(GSH_COUNTER_GROUPED) == 0 && gsh_stats_get(GSH_COUNTER_DEAD_NODES) == 0)
        return;
    append_count(fmt, " ", GSH_COUNTER_GROUPED, "call", "calls");
    append_count(fmt, " ran together, in ", GSH_COUNTER_GROUPS, "group", "groups");
    append_count(fmt, "; ", GSH_COUNTER_DEAD_NODES, "call", "calls");
    gsh_fmt_text(fmt, " never needed\n");
}

static void append_events(struct gsh_fmt *fmt)
{
    char wall[16];
    append_start(fmt);
    append_together(fmt);
    format_time(wall, sizeof wall, gsh_clock_ns() - report.start_ns);
    gsh_fmt_printf(fmt, " page faults %llu read, %llu write",
                   (unsigned long long)gsh_stats_get(GSH_COUNTER_FAULTS_READ),
                   (unsigned long long)gsh_stats_get(GSH_COUNTER_FAULTS_WRITE));
    append_count(fmt, "; ", GSH_COUNTER_FORKS, "fork", "forks");
    gsh_fmt_printf(fmt, "; %s since NumPy was found; version %s\n", wall, gsh_version_get());
}

static size_t count_shown(const uint16_t *order, size_t count)
{
    uint64_t all = 0;
    size_t shown = GSH_MIN(count, (size_t)TEXT_ROWS);
    for (size_t i = 0; i < count; i++)
        all += gsh_stats_row_cost(order[i]).ns;
    while (shown > SURE_ROWS && gsh_stats_row_cost(order[shown - 1]).ns < all / LEAST_SHARE)
        shown--;
    return shown;
}

void gsh_stats_report_text(struct gsh_fmt *fmt)
{
    uint16_t order[GSH_STATS_MAX_ROWS];
    size_t count = sort_rows(order), shown = count_shown(order, count);
    struct gsh_report_verdict verdict;
    gsh_report_verdict_take(&verdict, report.device);
    gsh_report_verdict_text(fmt, &verdict);
    gsh_fmt_printf(fmt, " %-*s %12s %9s %12s %9s   %s\n", OPERATION_WIDTH, "operation",
                   "device calls", "time", "CPU calls", "time", "top reason for the CPU");
    for (size_t i = 0; i < shown; i++)
        append_text_row(fmt, order[i]);
    if (count == 0)
        gsh_fmt_text(fmt, verdict.device.state == GSH_REPORT_INACTIVE
                              ? " (calls were not looked at)\n"
                              : " (no call that could run on a device)\n");
    if (count > shown)
        gsh_fmt_printf(fmt, " (%zu more in GPUSHIM_REPORT=json:FILE)\n", count - shown);
    append_moved(fmt);
    gsh_readers_report_text(fmt);
    append_events(fmt);
    gsh_report_sections_text(fmt);
}

static void append_json_row(struct gsh_fmt *fmt, const struct gsh_stats_row_copy *row)
{
    gsh_fmt_text(fmt, "{\"name\": ");
    gsh_fmt_json_string(fmt, row->name);
    gsh_fmt_text(fmt, ", \"signature\": ");
    gsh_fmt_json_string(fmt, row->signature);
    gsh_fmt_printf(fmt, ", \"device_calls\": %llu, \"device_ns\": %llu",
                   (unsigned long long)row->device_calls, (unsigned long long)row->device_ns);
    gsh_fmt_printf(fmt, ", \"host_calls\": %llu, \"host_ns\": %llu",
                   (unsigned long long)row->host_calls, (unsigned long long)row->host_ns);
    gsh_fmt_printf(fmt, ", \"parallel_calls\": %llu", (unsigned long long)row->parallel_calls);
    gsh_fmt_printf(fmt, ", \"outputs_fetched\": %llu, \"reasons\": {",
                   (unsigned long long)row->outputs_fetched);
    const char *separator = "";
    for (size_t i = 0; i < GSH_STATS_MAX_REASONS; i++) {
        if (row->reasons[i] == 0)
            continue;
        gsh_fmt_text(fmt, separator);
        gsh_fmt_json_string(fmt, reason_name(i));
        gsh_fmt_printf(fmt, ": %llu", (unsigned long long)row->reasons[i]);
        separator = ", ";
    }
    gsh_fmt_text(fmt, "}}");
}

void gsh_stats_report_json(struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt, "{\"version\": 1, \"gpushim_version\": \"%s\", \"pid\": %lld, \"device\": ",
                   gsh_version_get(), (long long)report.pid);
    gsh_fmt_json_string(fmt, report.device);
    struct gsh_report_verdict verdict;
    gsh_report_verdict_take(&verdict, report.device);
    gsh_fmt_printf(fmt, ", \"wall_ns\": %llu,\n \"verdict\": ",
                   (unsigned long long)(gsh_clock_ns() - report.start_ns));
    gsh_report_verdict_json(fmt, &verdict);
    gsh_fmt_text(fmt, ",\n \"counters\": {");
    for (unsigned i = 0; i < GSH_COUNTER_COUNT; i++)
        gsh_fmt_printf(fmt, "%s\"%s\": %llu", i > 0 ? ", " : "", counter_keys[i],
                       (unsigned long long)gsh_stats_get(i));
    gsh_fmt_text(fmt, "},\n \"operations\": [");
    uint16_t order[GSH_STATS_MAX_ROWS];
    size_t count = sort_rows(order);
    for (size_t i = 0; i < count; i++) {
        struct gsh_stats_row_copy row;
        if (!gsh_stats_get_row(order[i], &row))
            continue;
        gsh_fmt_text(fmt, i > 0 ? ",\n  " : "\n  ");
        append_json_row(fmt, &row);
    }
    gsh_fmt_text(fmt, "\n ],\n \"readers\": ");
    gsh_readers_report_json(fmt);
    gsh_report_sections_json(fmt);
    gsh_fmt_text(fmt, "}\n");
}

/* Writes at exit, or (is_dying) in the handler of a signal that ends the process. */
static int write_report(bool is_dying)
{
    void (*append)(struct gsh_fmt *) =
        report.mode == PRINTED ? gsh_stats_report_text : gsh_stats_report_json;
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, NULL, 0);
    append(&fmt);
    /* Room for more digits in the second pass: other threads still count. */
    size_t size = fmt.required + fmt.required / 4 + 4096;
    char *text = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED)
        return ENOMEM;
    gsh_fmt_init(&fmt, text, size);
    append(&fmt);
    int error = 0;
    if (report.mode == JSON_FILE)
        error = gsh_report_file_write_sigsafe(report.file, text, fmt.length);
    else if (is_dying)
        error = gsh_report_file_append_sigsafe(STDERR_FILENO, text, fmt.length);
    else
        gsh_log_raw_sigsafe(text, fmt.length);
    munmap(text, size);
    return error;
}

static bool has_counted(void)
{
    struct gsh_stats_row_copy row;
    for (unsigned i = 0; i < gsh_stats_row_count(); i++)
        if (gsh_stats_get_row(i, &row))
            return true;
    return false;
}

static bool is_of_this_process_sigsafe(void)
{
    return report.mode != SILENT && report.pid == getpid() && !report.is_written;
}

bool gsh_stats_report_is_due_sigsafe(void)
{
    return is_of_this_process_sigsafe() || gsh_trace_file_is_due_sigsafe();
}

static void complain(const char *what, const char *file, int error, enum end end)
{
    if (error != 0 && end != AT_EXIT)
        gsh_log_sigsafe("a report or a trace cannot be written");
    else if (error != 0)
        gsh_log(GSH_LOG_WARN, "cannot write the %s to %s: %s", what, file,
                error == ELOOP ? "it is a symbolic link" : strerror(error));
}

static bool has_report(enum end end)
{
    return is_of_this_process_sigsafe() && (end != ABRUPT || report.folder[0] != '\0') &&
           (!report.is_child || has_counted());
}

static void write_files(enum end end)
{
    complain("trace", gsh_trace_file_name(), gsh_trace_file_write_sigsafe(), end);
    if (!has_report(end))
        return;
    int error = write_report(end != AT_EXIT);
    report.is_written = true;
    complain("report", report.file, error, end);
}

/* Once in a process. A thread that ends the process while another one writes waits for it. */
static void write_once(enum end end)
{
    uint32_t before = NOT_WRITTEN;
    if (atomic_compare_exchange_strong(&writing, &before, IS_WRITING)) {
        write_files(end);
        atomic_store(&writing, IS_WRITTEN);
        gsh_futex_wake_all_sigsafe(&writing);
    } else if (before == IS_WRITING) {
        gsh_futex_wait_change_for(&writing, IS_WRITING, MOST_WAIT_MS);
    }
}

/* A signal that ends the process waits until the files are whole: pools send their workers SIGTERM while these exit. */
static void write_undisturbed(enum end end)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t signals, before;
    if (!gsh_stats_report_is_due_sigsafe())
        return;
    sigfillset(&signals);
    for (size_t i = 0; i < GSH_COUNT(faults); i++)
        sigdelset(&signals, faults[i]);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    write_once(end);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void gsh_stats_report_at_exit(void)
{
    write_undisturbed(AT_EXIT);
}

void gsh_stats_report_at_death_sigsafe(void)
{
    write_undisturbed(BY_SIGNAL);
}

void gsh_stats_report_at_abrupt_exit_sigsafe(void)
{
    write_undisturbed(ABRUPT);
}
