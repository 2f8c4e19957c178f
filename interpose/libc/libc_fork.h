/* SPDX-License-Identifier: Apache-2.0
 *
 * The ways to fork that run no handlers of pthread_atfork: ours run round them, so that the child finds its arrays and waits
 * for no thread that it does not have. Not where memory stays shared (CLONE_VM), in a signal handler, where a lock may be
 * held that they need, or in a critical section: such a child is noticed later (base/forked.h).
 */
#pragma once

#include "base.h"

/* Looks up the real functions; in the constructor. */
void gsh_libc_fork_resolve(void);
