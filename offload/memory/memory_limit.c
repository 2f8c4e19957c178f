/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that do not exist are skipped.
 */
#include "memory_limit.h"

#include "base.h"
#include "host_cgroup.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 8192 /* of a list of numbers */
#define NEAR_SHARE 10   /* a limit is near when 1/10 of it is left */

/* The files of a group's limits in each version, that of its memory with pages of files, and the key in memory.stat of memory
 * that cannot be reclaimed without swapping. */
struct version {
    const char *limits[2];
    const char *total;
    const char *used;
};
static const struct version versions[] = {
    [1] = {{"memory.limit_in_bytes", "memory.limit_in_bytes"},
           "memory.usage_in_bytes",
           "total_rss"},
    [2] = {{"memory.max", "memory.high"}, "memory.current", "anon"}};

static int64_t read_number(const char *folder, const char *name, int64_t most)
{
    char text[64];
    long long value = 0;
    bool is_number = gsh_host_cgroup_read(folder, name, text, sizeof(text)) &&
                     sscanf(text, "%lld", &value) == 1 && value > 0; /* else "max" */
    return is_number ? GSH_MIN((int64_t)value, most) : most;
}

/* The number after a key that begins a line, as in memory.stat; 0 where there is none. */
static int64_t find_key(const char *text, const char *key)
{
    char found[64];
    long long value = 0;
    for (const char *line = text; *line != '\0'; line = gsh_host_cgroup_next_line(line))
        if (sscanf(line, "%63s %lld", found, &value) == 2 && strcmp(found, key) == 0)
            return value;
    return 0;
}

static void take_limit(const char *folder, int version, void *context)
{
    int64_t *least = context;
    *least = read_number(folder, versions[version].limits[0], *least);
}

int64_t gsh_memory_limit_of_groups(const char *root, const char *groups, int64_t most)
{
    gsh_host_cgroup_visit(root, groups, "memory", take_limit, &most);
    return most;
}

static bool is_near(int64_t used, int64_t limit)
{
    return used > limit - limit / NEAR_SHARE;
}

/* memory.stat is read only where the total, a single counter, does not settle it: for that file the kernel sums up what all
 * processors have counted (cgroup_rstat_flush). */
static void note_near(const char *folder, int number, void *context)
{
    const struct version *version = &versions[number];
    bool *is_any = context;
    char text[TEXT_BYTES];
    int64_t limit = INT64_MAX;
    for (unsigned k = 0; k < GSH_COUNT(version->limits); k++)
        limit = read_number(folder, version->limits[k], limit);
    if (limit < INT64_MAX && is_near(read_number(folder, version->total, limit), limit) &&
        gsh_host_cgroup_read(folder, "memory.stat", text, sizeof(text)) &&
        is_near(find_key(text, version->used), limit))
        *is_any = true;
}

bool gsh_memory_limit_is_near_in_groups(const char *root, const char *groups)
{
    bool is_any = false;
    gsh_host_cgroup_visit(root, groups, "memory", note_near, &is_any);
    return is_any;
}

bool gsh_memory_limit_is_near(void)
{
    char text[TEXT_BYTES];
    bool is_known = gsh_host_cgroup_read("/proc", "meminfo", text, sizeof(text));
    int64_t total = is_known ? find_key(text, "MemTotal:") : 0;
    int64_t unused = is_known ? find_key(text, "MemAvailable:") : 0;
    return (total > 0 && is_near(total - unused, total)) ||
           gsh_memory_limit_is_near_in_groups(GSH_HOST_CGROUP_ROOT, GSH_HOST_CGROUP_GROUPS);
}

int64_t gsh_memory_limit(void)
{
    int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    return gsh_memory_limit_of_groups(GSH_HOST_CGROUP_ROOT, GSH_HOST_CGROUP_GROUPS, machine);
}
