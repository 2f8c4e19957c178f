/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread inherits the signal mask of the one that starts it.
 */
#include "thread.h"

#include <pthread.h>
#include <signal.h>

#define STACK_BYTES ((size_t)8 << 20)

/* Compilers of kernels and drivers need a large stack, whatever the process's stack limit or the program's default
 * is. */
static int create(pthread_t *thread, void *(*body)(void *), void *argument)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return pthread_create(thread, NULL, body, argument);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int error = pthread_create(thread, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    return error == 0 ? 0 : pthread_create(thread, NULL, body, argument);
}

bool gsh_thread_start_joinable(pthread_t *thread, void *(*body)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = create(thread, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

bool gsh_thread_start(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    if (!gsh_thread_start_joinable(&thread, body, argument))
        return false;
    pthread_detach(thread);
    return true;
}
