/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's signal handlers (but SIGSEGV's, see offload/memory/fault.h) are called through one of ours, which lets none run
 * while the interrupted thread is in a critical section (base/critical.h). The kernel has the program's flags and mask, but
 * for SA_SIGINFO, which is added, and SA_RESETHAND, which is done here; what the program reads back is its own action.
 * Ignored signals and default actions are the kernel's as before.
 */
#pragma once

#include "base.h"

#include <signal.h>

typedef int gsh_handler_sigaction(int number, const struct sigaction *action,
                                  struct sigaction *old);

/* sigaction through `real`: the action goes in with our handler before it where `wraps`; *old is what the program set.
 * Async-signal-safe. */
int gsh_libc_handler_swap(gsh_handler_sigaction *real, bool wraps, int number,
                          const struct sigaction *action, struct sigaction *old);
/* Puts ours before the handler that `number` has now, whoever set it. */
void gsh_libc_handler_adopt(gsh_handler_sigaction *real, int number);
/* What siginterrupt does to the action that the program reads back. */
void gsh_libc_handler_note_interrupt(int number, bool interrupts);
