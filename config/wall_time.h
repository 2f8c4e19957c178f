/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the wall time of the program's main thread goes, for the report: a stop-watch that always runs for one of these parts, so
 * that the parts add up to the whole. A thread that works while the main thread waits for it (the service thread) may switch the
 * stop-watch, too.
 *
 * Runs only where the report is wanted; otherwise _enter and _leave are a load and a branch. Takes no lock. In signal handlers too.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum gsh_wall_part {
    GSH_WALL_PROGRAM,   /* Python, and what is not hooked */
    GSH_WALL_CPU,       /* NumPy's own code of calls that are hooked */
    GSH_WALL_DEVICE,    /* waiting until the device has computed */
    GSH_WALL_TRANSFERS, /* waiting for transfers between host and device */
    GSH_WALL_START,     /* waiting for the start of the device, and for compilation */
    GSH_WALL_DISPATCH,  /* deciding on calls, recording and submitting them */
    GSH_WALL_PARTS
};

/* Set by gsh_wall_time_begin. */
extern _Atomic bool gsh_wall_time_is_on;

/* Notes that the process begins now. Called once, before there are other threads; otherwise gsh_wall_time_begin notes it. */
void gsh_wall_time_note_load(void);
/* The calling thread is the one that is watched from now on; the time since the process has begun is the program's. */
void gsh_wall_time_begin(void);
/* The parts begin again, if they run. In a forked child, whose only thread is watched. */
void gsh_wall_time_begin_after_fork(void);
/* The time from here on is that of the part. Returns the part before; -1: the calling thread is neither watched nor works for the
 * watched one. */
int gsh_wall_time_switch_sigsafe(enum gsh_wall_part part);
/* The same. -1 also before gsh_wall_time_begin. What it returns is for _leave, which does nothing for -1. */
static inline int gsh_wall_time_enter_sigsafe(enum gsh_wall_part part)
{
    return atomic_load_explicit(&gsh_wall_time_is_on, memory_order_relaxed)
               ? gsh_wall_time_switch_sigsafe(part)
               : -1;
}
static inline void gsh_wall_time_leave_sigsafe(int part)
{
    if (part >= 0)
        (void)gsh_wall_time_switch_sigsafe((enum gsh_wall_part)part);
}
/* While `waits`, the calling thread, if it is the watched one, waits for threads that work for it. */
void gsh_wall_time_wait_sigsafe(bool waits);
/* The calling thread works for any that waits. */
void gsh_wall_time_serve(void);
/* So many of the program's nanoseconds were NumPy's own code: calls that were not watched one by one. No more than have come since the
 * last call of this. Does nothing in other threads than the watched one. */
void gsh_wall_time_give_cpu(uint64_t ns);
/* Whether the calling thread is the one that is watched. */
bool gsh_wall_time_is_watched(void);
/* Nanoseconds of the part so far; 0 before gsh_wall_time_begin. */
uint64_t gsh_wall_time_get(enum gsh_wall_part part);

static inline void gsh_wall_time_end_sigsafe(const int *part)
{
    gsh_wall_time_leave_sigsafe(*part);
}

/* The rest of the block belongs to the part. */
#define GSH_WALL_TIME(part)                                                                        \
    const int gsh_wall_part_before __attribute__((cleanup(gsh_wall_time_end_sigsafe), unused)) =   \
        gsh_wall_time_enter_sigsafe(part)
