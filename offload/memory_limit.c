/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of the list of groups is number:controllers:path. In version 2 the number is 0, and all controllers are in one tree;
 * in version 1 memory's tree has a folder of its own. Paths that are not there are skipped: a container sees its own group as
 * the root.
 */
#include "memory_limit.h"

#include "backend.h"
#include "base.h"
#include "device.h"
#include "lock.h"
#include "node.h"
#include "value.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

static int64_t read_limit(const char *path, int64_t most)
{
    long long value = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return most;
    bool is_number = fscanf(file, "%lld", &value) == 1 && value > 0; /* else "max" */
    (void)fclose(file);
    return is_number ? GSH_MIN((int64_t)value, most) : most;
}

/* The least limit of the group and of all around it. Shortens `group`. */
static int64_t walk_up(const char *tree, char *group, const char *name, int64_t most)
{
    char path[PATH_BYTES];
    for (;;) {
        int length = snprintf(path, sizeof(path), "%s%s/%s", tree, group, name);
        if (length > 0 && length < (int)sizeof(path))
            most = read_limit(path, most);
        char *last = strrchr(group, '/');
        if (last == NULL)
            return most;
        *last = '\0';
    }
}

int64_t gsh_memory_limit_of_groups(const char *root, const char *groups, int64_t most)
{
    char line[PATH_BYTES], controllers[256], group[PATH_BYTES], tree[PATH_BYTES];
    FILE *file = fopen(groups, "re");
    if (file == NULL)
        return most;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "0::%4095[^\n]", group) == 1)
            most = walk_up(root, group, "memory.max", most);
        if (sscanf(line, "%*d:%255[^:]:%4095[^\n]", controllers, group) == 2 &&
            strcmp(controllers, "memory") == 0 &&
            snprintf(tree, sizeof(tree), "%s/memory", root) < (int)sizeof(tree))
            most = walk_up(tree, group, "memory.limit_in_bytes", most);
    }
    (void)fclose(file);
    return most;
}

/* ---- the device's ---- */

/* Others ask for whole pages of the device, and the driver needs some itself. */
#define SLACK_BYTES ((size_t)32 << 20)

static size_t find_missing(size_t wanted)
{
    size_t available = gsh_backend_get()->available();
    return wanted > available ? wanted - available : 0;
}

/* Whether anything was unused. */
static bool trim_locked(void)
{
    size_t before = gsh_backend_get()->available();
    gsh_node_forget_locked();
    gsh_value_reap_locked();
    gsh_backend_get()->trim();
    return gsh_backend_get()->available() > before;
}

/* Nobody is evicted for what does not fit beside other users even so. */
static bool could_fit(size_t bytes)
{
    size_t free_bytes = 0, limit_bytes = 0;
    gsh_backend_get()->memory(&free_bytes, &limit_bytes);
    return bytes <= gsh_backend_get()->available() + (limit_bytes - free_bytes);
}

/* What recorded nodes hold is free, or can be evicted, once they have run. */
static bool yield_locked(size_t bytes)
{
    bool is_given = trim_locked();
    if (!could_fit(bytes) || find_missing(bytes + SLACK_BYTES) == 0)
        return is_given;
    gsh_node_flush_locked(GSH_FLUSH_MEMORY);
    is_given |= trim_locked();
    for (size_t missing;
         (missing = find_missing(bytes + SLACK_BYTES)) != 0 && gsh_value_evict_locked(missing);)
        is_given |= trim_locked();
    return is_given;
}

bool gsh_memory_limit_yield(size_t bytes)
{
    if (gsh_device_get_state() != GSH_DEVICE_READY || gsh_lock_is_any_held())
        return false;
    gsh_node_lock();
    bool is_given = yield_locked(bytes);
    gsh_node_unlock();
    return is_given;
}

/* ---- the host's ---- */

int64_t gsh_memory_limit(void)
{
    int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    return gsh_memory_limit_of_groups("/sys/fs/cgroup", "/proc/self/cgroup", machine);
}
