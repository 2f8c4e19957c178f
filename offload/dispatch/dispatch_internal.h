/* SPDX-License-Identifier: Apache-2.0
 *
 * What dispatch.c offers to the rest of offload/ only.
 */
#pragma once

#include "base.h"

/* Calls may be accepted from now on; reads the options. */
void gsh_dispatch_init(void);
/* The end of all dispatching in a forked child. */
void gsh_dispatch_reset_after_fork(void);
/* Calls that the device has accepted so far. Any thread. */
uint64_t gsh_dispatch_submitted(void);
