/* SPDX-License-Identifier: Apache-2.0
 *
 * _exit and _Exit end a process without its exit functions, as os._exit does. The profile of the script is left first
 * (offload/dispatch/last_run.h). That is async-signal-safe, as _exit is: it makes system calls, on memory of its own and a stack
 * of the pool, and takes no lock. A trace, and a report that each process has, are written too (config/stats.h), likewise. Children
 * of vfork only end; forked ones leave no profile.
 */
#pragma once

#include "base.h"

/* Looks up the real functions. Called by the constructor. */
void gsh_libc_exit_resolve(void);
