/* SPDX-License-Identifier: Apache-2.0
 *
 * What is written is found, for the same state of the same script only; damage of any byte is not believed; a folder or file
 * that others may write is not used; the number of files has a limit; a bad folder is no error.
 */
#include "profile_file.h"

#include "check.h"
#include "launch.h"
#include "options.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/gsh_profile_XXXXXX";
static char cache[64], folder[80], file[160];

static const struct gsh_script_identity script = {
    .name = (unsigned __int128)0xab << 64 | 1, .size = 1234, .seconds = 17, .nanoseconds = 5};
static const struct gsh_profile profile = {.gain_ns = 123456789,
                                           .libraries =
                                               1u << GSH_LAUNCH_GEMM | 1u << GSH_LAUNCH_FFT,
                                           .is_shared = true};

static unsigned count_files(void)
{
    unsigned count = 0;
    DIR *dir = opendir(folder);
    for (const struct dirent *found; dir != NULL && (found = readdir(dir)) != NULL;)
        count += found->d_name[0] != '.';
    if (dir != NULL)
        closedir(dir);
    return count;
}

static enum gsh_profile_found look(void)
{
    struct gsh_profile found = {0};
    enum gsh_profile_found status = gsh_profile_file_read(&script, &found);
    if (status == GSH_PROFILE_FOUND) {
        CHECK_INT(found.gain_ns, profile.gain_ns);
        CHECK_INT(found.libraries, profile.libraries);
        CHECK(found.is_shared);
    }
    return status;
}

static void check_round(void)
{
    CHECK_INT(look(), GSH_PROFILE_NONE);
    gsh_profile_file_remove(&script);
    CHECK_INT(access(cache, F_OK), -1);
    gsh_profile_file_write(&script, &profile);
    CHECK_INT(look(), GSH_PROFILE_FOUND);
    gsh_profile_file_write(&script, &profile);
    CHECK_INT(look(), GSH_PROFILE_FOUND);
    CHECK_INT(count_files(), 1);
    gsh_profile_file_remove(&script);
    CHECK_INT(look(), GSH_PROFILE_NONE);
    CHECK_INT(count_files(), 0);
}

static void check_other_scripts(void)
{
    struct gsh_profile found;
    struct gsh_script_identity others[] = {script, script, script, script};
    others[0].size++;
    others[1].seconds--;
    others[2].nanoseconds++;
    others[3].name ^= (unsigned __int128)1 << 127;
    gsh_profile_file_write(&script, &profile);
    for (unsigned k = 0; k < GSH_COUNT(others); k++)
        CHECK_INT(gsh_profile_file_read(&others[k], &found),
                  k < 3 ? GSH_PROFILE_STALE : GSH_PROFILE_NONE);
    gsh_profile_file_write(&others[0], &profile); /* takes its place */
    CHECK_INT(look(), GSH_PROFILE_STALE);
    CHECK_INT(count_files(), 1);
}

/* ---- damage ---- */

static void write_file(const char *text, size_t size)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK_INT(write(fd, text, size), size);
    close(fd);
}

static void check_damage(void)
{
    char text[2048] = "", longer[2048];
    gsh_profile_file_write(&script, &profile);
    int fd = open(file, O_RDONLY);
    ssize_t size = read(fd, text, sizeof text);
    close(fd);
    CHECK(size > 40);
    for (ssize_t k = 0; k < size; k++) {
        text[k] ^= 0x40;
        write_file(text, (size_t)size);
        CHECK_INT(look(), GSH_PROFILE_STALE);
        text[k] ^= 0x40;
        write_file(text, (size_t)k);
        CHECK_INT(look(), GSH_PROFILE_STALE);
    }
    memset(longer, 'x', sizeof longer);
    memcpy(longer, text, (size_t)size);
    write_file(longer, sizeof longer);
    CHECK_INT(look(), GSH_PROFILE_STALE);
    write_file(text, (size_t)size);
    CHECK_INT(look(), GSH_PROFILE_FOUND);
}

/* ---- trust ---- */

static void check_trust(void)
{
    chmod(file, 0620);
    CHECK_INT(look(), GSH_PROFILE_STALE);
    gsh_profile_file_write(&script, &profile); /* replaced by one of ours */
    CHECK_INT(look(), GSH_PROFILE_FOUND);
    const char *const paths[] = {cache, folder};
    for (unsigned k = 0; k < GSH_COUNT(paths); k++) {
        chmod(paths[k], 0777);
        CHECK_INT(look(), GSH_PROFILE_NONE);
        gsh_profile_file_remove(&script);
        gsh_profile_file_write(&script, &(struct gsh_profile){0});
        chmod(paths[k], 0700);
        CHECK_INT(look(), GSH_PROFILE_FOUND);
    }
}

static void check_links(void)
{
    char other[200];
    snprintf(other, sizeof other, "%s.other", file);
    CHECK_INT(rename(file, other), 0);
    CHECK_INT(symlink(other, file), 0);
    CHECK_INT(look(), GSH_PROFILE_NONE);
    gsh_profile_file_write(&script, &profile);
    CHECK_INT(look(), GSH_PROFILE_FOUND);
    CHECK_INT(unlink(other), 0);
}

/* ---- number ---- */

static void check_limit(void)
{
    struct gsh_script_identity next = script;
    struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    for (unsigned k = 0; k < 1010; k++) {
        next.name++;
        CHECK(gsh_profile_file_write(&next, &profile));
        gsh_profile_file_trim();
        if (k == 0)
            CHECK_INT(utimensat(AT_FDCWD, file, past, 0), 0);
    }
    CHECK_INT(count_files(), 1000);
    CHECK_INT(look(), GSH_PROFILE_NONE); /* the oldest */
    CHECK_INT(gsh_profile_file_read(&next, &(struct gsh_profile){0}), GSH_PROFILE_FOUND);
}

static void prepare(void)
{
    CHECK(mkdtemp(root) != NULL);
    snprintf(cache, sizeof cache, "%s/a/b", root);
    snprintf(folder, sizeof folder, "%s/profiles", cache);
    snprintf(file, sizeof file, "%s/%016x%016x", folder, 0xab, 1);
    setenv("GPUSHIM_CACHE_DIR", cache, 1);
    gsh_options_init();
}

static int check_no_folder(void)
{
    setenv("GPUSHIM_CACHE_DIR", "/proc/none/such", 1);
    gsh_options_init();
    gsh_profile_file_write(&script, &profile);
    gsh_profile_file_remove(&script);
    CHECK_INT(look(), GSH_PROFILE_NONE);
    return check_result();
}

int main(void)
{
    check_in_child(check_no_folder);
    prepare();
    check_round();
    check_other_scripts();
    check_damage();
    check_trust();
    check_links();
    check_limit();
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK_INT(system(command), 0);
    return check_result();
}
