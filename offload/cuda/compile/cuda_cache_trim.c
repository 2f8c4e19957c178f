/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads names and sizes first, which is all that a folder below its limit costs, and the magic of each file only
 * where files must be removed. A file that has vanished before its removal was removed by another process with the
 * same list.
 */
#include "cuda_cache_trim.h"

#include "fmt.h"
#include "log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIGITS 32
#define MAX_NAME 80
#define LEFTOVER_SECONDS 3600 /* a temporary file older than this will never be finished */

struct entry {
    char name[MAX_NAME];
    struct timespec used;
    uint64_t size;
};

struct list {
    struct entry *entries;
    size_t count, room;
    uint64_t bytes;
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Whether the name is that of a kernel, or of one left unfinished. */
static bool is_our_name(const char *name, time_t modified)
{
    if (strspn(name, "0123456789abcdef") != DIGITS || strlen(name) >= MAX_NAME)
        return false;
    return name[DIGITS] == '\0' || (name[DIGITS] == '.' && ends_with(name, ".tmp") &&
                                    time(NULL) - modified > LEFTOVER_SECONDS);
}

static bool add(struct list *list, const char *name, const struct stat *stat)
{
    if (list->count == list->room) {
        size_t room = GSH_MAX(list->room * 2, 64);
        struct entry *entries = realloc(list->entries, room * sizeof *entries);
        if (!entries)
            return false;
        list->entries = entries;
        list->room = room;
    }
    struct entry *entry = &list->entries[list->count++];
    *entry = (struct entry){.used = stat->st_mtim, .size = (uint64_t)stat->st_size};
    memcpy(entry->name, name, strlen(name) + 1);
    list->bytes += entry->size;
    return true;
}

static void read_folder(DIR *dir, struct list *list)
{
    struct stat stat;
    for (const struct dirent *found; (found = readdir(dir)) != NULL;)
        if (fstatat(dirfd(dir), found->d_name, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(stat.st_mode) && is_our_name(found->d_name, stat.st_mtim.tv_sec) &&
            !add(list, found->d_name, &stat))
            return;
}

static bool has_magic(int folder, const char *name)
{
    char magic[sizeof GSH_CUDA_CACHE_MAGIC -
               2]; /* without the last character, so that other versions match */
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool has = read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
               memcmp(magic, GSH_CUDA_CACHE_MAGIC, sizeof magic) == 0;
    close(fd);
    return has;
}

static void drop_unknown(int folder, struct list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (has_magic(folder, list->entries[i].name))
            list->entries[kept++] = list->entries[i];
        else
            list->bytes -= list->entries[i].size;
    }
    list->count = kept;
}

static int compare_use(const void *left, const void *right)
{
    const struct timespec *a = &((const struct entry *)left)->used,
                          *b = &((const struct entry *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

static void remove_oldest(int folder, struct list *list, uint64_t limit)
{
    size_t removed = 0;
    if (list->count > 0)
        qsort(list->entries, list->count, sizeof *list->entries, compare_use);
    for (size_t i = 0; i < list->count && list->bytes > limit; i++) {
        const struct entry *entry = &list->entries[i];
        if (unlinkat(folder, entry->name, 0) != 0 && errno != ENOENT)
            continue;
        list->bytes -= entry->size;
        removed++;
    }
    gsh_log(GSH_LOG_DEBUG, "kernel cache: %zu files removed", removed);
}

void gsh_cuda_cache_trim(const char *folder, uint64_t limit)
{
    struct list list = {0};
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    read_folder(dir, &list);
    if (list.bytes > limit) {
        drop_unknown(dirfd(dir), &list);
        remove_oldest(dirfd(dir), &list, limit);
    }
    free(list.entries);
    closedir(dir);
}
