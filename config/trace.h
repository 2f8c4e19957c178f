/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace that GPUSHIM_TRACE asks for: what happened when, in a buffer of fixed size, from which trace_file.h makes a file. Any
 * thread adds events, also in a signal handler: no lock is taken and nothing is allocated. What comes after the buffer is full is
 * counted and dropped. Without the option, a place that is traced costs a load and a branch.
 *
 *     uint64_t begin = gsh_trace_begin();
 *     ...
 *     GSH_TRACE_END(begin, UPLOADS, .name = "upload", .bytes = size);
 *
 * Names and causes are kept, not copied; `text` is copied and cut.
 */
#pragma once

#include "base.h"
#include "clock.h"

#include <stdatomic.h>

enum gsh_trace_track {
#define X(name, text) GSH_TRACE_##name,
#include "trace_tracks.def"
#undef X
    GSH_TRACE_MEMORY, /* bytes of device memory: a counter */
    GSH_TRACE_TRACKS
};

enum { GSH_TRACE_TEXT = 64, GSH_TRACE_THREADS = 64 };
/* Calls on the CPU that took less are counted, and not kept. */
enum { GSH_TRACE_SHORT_NS = 2000 };

struct gsh_trace_facts {
    enum gsh_trace_track track;
    const char *name;     /* NULL: that of the stats row */
    const char *why, *of; /* of a transfer: "operand of", "add"; NULL: none */
    const char *text;     /* what a group holds; NULL: nothing */
    uint64_t bytes;
    unsigned row;    /* stats row; 0: none */
    unsigned reason; /* of CALLS: why it ran on the CPU; 0: it did not */
    unsigned count;  /* of FLUSHES: calls */
};

struct gsh_trace_event {
    uint64_t begin_ns, end_ns, bytes;
    const char *name, *why, *of;
    uint32_t row, count;
    uint16_t thread; /* in order of their first events; the last number is shared; of DEVICE 0 */
    uint8_t track, reason;
    char text[GSH_TRACE_TEXT];
    bool is_written; /* atomic; trace.c alone uses it */
};

/* Set by gsh_trace_start, cleared by gsh_trace_stop_sigsafe. */
extern _Atomic bool gsh_trace_is_on;
/* Why this thread moves bytes, and for whom; NULL: not said. */
extern _Thread_local const char *gsh_trace_why, *gsh_trace_of;
/* What the group holds that is being submitted; "": none. Under the DISPATCH lock. */
extern char gsh_trace_group[GSH_TRACE_TEXT];

/* The time, or 0 where nothing is traced. */
static inline uint64_t gsh_trace_begin(void)
{
    return GSH_UNLIKELY(gsh_trace_is_on) ? gsh_clock_ns() : 0;
}

/* The event began then and ends now. */
void gsh_trace_add_sigsafe(uint64_t begin_ns, const struct gsh_trace_facts *facts);
/* The event ended then: of a device that has a clock of its own. */
void gsh_trace_add_past(uint64_t begin_ns, uint64_t end_ns, const struct gsh_trace_facts *facts);
/* The arrays hold so many bytes of device memory from now on. */
void gsh_trace_memory(uint64_t bytes);

#define GSH_TRACE_END(begin, name_of_track, ...)                                                   \
    do {                                                                                           \
        if (GSH_UNLIKELY((begin) != 0))                                                            \
            gsh_trace_add_sigsafe((begin), &(const struct gsh_trace_facts){                        \
                                               .track = GSH_TRACE_##name_of_track, __VA_ARGS__});  \
    } while (0)

/* A transfer that this thread has made, for the cause that it was told. */
#define GSH_TRACE_TRANSFER(begin, name_of_track, size)                                             \
    GSH_TRACE_END(begin, name_of_track, .name = "transfer", .why = gsh_trace_why,                  \
                  .of = gsh_trace_of, .bytes = (size))

struct gsh_trace_cause {
    const char *why, *of;
};

static inline struct gsh_trace_cause gsh_trace_swap_cause(const char *why, const char *of)
{
    struct gsh_trace_cause before = {NULL, NULL};
    if (GSH_UNLIKELY(gsh_trace_is_on)) {
        before = (struct gsh_trace_cause){gsh_trace_why, gsh_trace_of};
        gsh_trace_why = why;
        gsh_trace_of = of;
    }
    return before;
}

static inline void gsh_trace_restore_cause(const struct gsh_trace_cause *cause)
{
    if (GSH_LIKELY(!gsh_trace_is_on))
        return;
    gsh_trace_why = cause->why;
    gsh_trace_of = cause->of;
}

/* Bytes that this thread moves until the block's end are moved for that: `of` may be NULL. */
#define GSH_TRACE_CAUSE(why, of)                                                                   \
    const struct gsh_trace_cause gsh_trace_cause_before                                            \
        __attribute__((cleanup(gsh_trace_restore_cause), unused)) = gsh_trace_swap_cause(why, of)

/* Room for so many events; false: there is none. Before there are other threads. */
bool gsh_trace_start(uint64_t events);
/* No event is begun from now on. */
void gsh_trace_stop_sigsafe(void);
/* Forgets all events. In a forked child. */
void gsh_trace_clear_after_fork(void);

/* What was kept, for the file; *event is not to be read where it is false: its thread is just writing it. */
uint64_t gsh_trace_count(void);
bool gsh_trace_get(uint64_t index, const struct gsh_trace_event **event);
uint64_t gsh_trace_dropped(void);
/* Calls that were too short, and their nanoseconds. */
uint64_t gsh_trace_short_calls(uint64_t *ns);
