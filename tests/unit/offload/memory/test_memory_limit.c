/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of control groups, in folders that imitate their file systems.
 */
#include "memory_limit.h"

#include "cgroup_files.h"

#define MOST (INT64_C(1) << 50)

static int64_t limit_with(const char *groups)
{
    cgroup_files_write("", "list", groups);
    return gsh_memory_limit_of_groups(cgroup_root, cgroup_list, MOST);
}

static bool is_near_with(const char *groups)
{
    cgroup_files_write("", "list", groups);
    return gsh_memory_limit_is_near_in_groups(cgroup_root, cgroup_list);
}

int main(void)
{
    if (!cgroup_files_make())
        return check_result();
    cgroup_files_write("/job", "memory.max", "3000000\n");
    cgroup_files_write("/job/step", "memory.max", "max\n");
    cgroup_files_write("/job/step/task", "memory.max", "5000000\n");
    cgroup_files_write("/memory", "memory.limit_in_bytes", "9223372036854771712\n");
    cgroup_files_write("/memory/old", "memory.limit_in_bytes", "4000000\n");
    CHECK_INT(limit_with("0::/job/step/task\n"), 3000000);
    CHECK_INT(limit_with("0::/job\n"), 3000000);
    CHECK_INT(limit_with("0::/\n"), MOST);
    CHECK_INT(limit_with("0::/not/there\n"), MOST);
    CHECK_INT(limit_with("5:cpu:/old\n4:memory:/old/deeper\n0::/\n"), 4000000);
    CHECK_INT(limit_with("4:memory:/old\n0::/job/step\n"), 3000000);
    CHECK_INT(limit_with(""), MOST);
    CHECK_INT(gsh_memory_limit_of_groups(cgroup_root, "/not/there", MOST), MOST);
    CHECK(gsh_memory_limit() > 0);
    cgroup_files_write("/job", "memory.stat", "anon 2600000\nfile 9000000\n");
    cgroup_files_write("/job/step", "memory.stat", "anon 2600000\nfile 9000000\n");
    CHECK(!is_near_with("0::/job/step\n"));
    cgroup_files_write("/job", "memory.stat", "file 9000000\nanon 2800000\n");
    CHECK(is_near_with("0::/job/step\n"));
    cgroup_files_write("/job", "memory.current", "2600000\n"); /* less than that in all */
    CHECK(!is_near_with("0::/job/step\n"));
    cgroup_files_write("/job", "memory.current", "2900000\n");
    CHECK(is_near_with("0::/job/step\n"));
    cgroup_files_write("/job", "memory.stat", "anon 1000000\n");
    cgroup_files_write("/job/step", "memory.high", "2700000\n");
    CHECK(is_near_with("0::/job/step\n"));
    cgroup_files_write("/memory/old", "memory.stat", "rss 3700000\ntotal_rss 3500000\n");
    CHECK(!is_near_with("4:memory:/old\n"));
    cgroup_files_write("/memory/old", "memory.stat", "rss 3500000\ntotal_rss 3700000\n");
    CHECK(is_near_with("4:memory:/old\n"));
    CHECK(!is_near_with("0::/not/there\n"));
    cgroup_files_write("", "memory.max", "2000000\n"); /* a container's own group is its root */
    CHECK_INT(limit_with("0::/\n"), 2000000);
    CHECK_INT(limit_with("0::/elsewhere\n"), 2000000);
    return check_result();
}
