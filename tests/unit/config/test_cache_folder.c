/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts in the cache folder: written as a whole or not at all, by whom, into which folder; what others may write, and what is too
 * long, is not read.
 */
#include "cache_folder.h"

#include "check.h"
#include "options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 16 };

static char root[] = "/tmp/gsh_folder_XXXXXX";
static char cache[64], text[SIZE];

static void check_folders(void)
{
    char below[80];
    snprintf(below, sizeof below, "%s/sub", cache);
    CHECK_INT(gsh_cache_folder_enter("", false), -1);
    CHECK_INT(gsh_cache_folder_enter("/sub", false), -1);
    CHECK_INT(access(cache, F_OK), -1);
    int folder = gsh_cache_folder_enter("/sub", true);
    CHECK(folder >= 0);
    CHECK(access(below, F_OK) == 0);
    close(folder);
    CHECK_INT(chmod(cache, 0777), 0); /* the subfolder's own mode does not help */
    CHECK_INT(gsh_cache_folder_enter("/sub", true), -1);
    CHECK_INT(chmod(cache, 0700), 0);
    CHECK_INT(chmod(below, 0720), 0);
    CHECK_INT(gsh_cache_folder_enter("/sub", true), -1);
    folder = gsh_cache_folder_enter("", true);
    CHECK(folder >= 0);
    close(folder);
}

static void check_text(int folder)
{
    struct stat stat;
    CHECK(!gsh_cache_folder_read_text(folder, "a", text, SIZE));
    CHECK(gsh_cache_folder_write_text(folder, "a", "first, and long", 15));
    CHECK(gsh_cache_folder_read_text(folder, "a", text, SIZE));
    CHECK(strcmp(text, "first, and long") == 0);
    CHECK(fstatat(folder, "a", &stat, 0) == 0 && (stat.st_mode & 0777) == 0600);
    CHECK(gsh_cache_folder_write_text(folder, "a", "second", 6));
    CHECK(gsh_cache_folder_read_text(folder, "a", text, SIZE) && strcmp(text, "second") == 0);
    CHECK(gsh_cache_folder_read_text(folder, "a", text, 6) &&
          text[0] == '\0'); /* no room for the end */
    CHECK(gsh_cache_folder_read_text(folder, "a", text, 7) && strcmp(text, "second") == 0);
}

static void check_trust(int folder)
{
    CHECK_INT(fchmodat(folder, "a", 0620, 0), 0);
    CHECK(gsh_cache_folder_read_text(folder, "a", text, SIZE) && text[0] == '\0');
    CHECK_INT(fchmodat(folder, "a", 0600, 0), 0);
    CHECK_INT(symlinkat("a", folder, "link"), 0);
    CHECK(!gsh_cache_folder_read_text(folder, "link", text, SIZE));
    CHECK(gsh_cache_folder_write_text(folder, "link", "own",
                                      3)); /* in the link's place, not through it */
    CHECK(gsh_cache_folder_read_text(folder, "link", text, SIZE) && strcmp(text, "own") == 0);
    CHECK(gsh_cache_folder_read_text(folder, "a", text, SIZE) && strcmp(text, "second") == 0);
}

/* The temporary file takes no place that is taken, and none is left behind. */
static void check_failures(int folder)
{
    char temporary[40];
    snprintf(temporary, sizeof temporary, "a.%ld.tmp", (long)getpid());
    CHECK_INT(faccessat(folder, temporary, F_OK, 0), -1);
    CHECK_INT(symlinkat("elsewhere", folder, temporary), 0);
    CHECK(!gsh_cache_folder_write_text(folder, "a", "third", 5));
    CHECK_INT(faccessat(folder, "elsewhere", F_OK, 0), -1);
    CHECK_INT(mkdirat(folder, "busy", 0700), 0);
    CHECK(
        !gsh_cache_folder_write_text(folder, "busy", "x", 1)); /* cannot be renamed onto a folder */
    snprintf(temporary, sizeof temporary, "busy.%ld.tmp", (long)getpid());
    CHECK_INT(faccessat(folder, temporary, F_OK, AT_SYMLINK_NOFOLLOW), -1);
    CHECK(gsh_cache_folder_read_text(folder, "a", text, SIZE) && strcmp(text, "second") == 0);
}

int main(void)
{
    char command[80];
    CHECK(mkdtemp(root) != NULL);
    snprintf(cache, sizeof cache, "%s/cache", root);
    setenv("GPUSHIM_CACHE_DIR", cache, 1);
    gsh_options_init();
    check_folders();
    int folder = gsh_cache_folder_enter("", false);
    CHECK(folder >= 0);
    check_text(folder);
    check_trust(folder);
    check_failures(folder);
    close(folder);
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK_INT(system(command), 0);
    return check_result();
}
