/* SPDX-License-Identifier: Apache-2.0
 *
 * The SIGSEGV handler. A fault on a protected arena page is resolved and the instruction repeated. Any other fault
 * goes to the program's handler, installed before ours or later through the interposed sigaction.
 */
#pragma once

#include "base.h"
#include "status.h"

#include <signal.h>

/* Installs the handler and proves by one deliberate fault that it is reached. DECLINED: not
 * reached, or refused. */
enum gsh_status gsh_fault_init(void);
/* Whether gsh_fault_init has installed the handler. From then on it owns SIGSEGV's disposition. */
bool gsh_fault_is_installed(void);
/* The program's own disposition for SIGSEGV, to which faults that are not ours are passed. Replaces it and/or reports
 * the old one (either may be NULL), as sigaction would. Only while installed. Async-signal-safe. */
void gsh_fault_swap_app_action_sigsafe(const struct sigaction *replacement, struct sigaction *old);
