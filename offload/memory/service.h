/* SPDX-License-Identifier: Apache-2.0
 *
 * The service thread does the device work that a fault needs: a signal handler has too little stack for a driver call
 * and is not allowed to make one. It also flushes nodes that have been pending for long. Started with the device; a
 * forked child has none.
 */
#pragma once

#include "base.h"
#include "status.h"

/* Starts the thread, all signals blocked in it. */
enum gsh_status gsh_service_start(void);
/* Has the service thread resolve the fault at `address`, and waits for it. Called in the fault handler. False where
 * there is no service thread, or the caller is it. */
bool gsh_service_resolve_sigsafe(const void *address, bool write);
/* Tells the thread that a node is pending, the first since the last flush. The thread flushes nodes that have been
 * pending for GPUSHIM_FEED_MS, so that the device is not idle while the program does something else. */
void gsh_service_note_recorded(void);
/* Whether a fault waits that the thread has not begun to serve. Any thread, any locks. */
bool gsh_service_is_waited_for(void);
/* In a forked child: notes that there is no thread. */
void gsh_service_reset_after_fork(void);
