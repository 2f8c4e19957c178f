/* SPDX-License-Identifier: Apache-2.0
 *
 * Brings offload/ to life in a process that has loaded NumPy.
 */
#pragma once

#include "status.h"

/* Chooses the backend, reserves the arena, installs fault and fork handlers, runs the self-tests.
 * DECLINED: nothing is active and hooks must not be installed; *why, a text that stays, says why. Once per process. */
enum gsh_status gsh_startup(const char **why);
/* Behind gsh_startup: in force mode, starts the device and waits until it is there or is known not to be. The driver may not
 * answer: signals' handlers should be behind ours by then (critical.h). */
void gsh_startup_device(void);
