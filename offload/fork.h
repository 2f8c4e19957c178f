/* SPDX-License-Identifier: Apache-2.0
 *
 * fork: before it, everything that only the device holds comes home and page-locked memory is
 * released; the child computes on the host only, the parent goes on.
 */
#pragma once

/* Registers the handlers; once. A child that is forked past them becomes the same when it next asks for a lock or a device
 * (base/forked.h), but for what only the device held: it stops with one line when it touches that. */
void gsh_fork_init(void);
