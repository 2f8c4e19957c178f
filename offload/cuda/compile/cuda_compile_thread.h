/* SPDX-License-Identifier: Apache-2.0
 *
 * The compile thread. It does the driver's slow work, one job after another: opening libraries, and then kernels from text to a
 * function in the GPU's context; what takes longest of that, NVRTC, runs in a process of its own (compiler_process.h) where there can
 * be one. Callers may also do a job themselves. The thread starts with the first job
 * and takes no lock of ours but this file's mutex. It is never inside CUDA while the process forks or after
 * gsh_cuda_compile_thread_stop. Checked by tests/unit/offload/cuda/compile/test_cuda_compile_thread.c.
 */
#pragma once

#include "base.h"
#include "cuda_compile.h"
#include "cuda_types.h"
#include "status.h"

enum gsh_cuda_job_state {
    GSH_CUDA_JOB_NEW, /* value of zeroed memory */
    GSH_CUDA_JOB_BUILDING,
    GSH_CUDA_JOB_READY,
    GSH_CUDA_JOB_FAILED /* its text does not compile or load */
};

/* Lives as long as the process. While it is BUILDING only the state may be read. */
struct gsh_cuda_job {
    _Atomic int
        state; /* released with the job's result, acquired in gsh_cuda_compile_thread_state */
    CUfunction function;                 /* if READY */
    enum gsh_status (*work)(void *what); /* done instead of compiling; NULL: compile */
    void *what;
    const char *name; /* of the kernel that is compiled, for logs */
    char *text;       /* owned by the job while BUILDING */
    const struct gsh_cuda_target *target;
    struct gsh_cuda_job *next; /* link of the queue */
};

enum gsh_cuda_job_state gsh_cuda_compile_thread_state(const struct gsh_cuda_job *job);

/* Once in a process, before everything else and without locks: registers fork handlers that keep the thread out of
 * CUDA during a fork. A prepare handler registered before may submit jobs. */
void gsh_cuda_compile_thread_open(void);

/* The functions below except gsh_cuda_compile_thread_submit_work: under the DISPATCH lock, with the context current.
 * A job becomes NEW again instead of READY where the device has no memory for its code. */

/* A NEW job becomes READY or FAILED: loads the function of an image that was compiled before. */
void gsh_cuda_compile_thread_load(struct gsh_cuda_job *job, const void *image);
/* A NEW job becomes READY or FAILED: the caller compiles. `text` was allocated with malloc and is taken over. */
void gsh_cuda_compile_thread_build(struct gsh_cuda_job *job, char *text,
                                   const struct gsh_cuda_target *target);
/* A NEW job becomes BUILDING; the thread does it later. If no thread can be started it is done at once. After
 * gsh_cuda_compile_thread_stop only gsh_cuda_compile_thread_finish does it. `text` and `target` as above. */
void gsh_cuda_compile_thread_submit(struct gsh_cuda_job *job, char *text,
                                    const struct gsh_cuda_target *target);
/* As gsh_cuda_compile_thread_submit, but the job calls work(what), with the context current if it could be entered.
 * Any thread, once for a job. */
void gsh_cuda_compile_thread_submit_work(struct gsh_cuda_job *job,
                                         enum gsh_status (*work)(void *what), void *what);
/* Within a job's work: does another job now if it is BUILDING and nobody has begun it. Any thread. */
void gsh_cuda_compile_thread_do_first(struct gsh_cuda_job *job);
/* Within a job's work, between two steps that take long: FAILED where the thread is to stop, so that a process that ends waits
 * for one step only. OK in other threads. */
enum gsh_status gsh_cuda_compile_thread_go_on(void);
/* A BUILDING job becomes READY or FAILED: waits for the thread, or does a job that it has not begun. */
void gsh_cuda_compile_thread_finish(struct gsh_cuda_job *job);

/* Begins no more jobs and waits for the thread's current one, at most 10 s: a program that ends during a job would
 * unload NVRTC and the driver under it. It does not wait for a process that compiles. Any thread; may be called again. */
void gsh_cuda_compile_thread_stop(void);
