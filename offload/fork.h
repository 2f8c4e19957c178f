/* SPDX-License-Identifier: Apache-2.0
 *
 * fork: before it, everything that only the device holds comes home and page-locked memory is
 * released; the child computes on the host only, the parent goes on.
 */
#pragma once

/* Registers the handlers with pthread_atfork; once. */
void gsh_fork_init(void);
