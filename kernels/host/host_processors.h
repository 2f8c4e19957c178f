/* SPDX-License-Identifier: Apache-2.0
 *
 * The processors that the process may use: those of its affinity mask, or less where its control group or an enclosing one has
 * a quota of processor time, as in containers and batch jobs.
 */
#pragma once

#include "base.h"

/* At least 1. Reads files; not for a signal handler. */
unsigned gsh_host_processors_count(void);
/* The least quota of the control groups, rounded up to whole processors, or `most`. `root`, `groups`: see host_cgroup.h. */
unsigned gsh_host_processors_of_groups(const char *root, const char *groups, unsigned most);
