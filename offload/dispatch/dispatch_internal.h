/* SPDX-License-Identifier: Apache-2.0
 *
 * What dispatch.c offers to the rest of offload/ only.
 */
#pragma once

#include "call.h"
#include "reasons.h"
#include "status.h"

/* Calls may be accepted from now on; reads the options. */
void gsh_dispatch_init(void);
/* gsh_dispatch_run (dispatch.h), for dispatch_run.c. */
enum gsh_status gsh_dispatch_run_untraced(const struct gsh_call *call, enum gsh_reason *why);
/* The end of all dispatching in a forked child. */
void gsh_dispatch_reset_after_fork(void);
/* Calls that the device has accepted so far. Any thread. */
uint64_t gsh_dispatch_submitted(void);
