/* SPDX-License-Identifier: Apache-2.0
 *
 * Slow work of the driver's: kernels on their way from text to a function in the GPU's context, and libraries that are
 * opened; here or in a thread of our own that takes one job after another. The thread starts with the first job and
 * takes no lock of ours but this file's mutex. It is never inside CUDA while the process forks or after
 * gsh_cuda_compile_thread_settle. Checked by tests/unit/offload/cuda/compile/test_cuda_compile_thread.c.
 */
#pragma once

#include "base.h"
#include "cuda_compile.h"
#include "cuda_types.h"

enum gsh_cuda_job_state {
    GSH_CUDA_JOB_NEW, /* of memory that is all 0 */
    GSH_CUDA_JOB_BUILDING,
    GSH_CUDA_JOB_READY,
    GSH_CUDA_JOB_FAILED /* its text does not compile or load */
};

/* Lives as long as the process. Only the state may be looked at while it is BUILDING. */
struct gsh_cuda_job {
    _Atomic int
        state; /* release with what the job has become, acquire in gsh_cuda_compile_thread_state */
    CUfunction function;                 /* where READY */
    enum gsh_status (*work)(void *what); /* done in place of compiling; NULL: compile */
    void *what;
    char *text; /* while BUILDING: ours */
    const struct gsh_cuda_target *target;
    struct gsh_cuda_job *next; /* in the queue */
};

enum gsh_cuda_job_state gsh_cuda_compile_thread_state(const struct gsh_cuda_job *job);

/* Once in a process, before all else and without locks: registers what keeps the thread out of forks. A prepare handler
 * registered before may submit jobs. */
void gsh_cuda_compile_thread_open(void);

/* All of these but gsh_cuda_compile_thread_submit_work: under the DISPATCH lock, with the context current. A job that would
 * become READY is NEW again where the device has no memory for its code. */

/* A NEW job becomes READY or FAILED: the function of an image that has been compiled before. */
void gsh_cuda_compile_thread_load(struct gsh_cuda_job *job, const void *image);
/* A NEW job becomes READY or FAILED: compiled by the caller. `text` is malloc's and becomes ours. */
void gsh_cuda_compile_thread_build(struct gsh_cuda_job *job, char *text,
                                   const struct gsh_cuda_target *target);
/* A NEW job becomes BUILDING, done later by the thread; done at once where no thread can be had, and by nobody but
 * gsh_cuda_compile_thread_finish once gsh_cuda_compile_thread_settle was called. `text` and `target` as above. */
void gsh_cuda_compile_thread_submit(struct gsh_cuda_job *job, char *text,
                                    const struct gsh_cuda_target *target);
/* As gsh_cuda_compile_thread_submit: work(what) is called, with the context current where it could be entered. Any thread, once for a
 * job. */
void gsh_cuda_compile_thread_submit_work(struct gsh_cuda_job *job,
                                         enum gsh_status (*work)(void *what), void *what);
/* A BUILDING job becomes READY or FAILED: waits for the thread, or builds what it has not begun. */
void gsh_cuda_compile_thread_finish(struct gsh_cuda_job *job);

/* Begins no more jobs and waits for the one that the thread is at, at most 10 s: a process that ends meanwhile would take
 * NVRTC and the driver down under it. Any thread; may be called again. */
void gsh_cuda_compile_thread_settle(void);
