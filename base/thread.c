/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread inherits the signal mask of the one that starts it.
 */
#include "thread.h"

#include <pthread.h>
#include <signal.h>

bool gsh_thread_start_joinable(pthread_t *thread, void *(*body)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, body, argument);
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
