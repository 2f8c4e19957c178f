/* SPDX-License-Identifier: Apache-2.0
 *
 * While the sampler waits for the GIL, the interpreter gives it up at the end of an instruction, or within a call that releases it:
 * what the frames say is then where the time since the last sample went, or its end.
 */
#include "python_sampler.h"

#include "clock.h"
#include "python_atexit.h"
#include "thread.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 64, INTERVAL_NS = 4000000 };

static void (*show)(const struct gsh_python_place_frame *, unsigned, uint64_t);
static int (*take_gil)(void);
static void (*give_gil)(int);
static const void *main_thread;
static pthread_t sampler;
static pid_t owner;
static atomic_bool is_ending;

static void sample(uint64_t *last_ns)
{
    struct gsh_python_place_frame frames[DEPTH];
    int state = take_gil();
    if (!atomic_load(&is_ending)) {
        uint64_t now = gsh_clock_ns();
        show(frames, gsh_python_place_walk_sigsafe(main_thread, frames, DEPTH), now - *last_ns);
        *last_ns = now;
    }
    give_gil(state);
}

static void *sample_on(void *unused)
{
    const struct timespec interval = {.tv_nsec = INTERVAL_NS};
    uint64_t last_ns = gsh_clock_ns();
    while (!atomic_load(&is_ending)) {
        nanosleep(&interval, NULL);
        sample(&last_ns);
    }
    return unused;
}

/* The sampler may be waiting for the GIL. A forked child has none. */
static PyObject *end(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    atomic_store(&is_ending, true);
    if (getpid() == owner) {
        void *state = gsh_py.PyEval_SaveThread();
        pthread_join(sampler, NULL);
        gsh_py.PyEval_RestoreThread(state);
    }
    return gsh_py_none();
}

bool gsh_python_sampler_begin(void (*callback)(const struct gsh_python_place_frame *frames,
                                               unsigned count, uint64_t ns))
{
    show = callback;
    owner = getpid();
    *(void **)&take_gil = dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
    *(void **)&give_gil = dlsym(RTLD_DEFAULT, "PyGILState_Release");
    main_thread = gsh_python_place_thread();
    if (main_thread == NULL || take_gil == NULL || give_gil == NULL ||
        !gsh_thread_start_joinable(&sampler, sample_on, NULL))
        return false;
    static struct gsh_pymethoddef definition = {"gpushim_sampler", (void *)end, GSH_METH_NOARGS,
                                                NULL};
    bool is_registered = gsh_python_atexit_register(&definition);
    if (!is_registered)
        atomic_store(&is_ending, true);
    return is_registered;
}
