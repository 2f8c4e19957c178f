/* SPDX-License-Identifier: Apache-2.0
 *
 * Access-control lists that let others write show in the group's bits.
 */
#include "cache_folder.h"

#include "fmt.h"
#include "options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void gsh_cache_folder_find(char path[GSH_CACHE_FOLDER_MAX + 1])
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, path, GSH_CACHE_FOLDER_MAX + 1);
    const char *cache_home = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (gsh_option_text(GSH_OPTION_CACHE_DIR)[0])
        gsh_fmt_text(&fmt, gsh_option_text(GSH_OPTION_CACHE_DIR));
    else if (cache_home && cache_home[0] == '/') /* its standard says to ignore relative paths */
        gsh_fmt_printf(&fmt, "%s/gpushim", cache_home);
    else if (home && home[0])
        gsh_fmt_printf(&fmt, "%s/.cache/gpushim", home);
    if (fmt.required != fmt.length)
        path[0] = '\0';
}

static bool is_private(const struct stat *stat)
{
    return stat->st_uid == geteuid() && (stat->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int gsh_cache_folder_open(const char *path, bool *is_refused)
{
    struct stat stat;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *is_refused = fd >= 0 && (fstat(fd, &stat) != 0 || !is_private(&stat));
    if (!*is_refused)
        return fd;
    close(fd);
    return -1;
}

static void make(const char *path)
{
    char part[GSH_CACHE_FOLDER_MAX + 1];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, part, sizeof part);
    gsh_fmt_text(&fmt, path);
    for (char *slash = part; fmt.length > 0 && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        mkdir(part, 0700);
        *slash = '/';
    }
    mkdir(part, 0700);
}

int gsh_cache_folder_open_or_make(const char *path, bool *is_refused)
{
    int folder = gsh_cache_folder_open(path, is_refused);
    if (folder >= 0 || *is_refused)
        return folder;
    make(path);
    return gsh_cache_folder_open(path, is_refused);
}

bool gsh_cache_folder_trusts(int fd)
{
    struct stat stat;
    return fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && is_private(&stat);
}
