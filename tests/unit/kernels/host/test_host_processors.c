/* SPDX-License-Identifier: Apache-2.0
 *
 * Quotas of control groups, in folders that imitate their file systems; and the number of threads that follows.
 */
#include "host_processors.h"

#include "check.h"
#include "host_threads.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST 100U

static char root[] = "/tmp/gpushim-groups-XXXXXX", list[64];

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    CHECK(snprintf(path, sizeof(path), "%s%s", root, folder) > 0);
    (void)mkdir(path, 0700);
    CHECK(snprintf(path, sizeof(path), "%s%s/%s", root, folder, name) > 0);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static unsigned count_with(const char *groups)
{
    write_file("", "list", groups);
    return gsh_host_processors_of_groups(root, list, MOST);
}

static void check_quotas(void)
{
    write_file("/job", "cpu.max", "250000 100000\n");
    write_file("/job/step", "cpu.max", "max 100000\n");
    write_file("/job/step/task", "cpu.max", "800000 100000\n");
    write_file("/small", "cpu.max", "5000 100000\n");
    write_file("/cpu,cpuacct", "cpu.cfs_quota_us", "-1\n");
    write_file("/cpu,cpuacct", "cpu.cfs_period_us", "100000\n");
    write_file("/cpu,cpuacct/old", "cpu.cfs_quota_us", "400000\n");
    write_file("/cpu,cpuacct/old", "cpu.cfs_period_us", "100000\n");
    CHECK_INT(count_with("0::/job/step/task\n"), 3);
    CHECK_INT(count_with("0::/job\n"), 3);
    CHECK_INT(count_with("0::/small\n"), 1);
    CHECK_INT(count_with("0::/\n"), MOST);
    CHECK_INT(count_with("0::/not/there\n"), MOST);
    CHECK_INT(count_with("5:cpuset:/old\n4:cpu,cpuacct:/old/deeper\n0::/\n"), 4);
    CHECK_INT(count_with("5:cpuset:/old\n"), MOST);
    CHECK_INT(count_with(""), MOST);
    write_file("", "cpu.max", "200000 100000\n"); /* a container's own group is its root */
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
    if (!CHECK(mkdtemp(root) != NULL))
        return check_result();
    (void)snprintf(list, sizeof(list), "%s/list", root);
    check_quotas();
    check_affinity();
    check_openmp();
    return check_result();
}
