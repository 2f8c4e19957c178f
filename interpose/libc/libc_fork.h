/* SPDX-License-Identifier: Apache-2.0
 *
 * The fork functions that do not run pthread_atfork handlers. gpushim's handlers run around them,
 * so that the child finds its arrays and does not wait for threads that it lacks. They do not run
 * if memory stays shared (CLONE_VM), in a signal handler, where the interrupted code may hold a
 * lock that they need, or in a critical section. Such a child is detected later (base/forked.h).
 */
#pragma once

#include "base.h"

/* Looks up the real functions. Called by the constructor. */
void gsh_libc_fork_resolve(void);
