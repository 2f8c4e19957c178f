/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that help the calling thread with work on the CPU. They start when first needed or prepared. All signals
 * but SIGSEGV are blocked in them. Between calls they sleep; where calls follow each other closely they first look for the next one. They never end; a process may exit at any moment.
 * Their number: GPUSHIM_HOST_THREADS, or the processors that the process may use (host_processors.h), at most OMP_NUM_THREADS. Takes no lock of the project.
 */
#pragma once

#include "base.h"

#define GSH_HOST_THREADS_MOST 64

/* Pieces of the work that no thread has taken yet. */
struct gsh_host_range {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
};

/* One range for each thread, which takes those of the others when its own is empty: work of the same size is shared out in the same way
 * each time, so that a core finds in its cache what it wrote last. */
struct gsh_host_pieces {
    struct gsh_host_range *ranges;
    unsigned count; /* of ranges */
};

/* Takes a piece for the thread; -1: none is left. */
int64_t gsh_host_threads_take(struct gsh_host_pieces *pieces, unsigned thread);

/* A thread's share: takes pieces until none is left. `thread` is below gsh_host_threads_count() and different in
 * each thread of one run; it is 0 in the calling thread. */
typedef void gsh_host_job(void *context, unsigned thread, struct gsh_host_pieces *pieces);

/* Threads that a run may use, including the calling one. The first call reads files. */
unsigned gsh_host_threads_count(void);
/* Helpers that would begin at once. Any thread. */
unsigned gsh_host_threads_awake(void);
/* Starts the helpers now. Otherwise the first thread that has work for them starts them, which may be a thread of
 * the library that holds locks: the C library then allocates by the process's malloc, which may wait for anything. */
void gsh_host_threads_prepare(void);
/* Runs the job on `count` pieces, in at most `threads` threads, and returns when all have returned. False: nothing was run,
 * because there is work for one thread only, the helpers work for another caller, or none could be started. */
bool gsh_host_threads_try(gsh_host_job *job, void *context, int64_t count, unsigned threads);
/* The same in any case, in all threads. Where the helpers work for another caller, the calling thread runs the job alone. */
void gsh_host_threads_run(gsh_host_job *job, void *context, int64_t count);
/* The same in the calling thread. */
void gsh_host_threads_alone(gsh_host_job *job, void *context, int64_t count);
/* In a forked child: forgets the threads, which do not exist there. Others are started when needed. */
void gsh_host_threads_reset_after_fork(void);
