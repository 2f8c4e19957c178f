/* SPDX-License-Identifier: Apache-2.0
 *
 * A line in the list of groups is number:controllers:path. In version 2 the number is 0, and one tree has all
 * controllers. In version 1 each list of controllers has a tree in a folder of its name.
 */
#include "host_cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define TEXT_BYTES 8192 /* of a list of groups */

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

bool gsh_host_cgroup_read(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof(path), "%s/%s", folder, name);
    return length > 0 && length < (int)sizeof(path) && read_text(path, text, size);
}

const char *gsh_host_cgroup_next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line == '\n' ? line + 1 : line;
}

/* Visits the group and all groups around it. Shortens `group`. */
static void walk_up(const char *tree, char *group, int version, gsh_host_cgroup_visitor *visit,
                    void *context)
{
    char folder[PATH_BYTES];
    for (;;) {
        int length = snprintf(folder, sizeof(folder), "%s%s", tree, group);
        if (length > 0 && length < (int)sizeof(folder))
            visit(folder, version, context);
        char *last = strrchr(group, '/');
        if (last == NULL)
            return;
        *last = '\0';
    }
}

/* Whether a list of names with commas between them has the name. */
static bool has_name(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; *at != '\0'; at += *at == ',') {
        size_t span = strcspn(at, ",");
        if (span == length && strncmp(at, name, length) == 0)
            return true;
        at += span;
    }
    return false;
}

void gsh_host_cgroup_visit(const char *root, const char *groups, const char *controller,
                           gsh_host_cgroup_visitor *visit, void *context)
{
    char text[TEXT_BYTES], controllers[256], group[PATH_BYTES], tree[PATH_BYTES];
    if (!read_text(groups, text, sizeof(text)))
        return;
    for (const char *line = text; *line != '\0'; line = gsh_host_cgroup_next_line(line)) {
        if (sscanf(line, "0::%4095[^\n]", group) == 1)
            walk_up(root, group, 2, visit, context);
        if (sscanf(line, "%*d:%255[^:\n]:%4095[^\n]", controllers, group) == 2 &&
            has_name(controllers, controller) &&
            snprintf(tree, sizeof(tree), "%s/%s", root, controllers) < (int)sizeof(tree))
            walk_up(tree, group, 1, visit, context);
    }
}
