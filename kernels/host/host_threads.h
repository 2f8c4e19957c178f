/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that help the calling one with work on the CPU. Started when first needed, or before, all signals
 * but SIGSEGV blocked in them, and asleep between calls; they never end, and a process may exit at
 * any moment. How many: GPUSHIM_HOST_THREADS. Takes no lock of the project.
 */
#pragma once

#include "base.h"

#define GSH_HOST_THREADS_MOST 64

/* Pieces of the work that nobody has taken yet. */
struct gsh_host_pieces {
    _Atomic int64_t next;
    int64_t count;
};

/* Takes one; -1: none is left. */
int64_t gsh_host_threads_take(struct gsh_host_pieces *pieces);

/* A thread's share: takes pieces until none is left. `thread` is below gsh_host_threads_count() and
 * another in each thread of one run; the calling thread is 0. */
typedef void gsh_host_job(void *context, unsigned thread, struct gsh_host_pieces *pieces);

/* Threads that a run may use, the calling one among them. */
unsigned gsh_host_threads_count(void);
/* Starts the helpers now. Else the thread does that which first has work for them, perhaps one of ours with locks held: the C
 * library then allocates by the process's malloc, which may wait for anything. */
void gsh_host_threads_prepare(void);
/* Has the job done with `count` pieces, by at most so many threads, and returns when all have
 * returned. Where the threads are busy with another caller's job, the calling thread does it alone. */
void gsh_host_threads_run(gsh_host_job *job, void *context, int64_t count);
/* In a forked child: the threads are gone; others are started when needed. */
void gsh_host_threads_reset_after_fork(void);
