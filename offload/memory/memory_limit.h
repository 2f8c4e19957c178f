/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that the process may have: the machine's, or less where its control group (cgroups(7), versions 1 and 2) or one
 * around it says so, as those of containers and batch jobs do.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes. Reads files; not for a signal handler. */
int64_t gsh_memory_limit(void);
/* The control groups' least limit, or `most`: `root` is where their file systems lie, `groups` names the process's groups, as
 * /sys/fs/cgroup and /proc/self/cgroup do. */
int64_t gsh_memory_limit_of_groups(const char *root, const char *groups, int64_t most);
/* Whether little is left of what the machine has, or of what its control groups may have beside files' pages. */
bool gsh_memory_limit_is_near(void);
/* The groups alone, likewise. */
bool gsh_memory_limit_is_near_in_groups(const char *root, const char *groups);
