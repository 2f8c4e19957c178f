/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions that hand a caller's memory to the kernel (io_calls.def), and system calls that
 * are made through `syscall`. The kernel does not fault on a protected page, it fails with EFAULT;
 * so where such memory is in the arena it is brought home and pinned for the duration of the one
 * real call.
 */
#pragma once

/* Looks up the real functions; without it each is looked up at its first call. */
void gsh_libc_io_resolve(void);
