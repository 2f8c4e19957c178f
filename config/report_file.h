/* SPDX-License-Identifier: Apache-2.0
 *
 * The file that the report goes to. It is opened without following a link, a regular file is emptied only if it is this user's
 * and neither standard output nor standard error, and nothing here waits for a reader for more than a second or two. Raw
 * system calls and no memory: safe in a signal handler.
 */
#pragma once

#include "base.h"

/* Writes the text to the file, which is made or emptied, or to what it names: "/dev/stdout", "/dev/stderr", "/dev/fd/N" and
 * "/proc/self/fd/N" are the process's own descriptors, and are appended to. 0, or an errno: ELOOP for a link, EPERM for
 * another user's file, ENXIO for a FIFO that nobody reads, ETIMEDOUT where the reader does not read. */
int gsh_report_file_write_sigsafe(const char *path, const char *text, size_t length);
/* The same to a descriptor. */
int gsh_report_file_append_sigsafe(int fd, const char *text, size_t length);
