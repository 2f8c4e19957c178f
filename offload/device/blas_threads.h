/* SPDX-License-Identifier: Apache-2.0
 *
 * While a thread of ours works beside the program - starts the device, opens a library, compiles - each BLAS of the process (NumPy's, and that
 * of SciPy's wheels) uses one thread fewer. OpenBLAS keeps a thread on every core that spins between calls, and a call ends with its slowest thread: the one whose core
 * our thread shares. Loops on several cores do likewise (gsh_blas_threads_are_beside_ours).
 *
 * openblas_set_num_threads of a build with threads of its own (openblas_get_parallel: 1) stores the number of threads that
 * later calls use. It takes no lock, and neither ends nor frees anything, so calls may run in other threads meanwhile: each has read the
 * number before it shares its work. Two cases do more, and are excluded here:
 * - A number above all earlier ones makes threads. The numbers set here are at most one that the library has used.
 * - After a fork, where OpenBLAS has ended its threads, they are made again. Made between OpenBLAS's own fork handler and the fork, the
 *   child would wait for threads that it has not. So a lock is held across fork, and the number is put back before.
 *
 * A program that sets the number itself at the very moment at which it is put back may lose its own.
 */
#pragma once

#include "base.h"

/* After a product OpenBLAS's threads spin for 2^26 cycles (some 25 ms; OPENBLAS_THREAD_TIMEOUT, driver/others/blas_server.c), and a loop that is shared
 * between cores meanwhile finds none. From now on an OpenBLAS that is loaded has them sleep after 2^20 (0.4 ms, some times what it takes to wake
 * one), unless the environment says otherwise. Once, before there are other threads. */
void gsh_blas_threads_sleep_soon(void);

struct gsh_blas_threads {
    int (*get)(void);       /* openblas_get_num_threads; NULL: no such BLAS */
    void (*set)(int count); /* openblas_set_num_threads */
};

/* A BLAS of the process; one that is known already is not registered again. If a thread of ours works, its number is lowered at once. Any
 * thread that holds no lock. */
void gsh_blas_threads_register(const struct gsh_blas_threads *functions);
/* A thread of ours begins to work. Sets one thread fewer where the policy says so; `cores`: those of the process. Any thread that
 * holds no lock. */
void gsh_blas_threads_lower(unsigned cores);
/* It has ended. With the last of them, puts the number back, unless the program has set another meanwhile. Any thread that holds no
 * lock; as often as `lower`. */
void gsh_blas_threads_restore(void);
/* The program's BLAS computes: its threads are at work, or spin. Any thread. */
void gsh_blas_threads_note_use(void);
bool gsh_blas_threads_are_used(void);
/* Whether a thread of ours works between `lower` and `restore`. Any thread. */
bool gsh_blas_threads_are_beside_ours(void);

/* Fork handlers. `prepare` puts the number back; it runs before OpenBLAS's own handler, and holds the lock until one of the others. */
void gsh_blas_threads_prepare_fork(void);
void gsh_blas_threads_leave_fork(void);
void gsh_blas_threads_reset_after_fork(void);
