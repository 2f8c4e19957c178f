/* SPDX-License-Identifier: Apache-2.0
 *
 * A quota is so many microseconds in each period of so many.
 */
#include "host_processors.h"

#include "host_cgroup.h"

#include <sched.h>
#include <stdio.h>

static bool read_number(const char *folder, const char *name, long long *number)
{
    char text[64];
    return gsh_host_cgroup_read(folder, name, text, sizeof(text)) &&
           sscanf(text, "%lld", number) == 1;
}

/* False: the group has no quota, "max" or -1. */
static bool read_quota(const char *folder, int version, long long *quota, long long *period)
{
    char text[64];
    if (version == 2)
        return gsh_host_cgroup_read(folder, "cpu.max", text, sizeof(text)) &&
               sscanf(text, "%lld %lld", quota, period) == 2;
    return read_number(folder, "cpu.cfs_quota_us", quota) &&
           read_number(folder, "cpu.cfs_period_us", period);
}

static void take_quota(const char *folder, int version, void *context)
{
    unsigned *least = context;
    long long quota = 0, period = 0;
    if (!read_quota(folder, version, &quota, &period) || quota <= 0 || period <= 0)
        return;
    long long processors = (quota - 1) / period + 1;
    *least = processors < *least ? (unsigned)processors : *least;
}

unsigned gsh_host_processors_of_groups(const char *root, const char *groups, unsigned most)
{
    gsh_host_cgroup_visit(root, groups, "cpu", take_quota, &most);
    return most;
}

/* The mask of a machine with more processors than a cpu_set_t holds cannot be read; it is not worth more than that. */
static unsigned count_affinity(void)
{
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        return 1;
    return (unsigned)GSH_MAX(CPU_COUNT(&usable), 1);
}

unsigned gsh_host_processors_count(void)
{
    return gsh_host_processors_of_groups(GSH_HOST_CGROUP_ROOT, GSH_HOST_CGROUP_GROUPS,
                                         count_affinity());
}
