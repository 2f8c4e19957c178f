/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the report's file. It is opened without following a link. A regular file is truncated only if this user owns
 * it and it is neither standard output nor standard error. No call waits for a reader for more than a second or two.
 * Raw system calls, no allocation: safe in a signal handler.
 */
#pragma once

#include "base.h"

/* The file that an option names: `name` made absolute, because the program may change its folder, with "%p" replaced by the
 * process id. False: `path` has no room for it, or the folder is not known. */
bool gsh_report_file_name(const char *name, char *path, size_t size);
/* Its two parts: an absolute name, then the process id, behind the first `folder` bytes: those before `name`. */
bool gsh_report_file_absolute(const char *name, char *path, size_t size);
bool gsh_report_file_expand_sigsafe(const char *absolute, size_t folder, char *path, size_t size);
/* Writes the text to the file, which is created or truncated. "/dev/stdout", "/dev/stderr", "/dev/fd/N" and
 * "/proc/self/fd/N" name the process's own descriptors, to which the text is appended. Returns 0 or an errno:
 * ELOOP for a link, EPERM for another user's file, ENXIO for a FIFO without a reader, ETIMEDOUT where the reader
 * does not read. */
int gsh_report_file_write_sigsafe(const char *path, const char *text, size_t length);
/* The same, but a file that exists keeps its contents: the text is appended. */
int gsh_report_file_extend_sigsafe(const char *path, const char *text, size_t length);
/* Writes the text to a descriptor, with the same results. */
int gsh_report_file_append_sigsafe(int fd, const char *text, size_t length);
