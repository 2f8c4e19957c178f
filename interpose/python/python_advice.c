/* SPDX-License-Identifier: Apache-2.0
 *
 * Two hash tables that only grow: code objects, of which references are kept, so that a frame's code is known by its address in
 * the fault handler too; and counts by place, row and kind. Entry 0 of the latter gathers what did not fit.
 */
#include "python_advice.h"

#include "forecast.h"
#include "lock.h"
#include "observer.h"
#include "options.h"
#include "python_error.h"
#include "python_place.h"
#include "python_sampler.h"
#include "reasons.h"
#include "report_sections.h"
#include "stats.h"

#include <stdlib.h>
#include <string.h>

enum { CODES = 4096, COUNTS = 8192, DEPTH = 64 }; /* tables: powers of 2 */

/* What is counted of a place, beside the reasons for the CPU. */
enum kind { DEVICE = GSH_STATS_MAX_REASONS, UPLOAD, DOWNLOAD, FAULT, SAMPLE };

struct code {
    PyObject *_Atomic object; /* a reference; NULL: free */
    char *file;
    bool is_users;
};

struct place {
    const struct code *code; /* NULL: nowhere */
    int instruction;
};

struct count {
    struct place place;
    unsigned row, kind;
    bool is_used;
    int line;
    uint64_t calls, ns, bytes;
};

static struct gsh_lock lock = GSH_LOCK_INITIALIZER(GSH_RANK_ADVICE);
static struct code codes[CODES]; /* GIL, to add */
static unsigned code_count;
static struct count counts[COUNTS]; /* the lock */
static unsigned count_count;
static struct place last_place;  /* of a call, by any thread */
static struct place fault_place; /* of the thread that waits in the fault handler */
/* The call that the device is to get. */
static _Thread_local struct next_call {
    struct place place;
    uint64_t host_ns;
    bool is_known;
} next_call;
static _Thread_local const void
    *thread; /* of the main thread alone: others may lose theirs; else NULL */

/* ---- places ---- */

/* The code's slot, or the free one for it. */
static struct code *find_code_sigsafe(PyObject *object)
{
    size_t slot = ((uintptr_t)object >> 4 ^ (uintptr_t)object >> 16) % CODES;
    while (codes[slot].object != NULL && codes[slot].object != object)
        slot = (slot + 1) % CODES;
    return &codes[slot];
}

static bool is_users(const char *file)
{
    static const char *const others[] = {"/numpy/", "/scipy/", "<frozen ",
                                         "<__array_function__ internals>"};
    bool is_installed = strstr(file, "-packages/") != NULL;
    for (size_t i = 0; i < GSH_COUNT(others); i++)
        if (strstr(file, others[i]) != NULL)
            return false;
    return is_installed || strstr(file, "/lib/python3") == NULL;
}

/* The Python error that is set stays. */
static char *copy_file(PyObject *code)
{
    PyObject *type, *value, *traceback;
    gsh_py.PyErr_Fetch(&type, &value, &traceback);
    PyObject *name = gsh_py.PyObject_GetAttrString(code, "co_filename");
    const char *text = name ? gsh_py.PyUnicode_AsUTF8(name) : NULL;
    char *copy = strdup(text ? text : "?");
    gsh_py_drop(&name, 1);
    gsh_python_error_clear();
    gsh_py.PyErr_Restore(type, value, traceback);
    return copy;
}

/* Makes the code known. GIL. */
static void know(PyObject *object)
{
    struct code *code = find_code_sigsafe(object);
    if (code->object != NULL || code_count >= CODES / 2 || (code->file = copy_file(object)) == NULL)
        return;
    gsh_py.Py_IncRef(object);
    code->is_users = is_users(code->file);
    code->object = object;
    code_count++;
}

/* The innermost place in code that is known, if possible in the user's. */
static struct place choose_sigsafe(const struct gsh_python_place_frame *frames, unsigned count)
{
    struct place place = {NULL, 0};
    for (unsigned i = 0; i < count; i++) {
        const struct code *code = find_code_sigsafe(frames[i].code);
        if (code->object != NULL && (place.code == NULL || code->is_users))
            place = (struct place){code, frames[i].instruction};
        if (place.code != NULL && place.code->is_users)
            break;
    }
    return place;
}

/* is_locked: code that is not known yet stays unknown, as Python is not called under our locks. */
static struct place place_of_thread(bool is_locked)
{
    struct gsh_python_place_frame frames[DEPTH];
    bool has_gil = !is_locked && gsh_py.PyGILState_Check() != 0;
    const void *walked = has_gil ? gsh_python_place_thread() : thread;
    if (walked == NULL)
        return fault_place.code != NULL ? fault_place : last_place;
    unsigned count = gsh_python_place_walk_sigsafe(walked, frames, DEPTH);
    for (unsigned i = 0; i < count && has_gil; i++)
        know(frames[i].code);
    last_place = choose_sigsafe(frames, count);
    return last_place;
}

