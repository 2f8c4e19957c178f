/* SPDX-License-Identifier: Apache-2.0
 *
 * By default SIGINT and SIGTERM end a process without running its exit functions. If a report was
 * requested, it is written first; then the signal ends the process as usual.
 */
#pragma once

#include "libc_handler.h"

/* As gsh_libc_handler_swap, but a default action that would lose the report is replaced by a
 * handler that writes it. The program reads back its own action. Async-signal-safe. */
int gsh_libc_death_swap(gsh_handler_sigaction *real, bool wraps, int number,
                        const struct sigaction *action, struct sigaction *old);
/* Replaces the actions that are already set. Called after NumPy was found and the report's options
 * were read. */
void gsh_libc_death_adopt(gsh_handler_sigaction *real, bool wraps);
