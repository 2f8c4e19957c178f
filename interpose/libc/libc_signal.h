/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions that change a signal's action or a thread's mask, exported in front of libc's.
 * Until gsh_fault_is_installed() they only call the real functions. After that, the kernel's action
 * for SIGSEGV is the fault handler. The program's action is stored
 * (gsh_fault_swap_app_action_sigsafe) and read back. SIGSEGV is removed from every set of signals
 * to block, because the kernel ends a thread that faults with SIGSEGV blocked. In a program with
 * Python it is removed from threads' masks from load on, since other threads cannot change a
 * thread's mask. The program reads back the mask that it set.
 */
#pragma once

#include <stdbool.h>

/* Looks up the real functions, once, at load. If not called, each is looked up at its first call.
 * with_python: Python is in the program, so NumPy may be loaded. */
void gsh_libc_signal_resolve(bool with_python);
/* Called after the fault handler is installed: removes SIGSEGV from the masks of existing actions,
 * and records this process, to distinguish it from vfork children, which share its memory but not
 * its actions. Not from a signal handler. */
void gsh_libc_signal_adopt(void);
/* May be called after that: if a report was requested, ensures that SIGINT and SIGTERM do not lose
 * it (libc_death.h). */
void gsh_libc_signal_keep_report(void);
/* False in a child between vfork and exec, which shares this process's memory. Async-signal-safe.
 */
bool gsh_libc_signal_is_owner(void);
