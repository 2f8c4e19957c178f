/* SPDX-License-Identifier: Apache-2.0
 *
 * Access-control lists that let others write show in the group's bits.
 */
#include "cache_folder.h"

#include "fmt.h"
#include "options.h"

#include <fcntl.h>
#include <stdio.h>
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

static int open_either(const char *path, bool makes)
{
    bool is_refused;
    return makes ? gsh_cache_folder_open_or_make(path, &is_refused)
                 : gsh_cache_folder_open(path, &is_refused);
}

int gsh_cache_folder_enter(const char *subfolder, bool makes)
{
    char path[GSH_CACHE_FOLDER_MAX + 1 + GSH_CACHE_FOLDER_NAME_MAX + 1];
    gsh_cache_folder_find(path);
    int folder = path[0] != '\0' ? open_either(path, makes) : -1;
    if (folder < 0 || subfolder[0] == '\0')
        return folder;
    close(folder);
    memcpy(path + strlen(path), subfolder, strlen(subfolder) + 1);
    return open_either(path, makes);
}

bool gsh_cache_folder_read_text(int folder, const char *name, char *text, size_t size)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return false;
    ssize_t length = gsh_cache_folder_trusts(fd) ? read(fd, text, size) : 0;
    text[length > 0 && (size_t)length < size ? length : 0] = '\0';
    close(fd);
    return true;
}

static bool write_file(int folder, const char *name, const char *text, size_t length)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool is_written = write(fd, text, length) == (ssize_t)length;
    return close(fd) == 0 && is_written;
}

bool gsh_cache_folder_write_text(int folder, const char *name, const char *text, size_t length)
{
    char temporary[GSH_CACHE_FOLDER_NAME_MAX + 32];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, temporary, sizeof temporary);
    gsh_fmt_printf(&fmt, "%s.%ld.tmp", name, (long)getpid());
    if (write_file(folder, temporary, text, length) &&
        renameat(folder, temporary, folder, name) == 0)
        return true;
    (void)unlinkat(folder, temporary, 0);
    return false;
}
