/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of the device's use for a process whose memory is written or read by something that takes no page fault and is not
 * told of each time: io_uring, Linux's asynchronous I/O, RDMA, vfio, /proc/self/mem. All arrays come home and stay, and NumPy
 * computes on the CPU.
 */
#pragma once

#include <stdbool.h>

/* Before such a thing is used; `why`, a text that stays, names it. When it returns all pages are open and no call
 * closes one any more. Once; later calls do nothing. Before gsh_startup: that declines then. Keeps errno. A thread that
 * holds a lock of the library's only ends the calls. */
void gsh_withdraw(const char *why);

/* What gsh_withdraw was told; NULL: nothing yet. Any thread, no locks. */
const char *gsh_withdraw_reason(void);
