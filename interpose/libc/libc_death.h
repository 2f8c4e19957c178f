/* SPDX-License-Identifier: Apache-2.0
 *
 * SIGINT and SIGTERM end a process without its exit functions where their action is the default one. Where a report was asked
 * for, it is written first; then the process dies by that signal as it would have.
 */
#pragma once

#include "libc_handler.h"

/* As gsh_libc_handler_swap; a default action that would lose the report goes in as one that writes it first, and is read back
 * as what it was. Async-signal-safe. */
int gsh_libc_death_swap(gsh_handler_sigaction *real, bool wraps, int number,
                        const struct sigaction *action, struct sigaction *old);
/* Sees to the actions that are there. Once NumPy was found and the report's options are read. */
void gsh_libc_death_adopt(gsh_handler_sigaction *real, bool wraps);
