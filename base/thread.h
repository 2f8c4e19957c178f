/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's own threads. All signals but SIGSEGV are blocked in them, so that the program's handlers run in the
 * program's threads.
 */
#pragma once

#include "base.h"

#include <pthread.h>

/* Starts a detached thread. False where the system cannot create one. */
bool gsh_thread_start(void *(*body)(void *), void *argument);
/* The same, for a thread that the caller joins. */
bool gsh_thread_start_joinable(pthread_t *thread, void *(*body)(void *), void *argument);
