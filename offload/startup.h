/* SPDX-License-Identifier: Apache-2.0
 *
 * Initialises offload/ in a process that has loaded NumPy.
 */
#pragma once

#include "base.h"
#include "status.h"

/* Reads what report is asked for, and begins to measure for it. Before gsh_startup; once per process. */
void gsh_startup_report(void);
/* Chooses the backend, reserves the arena, installs fault and fork handlers, runs the self-tests. DECLINED: nothing
 * is active and hooks must not be installed; *why, a static text, gives the reason. Once per process. */
enum gsh_status gsh_startup(const char **why);
/* After gsh_startup returned OK: whether there is a device that may take calls. Without one (GPUSHIM_DEVICE=cpu) only the
 * hooks that run NumPy's loops on several cores may be installed and, where there is an arena, those of the allocator. */
bool gsh_startup_has_device(void);
/* Called after gsh_startup. In force mode: starts the device and waits until it is ready or known to be unavailable. In mode
 * auto: begins to start it if the last run of this script says that it pays (last_run.h).
 * The driver may never answer, so our signal handlers should be in front of the program's by then (critical.h). */
void gsh_startup_device(void);
