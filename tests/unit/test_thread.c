/* SPDX-License-Identifier: Apache-2.0
 *
 * base/thread.c: signals stay with the program's own threads, and a lowered priority with the thread that asked for it.
 */
#include "check.h"
#include "thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_barrier_t done;
static sigset_t blocked;
static int priority, inherited, lowered_again;

static void *child(void *unused)
{
    inherited = getpriority(PRIO_PROCESS, 0);
    gsh_thread_lower_priority();
    lowered_again = getpriority(PRIO_PROCESS, 0);
    pthread_barrier_wait(&done);
    return unused;
}

static void *look(void *unused)
{
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    gsh_thread_lower_priority();
    priority = getpriority(PRIO_PROCESS, 0);
    CHECK(gsh_thread_start(child, NULL));
    return unused;
}

int main(void)
{
    int before = getpriority(PRIO_PROCESS, 0), least = 19;
    pthread_barrier_init(&done, NULL, 2);
    CHECK(gsh_thread_start(look, NULL));
    pthread_barrier_wait(&done);
    CHECK(sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGUSR1));
    CHECK(!sigismember(&blocked, SIGSEGV));
    CHECK_INT(priority, GSH_MIN(before + 10, least));
    CHECK_INT(inherited, priority);
    CHECK_INT(lowered_again, priority);
    CHECK_INT(getpriority(PRIO_PROCESS, 0), before);
    sigset_t mine;
    pthread_sigmask(SIG_BLOCK, NULL, &mine);
    CHECK(!sigismember(&mine, SIGINT));
    return check_result();
}
