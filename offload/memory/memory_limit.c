/* SPDX-License-Identifier: Apache-2.0
 *
 * A line in the list of groups is number:controllers:path. In version 2 the number is 0, and one tree has all
 * controllers. In version 1 the memory controller has a tree in a folder of its own. Missing paths are skipped: a
 * container sees its own group as the root.
 */
#include "memory_limit.h"

#include "base.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define TEXT_BYTES 8192 /* of a list of groups, or of numbers */
#define NEAR_SHARE 10   /* a limit is near when 1/10 of it is left */

/* The files of a group's limits in each version, and the key in memory.stat of memory that cannot be reclaimed
 * without swapping. */
struct version {
    const char *limits[2];
    const char *used;
};
static const struct version second = {{"memory.max", "memory.high"}, "anon"};
static const struct version first = {{"memory.limit_in_bytes", "memory.limit_in_bytes"},
                                     "total_rss"};

typedef void visit_group(const char *folder, const struct version *version, int64_t *result);

/* Reads a file's text, cut to the buffer; false where it cannot be read. Allocates nothing, unlike stdio: a malloc
 * that another library interposes may wait for Python's global lock, whose holder may wait for the caller's thread. */
static bool read_text(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t got = 1; file >= 0 && got > 0 && length < size - 1;) {
        got = read(file, text + length, size - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    text[length] = '\0';
    if (file >= 0)
        close(file);
    return file >= 0;
}

static bool read_file(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof(path), "%s/%s", folder, name);
    return length > 0 && length < (int)sizeof(path) && read_text(path, text, size);
}

/* The beginning of the next line, or the text's end. */
static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line == '\n' ? line + 1 : line;
}

static int64_t read_number(const char *folder, const char *name, int64_t most)
{
    char text[64];
    long long value = 0;
    bool is_number = read_file(folder, name, text, sizeof(text)) &&
                     sscanf(text, "%lld", &value) == 1 && value > 0; /* else "max" */
    return is_number ? GSH_MIN((int64_t)value, most) : most;
}

/* The number after a key that begins a line, as in memory.stat; 0 where there is none. */
static int64_t find_key(const char *text, const char *key)
{
    char found[64];
    long long value = 0;
    for (const char *line = text; *line != '\0'; line = next_line(line))
        if (sscanf(line, "%63s %lld", found, &value) == 2 && strcmp(found, key) == 0)
            return value;
    return 0;
}

/* Visits the group and all groups around it. Shortens `group`. */
static void walk_up(const char *tree, char *group, const struct version *version,
                    visit_group *visit, int64_t *result)
{
    char folder[PATH_BYTES];
    for (;;) {
        int length = snprintf(folder, sizeof(folder), "%s%s", tree, group);
        if (length > 0 && length < (int)sizeof(folder))
            visit(folder, version, result);
        char *last = strrchr(group, '/');
        if (last == NULL)
            return;
        *last = '\0';
    }
}

static void visit_groups(const char *root, const char *groups, visit_group *visit, int64_t *result)
{
    char text[TEXT_BYTES], controllers[256], group[PATH_BYTES], tree[PATH_BYTES];
    if (!read_text(groups, text, sizeof(text)))
        return;
    for (const char *line = text; *line != '\0'; line = next_line(line)) {
        if (sscanf(line, "0::%4095[^\n]", group) == 1)
            walk_up(root, group, &second, visit, result);
        if (sscanf(line, "%*d:%255[^:\n]:%4095[^\n]", controllers, group) == 2 &&
            strcmp(controllers, "memory") == 0 &&
            snprintf(tree, sizeof(tree), "%s/memory", root) < (int)sizeof(tree))
            walk_up(tree, group, &first, visit, result);
    }
}

static void take_limit(const char *folder, const struct version *version, int64_t *least)
{
    *least = read_number(folder, version->limits[0], *least);
}

int64_t gsh_memory_limit_of_groups(const char *root, const char *groups, int64_t most)
{
    visit_groups(root, groups, take_limit, &most);
    return most;
}

static bool is_near(int64_t used, int64_t limit)
{
    return used > limit - limit / NEAR_SHARE;
}

static void note_near(const char *folder, const struct version *version, int64_t *is_any)
{
    char text[TEXT_BYTES];
    int64_t limit = INT64_MAX;
    for (unsigned k = 0; k < GSH_COUNT(version->limits); k++)
        limit = read_number(folder, version->limits[k], limit);
    if (limit < INT64_MAX && read_file(folder, "memory.stat", text, sizeof(text)) &&
        is_near(find_key(text, version->used), limit))
        *is_any = 1;
}

bool gsh_memory_limit_is_near_in_groups(const char *root, const char *groups)
{
    int64_t is_any = 0;
    visit_groups(root, groups, note_near, &is_any);
    return is_any != 0;
}

bool gsh_memory_limit_is_near(void)
{
    char text[TEXT_BYTES];
    bool is_known = read_file("/proc", "meminfo", text, sizeof(text));
    int64_t total = is_known ? find_key(text, "MemTotal:") : 0;
    int64_t unused = is_known ? find_key(text, "MemAvailable:") : 0;
    return (total > 0 && is_near(total - unused, total)) ||
           gsh_memory_limit_is_near_in_groups("/sys/fs/cgroup", "/proc/self/cgroup");
}

int64_t gsh_memory_limit(void)
{
    int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    return gsh_memory_limit_of_groups("/sys/fs/cgroup", "/proc/self/cgroup", machine);
}
