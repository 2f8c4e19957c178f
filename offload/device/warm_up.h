/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens the device's driver ahead of the start, while the interpreter itself starts. The driver takes most of the start's time
 * and needs nothing of NumPy's. The start that follows (device.h) waits for it in the driver's own locks. A process whose
 * program then loads no NumPy has opened the driver for nothing. Checked by tests/preload/test_script_profile.py.
 */
#pragma once

/* Begins it in a thread of its own. Called at most once, before the device's start, by the only thread of the process; takes no
 * lock. Without effect for a backend that has no driver to open. */
void gsh_warm_up_begin(void);
/* Returns when the driver is open, or cannot be opened, or after 10 s. At once where nothing was begun, and in a forked child.
 * For a process that ends: the driver must not be shut down while it opens. */
void gsh_warm_up_wait(void);
