/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends the use of the device in a process whose memory is read or written by something that takes no page fault and
 * does not announce each access: io_uring, Linux's asynchronous I/O, RDMA, vfio, /proc/self/mem. All arrays are
 * fetched to the host and stay there, and NumPy computes on the CPU.
 */
#pragma once

#include <stdbool.h>

/* Call before such a facility is used; `why`, a static text, names it. When it returns all pages are open, and no
 * call closes one any more. Only the first call has an effect. Before gsh_startup, it makes that decline. Keeps
 * errno. On a thread that holds a lock of the library it only ends offloaded calls; arrays are not fetched. */
void gsh_retire(const char *why);

/* The text that gsh_retire was given; NULL: none. Any thread, no locks. */
const char *gsh_retire_reason(void);
