/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread that takes a job out of the queue builds it; other threads then only read its state. The end of the
 * compile thread's job is signalled under the mutex, after the state was published, so that no waiter misses it.
 */
#include "cuda_compile_thread.h"

#include "blas_threads.h"
#include "compiler_process.h"
#include "critical.h"
#include "cuda_context.h"
#include "cuda_mem.h"
#include "forked.h"
#include "host_processors.h"
#include "thread.h"
#include "trace.h"
#include "wall_time.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define ENTRY_POINT "gsh_kernel"
#define STOP_SECONDS 10

/* The mutex guards all of these. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t may_begin = PTHREAD_COND_INITIALIZER, has_ended = PTHREAD_COND_INITIALIZER;
static struct gsh_cuda_job *queue;   /* work before kernels; of each, oldest first */
static struct gsh_cuda_job *current; /* the job that the thread is building */
static bool is_in_process;           /* a process compiles it: the thread is outside CUDA */
static unsigned forks;               /* forks in progress */
static bool has_thread, is_stopped;
static _Thread_local bool is_compile_thread;

enum gsh_cuda_job_state gsh_cuda_compile_thread_state(const struct gsh_cuda_job *job)
{
    return (enum gsh_cuda_job_state)atomic_load_explicit(&job->state, memory_order_acquire);
}

static void set_state(struct gsh_cuda_job *job, enum gsh_cuda_job_state state)
{
    atomic_store_explicit(&job->state, (int)state, memory_order_release);
}

/* ---- building, without the mutex ---- */

static gsh_cuda_enum load(const void *image, CUfunction *function)
{
    CUmodule module;
    gsh_cuda_enum result = gsh_cu.cuModuleLoadData(&module, image);
    if (result != GSH_CUDA_SUCCESS)
        return result;
    result = gsh_cu.cuModuleGetFunction(function, module, ENTRY_POINT);
    if (result != GSH_CUDA_SUCCESS)
        (void)GSH_CUDA(gsh_cu.cuModuleUnload(module));
    return result;
}

/* A module's memory does not come from the pool. */
void gsh_cuda_compile_thread_load(struct gsh_cuda_job *job, const void *image)
{
    uint64_t begin = gsh_trace_begin();
    gsh_cuda_enum result = load(image, &job->function);
    if (result == GSH_CUDA_OUT_OF_MEMORY) {
        gsh_cuda_mem_trim_pool();
        result = load(image, &job->function);
    }
    bool is_loaded = GSH_CUDA_RESULT(result, "cuModuleLoadData") == GSH_OK;
    GSH_TRACE_END(begin, COMPILES, .name = "load a kernel");
    bool is_short = result == GSH_CUDA_OUT_OF_MEMORY;
    set_state(job, is_loaded  ? GSH_CUDA_JOB_READY
                   : is_short ? GSH_CUDA_JOB_NEW
                              : GSH_CUDA_JOB_FAILED);
}

/* Loads what a job that was taken out of the queue compiled to. */
static void finish_build(struct gsh_cuda_job *job, enum gsh_status status, void *image)
{
    free(job->text);
    job->text = NULL;
    if (status == GSH_OK)
        gsh_cuda_compile_thread_load(job, image);
    else
        set_state(job, GSH_CUDA_JOB_FAILED);
    free(image);
}

static void build(struct gsh_cuda_job *job)
{
    void *image = NULL;
    size_t size;
    enum gsh_status status = gsh_cuda_compile(job->name, job->text, job->target, &image, &size);
    finish_build(job, status, image);
}

void gsh_cuda_compile_thread_build(struct gsh_cuda_job *job, char *text,
                                   const struct gsh_cuda_target *target)
{
    job->text = text;
    job->target = target;
    build(job);
}

/* Without a context the kernel is still compiled and stored on disk. */
static void do_job(struct gsh_cuda_job *job)
{
    if (job->work == NULL)
        build(job);
    else
        set_state(job, job->work(job->what) == GSH_OK ? GSH_CUDA_JOB_READY : GSH_CUDA_JOB_FAILED);
}

/* A thread that holds the mutex is in a critical section: a signal handler may read an array that waits for a kernel. */
static void lock(void)
{
    gsh_critical_enter();
    pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&mutex);
    gsh_critical_leave();
}

/* ---- the thread ---- */

/* Work, as the opening of a library, stands before kernels: a group without a kernel runs in the interpreter meanwhile, a product
 * without its library on the CPU. */
static void insert_locked(struct gsh_cuda_job *job)
{
    struct gsh_cuda_job **link = &queue;
    while (*link != NULL && (job->work == NULL || (*link)->work != NULL))
        link = &(*link)->next;
    job->next = *link;
    *link = job;
}

static struct gsh_cuda_job *wait_for_job_locked(void)
{
    while (queue == NULL || forks > 0 || is_stopped)
        pthread_cond_wait(&may_begin, &mutex);
    struct gsh_cuda_job *job = queue;
    queue = job->next;
    return job;
}

/* The image of a kernel that was compiled before, or that the process compiles. DECLINED: the caller is to compile it. FAILED: the
 * thread is to stop, and the job is in the queue again. */
