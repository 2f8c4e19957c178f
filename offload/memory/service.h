/* SPDX-License-Identifier: Apache-2.0
 *
 * The service thread: does the device work that a fault needs, because a signal handler has neither
 * the stack nor the right to call a driver; and runs recorded nodes that are left lying. Started
 * with the device; there is none in a forked child.
 */
#pragma once

#include "base.h"
#include "status.h"

/* Starts the thread, all signals blocked in it. */
enum gsh_status gsh_service_start(void);
/* Has the fault at `address` resolved and returns when it is. Called in the fault handler. False
 * where there is no service thread, or this is it. */
bool gsh_service_resolve_sigsafe(const void *address, bool write);
/* Tells the thread that the first node since the last flush was recorded: it runs nodes that nobody has run for
 * GPUSHIM_FEED_MS, so that the device is not idle while the program does something else. */
void gsh_service_note_recorded(void);
/* In a forked child: there is no thread any more. */
void gsh_service_reset_after_fork(void);
