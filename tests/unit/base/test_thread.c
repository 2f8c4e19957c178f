/* SPDX-License-Identifier: Apache-2.0
 *
 * base/thread.c: signals stay with the program's own threads.
 */
#include "check.h"
#include "thread.h"

#include <pthread.h>
#include <signal.h>

static pthread_barrier_t done;
static sigset_t blocked;

static void *look(void *unused)
{
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    pthread_barrier_wait(&done);
    return unused;
}

int main(void)
{
    pthread_barrier_init(&done, NULL, 2);
    CHECK(gsh_thread_start(look, NULL));
    pthread_barrier_wait(&done);
    CHECK(sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGUSR1));
    CHECK(!sigismember(&blocked, SIGSEGV));
    sigset_t mine;
    pthread_sigmask(SIG_BLOCK, NULL, &mine);
    CHECK(!sigismember(&mine, SIGINT));
    return check_result();
}
