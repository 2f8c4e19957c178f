/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens the device's driver ahead of the start: while the interpreter itself starts, where the last run of the script says that it
 * pays, or while NumPy computes, where calls have foregone part of the start's price. The driver takes most of the start's time
 * and needs nothing of NumPy's. The start that follows (device.h) waits for it. Where the program's BLAS is at work, its threads
 * have priority over this one. A process that then
 * starts no device has opened the driver for nothing; it ends 0.04 s later (H200). Checked by tests/preload/test_script_profile.py.
 */
#pragma once

#include "backend.h"

/* Begins it in a thread of its own, unless it was begun. Any thread; takes no lock of ours. Without effect for a backend that has no
 * driver to open. */
void gsh_warm_up_begin(enum gsh_warm_up depth);
/* Returns when the driver is open, or cannot be opened, or after 10 s. At once where nothing was begun, and in a forked child.
 * For a process that ends: the driver must not be shut down while it opens. */
void gsh_warm_up_wait(void);
