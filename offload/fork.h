/* SPDX-License-Identifier: Apache-2.0
 *
 * fork. Before it, everything that only the device holds is fetched to the host and page-locked memory is released.
 * The child computes on the host only; the parent continues to use the device.
 */
#pragma once

/* Registers the handlers; once. A child forked without handlers becomes the same when it next asks for a lock or a
 * device (base/forked.h), but contents that only the device held are not fetched for it: it stops with one line when
 * it accesses them. */
void gsh_fork_init(void);
/* The same where no device is used: a child has the arena as it was, and none of the CPU's threads. */
void gsh_fork_init_without_device(void);
