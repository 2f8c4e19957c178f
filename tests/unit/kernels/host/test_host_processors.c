/* SPDX-License-Identifier: Apache-2.0
 *
 * Quotas of control groups, in folders that imitate their file systems; and the number of threads that follows.
 */
#include "host_processors.h"

#include "cgroup_files.h"
#include "host_threads.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST 100U

static unsigned count_with(const char *groups)
{
    cgroup_files_write("", "list", groups);
    return gsh_host_processors_of_groups(cgroup_root, cgroup_list, MOST);
}

static void check_quotas(void)
{
    cgroup_files_write("/job", "cpu.max", "250000 100000\n");
    cgroup_files_write("/job/step", "cpu.max", "max 100000\n");
    cgroup_files_write("/job/step/task", "cpu.max", "800000 100000\n");
    cgroup_files_write("/small", "cpu.max", "5000 100000\n");
    cgroup_files_write("/cpu,cpuacct", "cpu.cfs_quota_us", "-1\n");
    cgroup_files_write("/cpu,cpuacct", "cpu.cfs_period_us", "100000\n");
    cgroup_files_write("/cpu,cpuacct/old", "cpu.cfs_quota_us", "400000\n");
    cgroup_files_write("/cpu,cpuacct/old", "cpu.cfs_period_us", "100000\n");
    CHECK_INT(count_with("0::/job/step/task\n"), 3);
    CHECK_INT(count_with("0::/job\n"), 3);
    CHECK_INT(count_with("0::/small\n"), 1);
    CHECK_INT(count_with("0::/\n"), MOST);
    CHECK_INT(count_with("0::/not/there\n"), MOST);
    CHECK_INT(count_with("5:cpuset:/old\n4:cpu,cpuacct:/old/deeper\n0::/\n"), 4);
    CHECK_INT(count_with("5:cpuset:/old\n"), MOST);
    CHECK_INT(count_with(""), MOST);
    cgroup_files_write("", "cpu.max", "200000 100000\n"); /* a container's own group is its root */
    CHECK_INT(count_with("0::/elsewhere\n"), 2);
}

static void check_affinity(void)
{
    cpu_set_t before, one;
    unsigned count = gsh_host_processors_count();
    CHECK(count >= 1 && sched_getaffinity(0, sizeof before, &before) == 0);
    CHECK(count <= (unsigned)CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK_INT(gsh_host_processors_count(), 1);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

/* The first call decides. */
static void check_openmp(void)
{
    setenv("OMP_NUM_THREADS", "1,2", 1);
    CHECK_INT(gsh_host_threads_count(), 1);
}

int main(void)
{
    if (!cgroup_files_make())
        return check_result();
    check_quotas();
    check_affinity();
    check_openmp();
    return check_result();
}
