/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads of our own: detached, and with all signals blocked but SIGSEGV, so that the program's own
 * handlers run in the program's own threads.
 */
#pragma once

#include "base.h"

/* False where the system gives no thread. */
bool gsh_thread_start(void *(*body)(void *), void *argument);
/* Of the calling thread and of those that it starts, for good: work that nobody waits for must not take a core from threads
 * of the program that wait for each other, as those of a BLAS do. By as much below the program's first thread, whoever calls:
 * a thread that has inherited a lowered priority keeps it. */
void gsh_thread_lower_priority(void);