/* ---- counts ---- */

static bool is_same(const struct count *count, struct place place, unsigned row, unsigned kind)
{
    return count->place.code == place.code && count->place.instruction == place.instruction &&
           count->row == row && count->kind == kind;
}

/* Caller holds the lock. */
static struct count *find_count(struct place place, unsigned row, unsigned kind)
{
    uint64_t key = (uint64_t)(uintptr_t)place.code * 31 + (uint64_t)place.instruction;
    size_t slot = ((key * 31 + row) * 31 + kind) * UINT64_C(0x9E3779B97F4A7C15) >> 40;
    for (slot %= COUNTS; counts[slot].is_used; slot = (slot + 1) % COUNTS)
        if (is_same(&counts[slot], place, row, kind))
            return &counts[slot];
    if (count_count >= COUNTS / 2)
        return &counts[0];
    count_count++;
    const struct gsh_python_place_frame frame = {place.code ? place.code->object : NULL,
                                                 place.instruction};
    counts[slot] = (struct count){.place = place,
                                  .row = row,
                                  .kind = kind,
                                  .is_used = true,
                                  .line = frame.code ? gsh_python_place_line_sigsafe(frame) : 0};
    return &counts[slot];
}

static void add_at(struct place place, unsigned row, unsigned kind, uint64_t ns, uint64_t bytes)
{
    GSH_LOCKED(&lock);
    struct count *count = find_count(place, row, kind);
    count->calls++;
    count->ns += ns;
    count->bytes += bytes;
}

static void sample(const struct gsh_python_place_frame *frames, unsigned count, uint64_t ns)
{
    for (unsigned i = 0; i < count; i++)
        know(frames[i].code);
    add_at(choose_sigsafe(frames, count), 0, SAMPLE, ns, 0);
}

static void host_call(unsigned row, unsigned reason, uint64_t ns)
{
    next_call.is_known = false;
    add_at(place_of_thread(false), row, GSH_MIN(reason, GSH_STATS_MAX_REASONS - 1), ns, 0);
}

static void accepted(uint64_t host_ns)
{
    next_call = (struct next_call){place_of_thread(false), host_ns, true};
}

static void device_call(unsigned row)
{
    struct next_call call = next_call;
    next_call.is_known = false;
    add_at(call.is_known ? call.place : place_of_thread(true), row, DEVICE,
           call.is_known ? call.host_ns : 0, 0);
}

static void moved(bool is_download, size_t bytes, uint64_t ns)
{
    bool is_fault = is_download && thread == NULL && fault_place.code != NULL;
    add_at(place_of_thread(true), 0, is_fault ? FAULT : is_download ? DOWNLOAD : UPLOAD, ns, bytes);
}

static void fault_begins_sigsafe(void)
{
    struct gsh_python_place_frame frames[DEPTH];
    if (thread != NULL)
        fault_place = choose_sigsafe(frames, gsh_python_place_walk_sigsafe(thread, frames, DEPTH));
}

static void fault_ends_sigsafe(void)
{
    if (thread != NULL)
        fault_place = (struct place){NULL, 0};
}

/* ---- the report ---- */

static void append_count(struct gsh_fmt *fmt, const struct count *count)
{
    static const char *const kinds[] = {"device", "upload", "download", "fault", "sample"};
    struct gsh_stats_row_copy row = {.name = "", .signature = ""};
    (void)gsh_stats_get_row(count->row, &row);
    bool is_host = count->kind < DEVICE;
    gsh_fmt_text(fmt, "{\"file\": ");
    gsh_fmt_json_string(fmt, count->place.code ? count->place.code->file : "");
    gsh_fmt_printf(fmt, ", \"users\": %s, \"line\": %d, \"name\": ",
                   count->place.code && count->place.code->is_users ? "true" : "false",
                   count->line);
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
        .host_call = host_call,
        .accepted = accepted,
        .device_call = device_call,
        .moved = moved,
        .fault_begins_sigsafe = fault_begins_sigsafe,
        .fault_ends_sigsafe = fault_ends_sigsafe,
    };
    static const struct gsh_report_section section = {.key = "advice_lines",
                                                      .append_json = append_json};
    const char *name = gsh_option_text(GSH_OPTION_ADVISE);
    if (name[0] == '\0')
        return;
    if (strcmp(name, GSH_FORECAST_MEASURE) == 0)
        gsh_python_sampler_begin(sample);
    thread = gsh_python_place_thread();
    gsh_report_sections_add(&section);
    gsh_observer = &observer;
}
