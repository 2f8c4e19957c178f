/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads of our own: detached, and with all signals blocked but SIGSEGV, so that the program's own
 * handlers run in the program's own threads.
 */
#pragma once

#include "base.h"

/* False where the system gives no thread. */
bool gsh_thread_start(void *(*body)(void *), void *argument);
