/* SPDX-License-Identifier: Apache-2.0
 *
 * Process-wide counters (stats.def), and one row per operation and dtype signature: calls and time on device and
 * host, and the reasons for staying on the CPU. The exit report reads them (stats_report.c). All are relaxed atomics
 * in static memory; rows are created without a lock. Counting works before gsh_stats_report_init and in forked
 * children, reporting does not.
 */
#pragma once

#include "base.h"
#include "fmt.h"

enum gsh_counter {
#define X(name, key, help) GSH_COUNTER_##name,
#include "stats.def"
#undef X
    GSH_COUNTER_COUNT
};

enum { GSH_STATS_MAX_ROWS = 4096, GSH_STATS_MAX_REASONS = 32 };

/* Reads GPUSHIM_REPORT and starts the report's clock. Called once, when NumPy is found. The names are kept, not
 * copied; at most GSH_STATS_MAX_REASONS of them. */
void gsh_stats_report_init(const char *const *reason_names, size_t reason_count);
/* True where the report or the trace was asked for: only then are CPU calls timed. */
bool gsh_stats_report_is_wanted(void);
/* True where calls that are too small for any device are counted, too: not for the trace alone. */
bool gsh_stats_report_counts_tiny(void);
/* From now on it is true, though no report was asked for. At start. */
void gsh_stats_report_want_times(void);

void gsh_stats_add_sigsafe(enum gsh_counter counter, uint64_t amount); /* relaxed */
/* The same for those that never run in a signal handler. */
static inline void gsh_stats_add(enum gsh_counter counter, uint64_t amount)
{
    gsh_stats_add_sigsafe(counter, amount);
}
void gsh_stats_raise(enum gsh_counter counter, uint64_t amount); /* to at least this; relaxed */
uint64_t gsh_stats_get(enum gsh_counter counter);

/* Index of the row "name signature" (e.g. "add", "dd->d"; both are copied and cut to what a row
 * holds), created at first use. Row 0 is "other": it is returned once the table is full. Any
 * thread. */
unsigned gsh_stats_row(const char *name, const char *signature);
/* Allocates the pages of the first rows, so that the first calls do not fault on them. */
void gsh_stats_prefault(void);
/* One call computed on the device, which counts in gsh_stats_folded(row); `ns` is its device time, 0 where it was not
 * measured. Relaxed atomics. */
void gsh_stats_device_call(unsigned row, uint64_t ns);
/* Device time measured after the call was counted. */
void gsh_stats_device_time(unsigned row, uint64_t ns);
/* One call computed by the original on the CPU, which counts likewise: the reason (an index into reason_names), and its time or 0. */
void gsh_stats_host_call(unsigned row, unsigned reason, uint64_t ns);
/* From now on a host call of this thread counts so many times, and so does its time: those before it were left out. */
void gsh_stats_weigh(unsigned weight);
/* One of these calls that several cores computed. */
void gsh_stats_parallel_call(unsigned row);
/* While `pauses`, host calls of this thread are not counted: the library makes them, not the program. */
void gsh_stats_pause(bool pauses);
/* `find` says in which row the calling thread's calls are gathered, whatever they are, 0: each in its own. For calls that are not the
 * program's own: of imports and of prints. Set once, before there are other threads. */
void gsh_stats_set_folding(unsigned (*find)(void));
/* The row in which a call of the calling thread counts that would count in this one. */
unsigned gsh_stats_folded(unsigned row);
/* An output that the device computed for this row was fetched to the host by a host access. */
void gsh_stats_output_fetched(unsigned row);

/* Sets all counts to 0, in a forked child. */
void gsh_stats_forget_after_fork(void);

/* A snapshot of one row. */
struct gsh_stats_row_copy {
    const char *name, *signature; /* live as long as the process */
    uint64_t device_calls, device_ns, host_calls, host_ns, parallel_calls, outputs_fetched;
    uint64_t reasons[GSH_STATS_MAX_REASONS];   /* host calls by reason */
    uint64_t reason_ns[GSH_STATS_MAX_REASONS]; /* and their time */
};
/* False where the row does not exist or has no counts. */
bool gsh_stats_get_row(unsigned row, struct gsh_stats_row_copy *copy);
unsigned gsh_stats_row_count(void);
/* All calls of a row and their time, zeros where it does not exist. */
struct gsh_stats_cost {
    uint64_t ns, calls;
};
struct gsh_stats_cost gsh_stats_row_cost(unsigned row);
/* The reason that costs most: time, and of equal times calls. */
unsigned gsh_stats_top_reason(const uint64_t calls[GSH_STATS_MAX_REASONS],
                              const uint64_t ns[GSH_STATS_MAX_REASONS]);
/* Appends the row's name and signature. */
void gsh_stats_append_name(unsigned row, struct gsh_fmt *fmt);

/* The report as text (the exit report) or JSON (docs/user/report.md names the keys). */
void gsh_stats_report_text(struct gsh_fmt *fmt);
void gsh_stats_report_json(struct gsh_fmt *fmt);
/* Writes the report and the trace that are asked for. Called once, at exit. A forked child has none, but for dir:DIR and a trace
 * whose name has its process id. */
void gsh_stats_report_at_exit(void);
/* Whether this process has a report or a trace to write. Safe in a signal handler. */
bool gsh_stats_report_is_due_sigsafe(void);
/* Writes them in the handler of a signal that ends the process. */
void gsh_stats_report_at_death_sigsafe(void);
/* The process ends without its exit functions, as workers do: writes a trace, and a report of the form dir:DIR. */
void gsh_stats_report_at_abrupt_exit_sigsafe(void);
/* Free text for the report's first line, e.g. "cuda: NVIDIA H200, 140 GiB"; copied. */
void gsh_stats_report_set_device(const char *text);
