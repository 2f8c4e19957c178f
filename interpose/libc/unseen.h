/* SPDX-License-Identifier: Apache-2.0
 *
 * Detects that the process sets up a mechanism that accesses memory without page faults, and then
 * retires the device (retire.h): io_uring, Linux's asynchronous I/O, RDMA, vfio and
 * /proc/self/mem. Only the setup counts; loading a library that could use one (libibverbs, UCX)
 * does not. docs/user/api.md lists what is detected. All functions keep errno. In a child between vfork
 * and exec they do nothing.
 */
#pragma once

#include <stdbool.h>

/* Called before the system call `number` that is made through `syscall`. */
void gsh_unseen_note_syscall(long number);
/* Whether that system call returns the descriptor of an opened file. */
bool gsh_unseen_opens_file(long number);
/* Called after a file was opened. `file` is the descriptor or a negative number, `path` is NULL if
 * unknown. Costs a few comparisons for irrelevant paths. */
void gsh_unseen_note_file(int file, const char *path);
/* Called before a library is loaded: liburing and libaio make their system calls directly. */
void gsh_unseen_note_library(const char *path);
/* Whether a library is loaded that passes addresses of arrays to other processes, which then access
 * them: MPI. */
bool gsh_unseen_is_shared(void);
/* Called once, when NumPy is found: checks the libraries that are already loaded. */
void gsh_unseen_note_loaded(void);
