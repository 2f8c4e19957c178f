/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread inherits the signal mask of the one that starts it.
 */
#include "thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOWER_BY 10 /* a tenth of the share that others get where cores are short */

bool gsh_thread_start(void *(*body)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return false;
    pthread_detach(thread);
    return true;
}

void gsh_thread_lower_priority(void)
{
    /* Linux keeps a nice value for each thread; 0 is the caller, the process's number its first thread: setpriority(2) */
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, (id_t)getpid()) + LOWER_BY);
}
