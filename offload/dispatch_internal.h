/* SPDX-License-Identifier: Apache-2.0
 *
 * What dispatch.c offers to the rest of offload/ only.
 */
#pragma once

/* Calls may be accepted from now on; reads the options. */
void gsh_dispatch_init(void);
/* fork: the DISPATCH lock by name, and the end of all dispatching in the child. */
void gsh_dispatch_lock(void);
void gsh_dispatch_unlock(void);
void gsh_dispatch_reset_after_fork(void);
