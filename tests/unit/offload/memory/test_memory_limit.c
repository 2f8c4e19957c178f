/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of control groups, in folders that imitate their file systems.
 */
#include "memory_limit.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST (INT64_C(1) << 50)

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

static int64_t limit_with(const char *groups)
{
    write_file("", "list", groups);
    return gsh_memory_limit_of_groups(root, list, MOST);
}

static bool is_near_with(const char *groups)
{
    write_file("", "list", groups);
    return gsh_memory_limit_is_near_in_groups(root, list);
}

int main(void)
{
    if (!CHECK(mkdtemp(root) != NULL))
        return check_result();
    (void)snprintf(list, sizeof(list), "%s/list", root);
    write_file("/job", "memory.max", "3000000\n");
    write_file("/job/step", "memory.max", "max\n");
    write_file("/job/step/task", "memory.max", "5000000\n");
    write_file("/memory", "memory.limit_in_bytes", "9223372036854771712\n");
    write_file("/memory/old", "memory.limit_in_bytes", "4000000\n");
    CHECK_INT(limit_with("0::/job/step/task\n"), 3000000);
    CHECK_INT(limit_with("0::/job\n"), 3000000);
    CHECK_INT(limit_with("0::/\n"), MOST);
    CHECK_INT(limit_with("0::/not/there\n"), MOST);
    CHECK_INT(limit_with("5:cpu:/old\n4:memory:/old/deeper\n0::/\n"), 4000000);
    CHECK_INT(limit_with("4:memory:/old\n0::/job/step\n"), 3000000);
    CHECK_INT(limit_with(""), MOST);
    CHECK_INT(gsh_memory_limit_of_groups(root, "/not/there", MOST), MOST);
    CHECK(gsh_memory_limit() > 0);
    write_file("/job", "memory.stat", "anon 2600000\nfile 9000000\n");
    write_file("/job/step", "memory.stat", "anon 2600000\nfile 9000000\n");
    CHECK(!is_near_with("0::/job/step\n"));
    write_file("/job", "memory.stat", "file 9000000\nanon 2800000\n");
    CHECK(is_near_with("0::/job/step\n"));
    write_file("/job", "memory.stat", "anon 1000000\n");
    write_file("/job/step", "memory.high", "2700000\n");
    CHECK(is_near_with("0::/job/step\n"));
    write_file("/memory/old", "memory.stat", "rss 3700000\ntotal_rss 3500000\n");
    CHECK(!is_near_with("4:memory:/old\n"));
    write_file("/memory/old", "memory.stat", "rss 3500000\ntotal_rss 3700000\n");
    CHECK(is_near_with("4:memory:/old\n"));
    CHECK(!is_near_with("0::/not/there\n"));
    write_file("", "memory.max", "2000000\n"); /* a container's own group is its root */
    CHECK_INT(limit_with("0::/\n"), 2000000);
    CHECK_INT(limit_with("0::/elsewhere\n"), 2000000);
    return check_result();
}
