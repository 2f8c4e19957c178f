/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads of our own: with all signals blocked but SIGSEGV, so that the program's own
 * handlers run in the program's own threads.
 */
#pragma once

#include "base.h"

#include <pthread.h>

/* A detached one. False where the system gives no thread. */
bool gsh_thread_start(void *(*body)(void *), void *argument);
/* One that is to be joined. */
bool gsh_thread_start_joinable(pthread_t *thread, void *(*body)(void *), void *argument);
