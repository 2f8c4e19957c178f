/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions that pass the caller's memory to the kernel (io_calls.def), and system calls
 * made through `syscall`. The kernel does not fault on a protected page but fails with EFAULT.
 * Therefore memory in the arena is fetched to the host and pinned for the duration of the one real
 * call.
 */
#pragma once

/* Looks up the real functions. If not called, each is looked up at its first call. */
void gsh_libc_io_resolve(void);
