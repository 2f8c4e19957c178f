/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's signal handlers (except SIGSEGV's, see offload/memory/fault.h) are called through a
 * common handler, which delays them while the interrupted thread is in a critical section
 * (base/critical.h). The kernel has the program's flags and mask, but SA_SIGINFO is added and
 * SA_RESETHAND is handled here. The program reads back its own action. Ignored signals and default
 * actions are left to the kernel.
 */
#pragma once

#include "base.h"

#include <signal.h>

typedef int gsh_handler_sigaction(int number, const struct sigaction *action,
                                  struct sigaction *old);

/* sigaction through `real`. If `wraps`, the action is installed with our handler. *old is the
 * program's action. Async-signal-safe. */
int gsh_libc_handler_swap(gsh_handler_sigaction *real, bool wraps, int number,
                          const struct sigaction *action, struct sigaction *old);
/* Installs our handler in front of the handler that `number` has, regardless of who set it. */
void gsh_libc_handler_adopt(gsh_handler_sigaction *real, int number);
/* Applies siginterrupt to the action that the program reads back. */
void gsh_libc_handler_note_interrupt(int number, bool interrupts);
