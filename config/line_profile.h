/* SPDX-License-Identifier: Apache-2.0
 *
 * The line profile: counters for each line of the program, as stats.h has them for each operation. stats.c passes every event on
 * while the profile is on. An event belongs to the line that the thread is in, or to the one that the thread was told: a node runs
 * for the line that recorded it, a page fault is served for the line that waits. Rows are static memory, made without a lock;
 * counters are relaxed atomics. Functions that end in `_sigsafe` may run in a signal handler.
 */
#pragma once

#include "stats.h"

enum { GSH_LINE_PROFILE_MAX_ROWS = 2048, GSH_LINE_PROFILE_CALLS = 6, GSH_LINE_PROFILE_FILE = 192 };

/* X(member): the counters of a line */
#define GSH_LINE_PROFILE_COUNTERS(X)                                                               \
    X(device_calls)                                                                                \
    X(device_ns)                                                                                   \
    X(host_calls)                                                                                  \
    X(host_ns)                                                                                     \
    X(uploads)                                                                                     \
    X(upload_bytes) X(downloads) X(download_bytes) X(small_downloads) X(faults_read) X(faults_write)

/* Downloads of at most so many bytes are single elements or results: small_downloads. */
enum { GSH_LINE_PROFILE_SMALL_BYTES = 64 };

/* Calls of one operation by a line. */
struct gsh_line_profile_call {
    unsigned row; /* stats row */
    bool is_on_device;
    uint64_t calls;
};

struct gsh_line_profile_copy {
    const char *file; /* its end, where it is long; lives as long as the process */
    unsigned line;
#define X(member) uint64_t member;
    GSH_LINE_PROFILE_COUNTERS(X)
#undef X
    unsigned reader; /* of the largest download: its row (readers.h); 0: not known */
    uint64_t reasons[GSH_STATS_MAX_REASONS];   /* host calls by reason */
    uint64_t reason_ns[GSH_STATS_MAX_REASONS]; /* and their time */
    struct gsh_line_profile_call
        calls[GSH_LINE_PROFILE_CALLS]; /* the first operations; unused: calls 0 */
};

extern bool gsh_line_profile_is_on;

/* Asks for lines; before they are found. in_report: the report has the profile too. */
void gsh_line_profile_want(bool in_report);
bool gsh_line_profile_is_wanted(void);
bool gsh_line_profile_is_reported(void);
/* The functions return the row of the line that the calling thread is in, 0 for none; `find` may take references with the GIL. */
void gsh_line_profile_start(unsigned (*find)(void), unsigned (*find_sigsafe)(void));
/* No line is found any more; events still go to the lines that threads work for. */
void gsh_line_profile_stop(void);

/* The row of a line, made at first use; 0, "other", once the table is full. */
unsigned gsh_line_profile_row_sigsafe(const char *file, unsigned line);
/* The row of the line that this thread is in or works for; 0: none, or the profile is off. */
unsigned gsh_line_profile_here(void);
unsigned gsh_line_profile_here_sigsafe(void);
/* From now on this thread works for that line (0: for its own). Returns what it worked for. */
unsigned gsh_line_profile_swap_sigsafe(unsigned row);

/* Events, from stats.c. */
/* `reader`: for whom bytes were downloaded (readers.h); 0: not known. */
void gsh_line_profile_count_sigsafe(enum gsh_counter counter, uint64_t amount, unsigned reader);
void gsh_line_profile_device_call(unsigned operation);
void gsh_line_profile_device_time(uint64_t ns);
void gsh_line_profile_host_call(unsigned operation, unsigned reason, unsigned calls, uint64_t ns);

/* Sets all counts to 0, in a forked child. */
void gsh_line_profile_forget_after_fork(void);

/* Rows are 0 to count - 1. False: the row has no event. */
unsigned gsh_line_profile_count(void);
bool gsh_line_profile_get(unsigned row, struct gsh_line_profile_copy *copy);
