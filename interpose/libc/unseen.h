/* SPDX-License-Identifier: Apache-2.0
 *
 * Notices that the process sets up something that writes or reads memory without page faults, and withdraws the device then
 * (withdraw.h): io_uring, Linux's asynchronous I/O, RDMA, vfio and /proc/self/mem. Only setting it up counts: a library that
 * merely could (libibverbs, UCX) does no harm by being loaded. docs/user/api.md lists what is seen. All keep errno; none is for a
 * child between vfork and exec, where they do nothing.
 */
#pragma once

#include <stdbool.h>

/* Before the system call of that number, made through `syscall`. */
void gsh_unseen_note_syscall(long number);
/* Whether that system call's result is the descriptor of a file that it opened. */
bool gsh_unseen_opens_file(long number);
/* After a file was opened: its descriptor, or a negative number, and the path, or NULL where that is not known. Costs a few
 * compares for paths of no interest. */
void gsh_unseen_note_file(int file, const char *path);
/* Before a library is loaded: liburing and libaio make their system calls themselves. */
void gsh_unseen_note_library(const char *path);
/* Whether a library is there that hands addresses of arrays to other processes, which then read and write them: MPI. */
bool gsh_unseen_is_shared(void);
/* Once, when NumPy is found: the libraries that are loaded already. */
void gsh_unseen_note_loaded(void);
