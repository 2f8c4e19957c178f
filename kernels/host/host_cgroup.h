/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the control groups of the process (cgroups(7), versions 1 and 2). Allocates nothing: a malloc that another library
 * interposes may wait for Python's global lock, whose holder may wait for the caller's thread. Not for signal handlers.
 */
#pragma once

#include "base.h"

/* Where the file systems are mounted, and the file that names the process's groups. */
#define GSH_HOST_CGROUP_ROOT "/sys/fs/cgroup"
#define GSH_HOST_CGROUP_GROUPS "/proc/self/cgroup"

/* Reads the text of folder/name, cut to the buffer; false where it cannot be read. */
bool gsh_host_cgroup_read(const char *folder, const char *name, char *text, size_t size);

/* The beginning of the next line of such a text, or its end. */
const char *gsh_host_cgroup_next_line(const char *line);

/* A folder of a group. `version`: 1 or 2. */
typedef void gsh_host_cgroup_visitor(const char *folder, int version, void *context);

/* Visits the process's group and all groups around it: in version 2 the one tree, in version 1 the tree of the controller
 * ("memory", "cpu"). Paths that do not exist are visited too: a container sees its own group as the root. */
void gsh_host_cgroup_visit(const char *root, const char *groups, const char *controller,
                           gsh_host_cgroup_visitor *visit, void *context);
