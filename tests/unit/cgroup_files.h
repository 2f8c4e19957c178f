/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder that imitates the file systems of control groups, and the file that names a process's groups.
 */
#pragma once

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char cgroup_root[] = "/tmp/gpushim-groups-XXXXXX", cgroup_list[64];

/* False, a failed check, where there can be no folder. */
static inline bool cgroup_files_make(void)
{
    if (!CHECK(mkdtemp(cgroup_root) != NULL))
        return false;
    (void)snprintf(cgroup_list, sizeof(cgroup_list), "%s/list", cgroup_root);
    return true;
}

/* Writes a file of the group `folder`, which is made where it is missing. "": the root. */
static inline void cgroup_files_write(const char *folder, const char *name, const char *text)
{
    char path[256];
    CHECK(snprintf(path, sizeof(path), "%s%s", cgroup_root, folder) > 0);
    (void)mkdir(path, 0700);
    CHECK(snprintf(path, sizeof(path), "%s%s/%s", cgroup_root, folder, name) > 0);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}