static enum gsh_status make_image_in_process(struct gsh_cuda_job *job, void **image)
{
    size_t size;
    if (gsh_cuda_compile_find(job->text, job->target, image, &size))
        return GSH_OK;
    lock();
    is_in_process = true;
    pthread_cond_broadcast(&has_ended);
    unlock();
    enum gsh_status status =
        gsh_compiler_process_compile(job->name, job->text, job->target, image, &size);
    lock();
    while (forks > 0 && !is_stopped)
        pthread_cond_wait(&may_begin, &mutex);
    is_in_process = false;
    if (is_stopped) {
        insert_locked(job);
        free(*image);
        status = GSH_FAILED;
    }
    unlock();
    return status;
}

static void do_current(struct gsh_cuda_job *job)
{
    void *image = NULL;
    enum gsh_status made = job->work == NULL ? make_image_in_process(job, &image) : GSH_DECLINED;
    if (made == GSH_FAILED)
        return;
    bool has_context = gsh_cuda_context_enter() == GSH_OK;
    if (made == GSH_OK)
        finish_build(job, GSH_OK, image);
    else
        do_job(job);
    if (has_context)
        gsh_cuda_context_leave();
}

/* For programs that exit without finalising Python. NVRTC's first compilation registers exit functions of its own. A
 * function registered later runs before them; an exit during that first compilation may therefore crash. */
static void stop_at_exit(void)
{
    atexit(gsh_cuda_compile_thread_stop);
}

static void *compile_thread_main(void *unused)
{
    (void)unused;
    is_compile_thread = true;
    lock();
    for (bool is_first = true;; is_first = false) {
        current = wait_for_job_locked();
        unlock();
        gsh_blas_threads_lower(gsh_host_processors_count());
        do_current(current);
        gsh_blas_threads_restore();
        if (is_first)
            stop_at_exit();
        lock();
        current = NULL;
        pthread_cond_broadcast(&has_ended);
    }
    return NULL;
}

static void wait_for_thread_locked(void)
{
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += STOP_SECONDS;
    for (int error = 0; current != NULL && !is_in_process && error == 0;)
        error = pthread_cond_timedwait(&has_ended, &mutex, &deadline);
}

/* ---- fork: the thread is between two jobs, or waits for the process; the child has neither ---- */

static void prepare(void)
{
    lock();
    forks++;
    wait_for_thread_locked();
    unlock();
}

static void parent(void)
{
    lock();
    forks--;
    pthread_cond_signal(&may_begin);
    unlock();
}

static void child_after_fork(void)
{
    pthread_mutex_t fresh_mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t fresh_condition = PTHREAD_COND_INITIALIZER;
    mutex = fresh_mutex;
    may_begin = has_ended = fresh_condition;
    queue = current = NULL;
    has_thread = is_in_process = false;
    is_stopped = true;
    gsh_compiler_process_forget_sigsafe();
}

/* ---- the queue ---- */

void gsh_cuda_compile_thread_open(void)
{
    gsh_forked_add(prepare, parent, child_after_fork);
}

static bool start_thread_locked(void)
{
    has_thread = gsh_thread_start(compile_thread_main, NULL);
    if (has_thread)
        stop_at_exit();
    return has_thread;
}

/* False where the thread has begun the job. */
static bool take_out_locked(const struct gsh_cuda_job *job)
{
    struct gsh_cuda_job **link = &queue;
    while (*link != NULL && *link != job)
        link = &(*link)->next;
    if (*link == NULL)
        return false;
    *link = job->next;
    return true;
}

static void submit(struct gsh_cuda_job *job)
{
    lock();
    set_state(job, GSH_CUDA_JOB_BUILDING);
    insert_locked(job);
    bool is_alone = !has_thread && !is_stopped && !start_thread_locked();
    pthread_cond_signal(&may_begin);
    unlock();
    if (is_alone)
        gsh_cuda_compile_thread_finish(job);
}

void gsh_cuda_compile_thread_submit(struct gsh_cuda_job *job, char *text,
                                    const struct gsh_cuda_target *target)
{
    job->text = text;
    job->target = target;
    submit(job);
}

void gsh_cuda_compile_thread_submit_work(struct gsh_cuda_job *job,
                                         enum gsh_status (*work)(void *what), void *what)
{
    job->work = work;
    job->what = what;
    submit(job);
}

void gsh_cuda_compile_thread_do_first(struct gsh_cuda_job *job)
{
    lock();
    bool is_ours = take_out_locked(job);
    unlock();
    if (is_ours)
        do_job(job);
}

enum gsh_status gsh_cuda_compile_thread_go_on(void)
{
    if (!is_compile_thread)
        return GSH_OK;
    lock();
    bool goes_on = !is_stopped;
    unlock();
    return goes_on ? GSH_OK : GSH_FAILED;
}

void gsh_cuda_compile_thread_finish(struct gsh_cuda_job *job)
{
    GSH_WALL_TIME(GSH_WALL_START);
    uint64_t begin = gsh_trace_begin();
    gsh_critical_enter(); /* other threads wait for what this one builds */
    lock();
    bool is_ours;
    while (!(is_ours = take_out_locked(job)) &&
           gsh_cuda_compile_thread_state(job) == GSH_CUDA_JOB_BUILDING)
        pthread_cond_wait(&has_ended, &mutex);
    unlock();
    if (is_ours)
        do_job(job);
    gsh_critical_leave();
    GSH_TRACE_END(begin, WAITS, .name = "wait for a kernel or a library");
}

void gsh_cuda_compile_thread_stop(void)
{
    lock();
    is_stopped = true;
    pthread_cond_signal(&may_begin);
    wait_for_thread_locked();
    unlock();
}
