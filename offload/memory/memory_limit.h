/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory available to the process: the machine's, or less where its control group (cgroups(7), versions 1 and 2)
 * or an enclosing one has a limit, as in containers and batch jobs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes. Reads files; not for a signal handler. */
int64_t gsh_memory_limit(void);
/* The least limit of the control groups, or `most`. `root` is where their file systems are mounted, `groups` the file
 * that names the process's groups: /sys/fs/cgroup and /proc/self/cgroup. */
int64_t gsh_memory_limit_of_groups(const char *root, const char *groups, int64_t most);
/* Whether little is left of the machine's memory, or of a control group's limit when pages of files are not counted. */
bool gsh_memory_limit_is_near(void);
/* The same for the control groups alone. */
bool gsh_memory_limit_is_near_in_groups(const char *root, const char *groups);
