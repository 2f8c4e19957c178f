/* SPDX-License-Identifier: Apache-2.0
 *
 * The SIGSEGV handler and the service thread. A fault on a protected arena page is resolved and the
 * instruction repeated; any other goes to the handler that was installed before (or since, through
 * the interposed sigaction).
 */
#pragma once

#include "base.h"
#include "status.h"

#include <signal.h>

/* Installs the handler and proves by one deliberate fault that it is reached. DECLINED: not
 * reached, or refused. */
enum gsh_status gsh_fault_init(void);
/* Whether gsh_fault_init has installed the handler: from then on SIGSEGV's disposition belongs to
 * it. */
bool gsh_fault_is_installed(void);
/* The application's own disposition for SIGSEGV, which foreign faults are given to. Replaces it
 * and/or reports the old one (either may be NULL), as sigaction would. Only while installed.
 * Async-signal-safe. */
void gsh_fault_swap_app_action_sigsafe(const struct sigaction *replacement, struct sigaction *old);
