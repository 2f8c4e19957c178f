/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions that change a signal's action or a thread's mask, exported in front of libc's.
 * Until gsh_fault_is_installed() they only pass on. From then on SIGSEGV's action is the fault
 * handler's: what the program sets is kept as its own action (gsh_fault_swap_app_action_sigsafe) and
 * reported back, and SIGSEGV is left out of every set of signals to block, because the kernel ends
 * a thread that faults with SIGSEGV blocked. In a program with Python the sets of threads are kept
 * free of it from load on: a thread's mask is out of reach for all others. What the program reads
 * back of its mask is what it set.
 */
#pragma once

#include <stdbool.h>

/* Looks up the real functions; without it each is looked up at its first call. Once, at load;
 * `with_python`: the program has Python in it, so that NumPy may come. */
void gsh_libc_signal_resolve(bool with_python);
/* Once the fault handler is installed: takes SIGSEGV out of the masks of the actions set until now,
 * and tells this process from the children of a vfork, which share its memory but not its actions.
 * Not from a signal handler. */
void gsh_libc_signal_adopt(void);
/* After that, if ever: where a report was asked for, sees to it that SIGINT and SIGTERM do not lose it (libc_death.h). */
void gsh_libc_signal_keep_report(void);
/* False in a child between vfork and exec, which shares this process's memory. Async-signal-safe. */
bool gsh_libc_signal_is_owner(void);
