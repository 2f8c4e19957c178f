/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether several threads compute a loop of the CPU, how many, and in which pieces. Pure: no clock, no state of its own.
 */
#pragma once

#include "base.h"

/* Pieces begin at multiples of so many elements: no vector instruction of a loop computes elements of two pieces. */
enum { GSH_PARALLEL_LOOP_ALIGNMENT = 64 };

/* Seconds that one core takes for a loop over `elements`, which moves so many bytes, and computes for `host_ns` nanoseconds
 * each. */
double gsh_parallel_loop_seconds(double bytes, double elements, double host_ns);

/* What comes to that for an operand whose elements lie apart, and which spans more than the cache: its cache lines are moved for one
 * element each. `strides`: bytes. */
double gsh_parallel_loop_far_seconds(int ndim, const int64_t *shape, const int64_t *strides,
                                     size_t itemsize);

/* gsh_parallel_loop_seconds for a copy of elements that move so many bytes of cache lines. `has_runs`: many lie side by side, in both arrays. */
double gsh_parallel_loop_copy_seconds(double bytes, double elements, bool has_runs);

/* Threads for a loop of so many seconds on one core, at most `available`. 1: it does not pay. */
unsigned gsh_parallel_loop_threads(double seconds, unsigned available);

/* The same where `awake` threads beside the caller's begin at once. */
unsigned gsh_parallel_loop_threads_awake(double seconds, unsigned awake);

/* Elements of `bytes` each, in all operands, below which not even threads that are awake pay, where no operand steps by more than a
 * cache line. */
enum { GSH_PARALLEL_LOOP_LINE = 64 }; /* bytes */
int64_t gsh_parallel_loop_least(size_t bytes, double host_ns);

/* Whether threads are worth waking for loops that are too short for that one by one, but follow each other closely. Pure: gives the state
 * after a loop of so many seconds that begins at `now` (s, any origin). */
struct gsh_parallel_loop_series {
    double last;     /* when a loop began */
    double foregone; /* s that threads would have saved */
    unsigned tries;  /* loops for which threads were woken */
};
struct gsh_parallel_loop_series
gsh_parallel_loop_series_after(struct gsh_parallel_loop_series series, double seconds, double now);
bool gsh_parallel_loop_series_pays(const struct gsh_parallel_loop_series *series);

/* Seconds that the threads take for it. */
double gsh_parallel_loop_shared(double seconds, unsigned threads);

/* Elements in a piece of a loop over so many, each of `bytes`: a multiple of the alignment. */
int64_t gsh_parallel_loop_piece(int64_t elements, size_t bytes, unsigned threads);

/* Pieces of a loop of so many seconds that are computed at a stretch: the program's signal handlers run between two
 * stretches. */
int64_t gsh_parallel_loop_stretch(int64_t pieces, double seconds);

/* Exponential backoff. Where other processes have the cores, a run waits some milliseconds for a thread that has none: then nothing is
 * shared for a while, twice as long each time, and less by a part of what sharing saves. */
struct gsh_parallel_loop_backoff { /* zeros: initial */
    float deficit;                 /* s lost and not saved since, at most what is forgiven */
    float pause;                   /* s: the last pause, less a part of what was saved since */
};
/* After a run that has saved so many seconds, or lost where negative. `pauses`: nothing is shared for the new state's pause. */
struct gsh_parallel_loop_backoff
gsh_parallel_loop_backoff_after(struct gsh_parallel_loop_backoff backoff, double saved,
                                bool *pauses);
