/* SPDX-License-Identifier: Apache-2.0
 *
 * A file is valid if it has the bytes that would be written for the facts found in it: this finds damage, a file that was cut,
 * and another state of the script. The subfolder keeps profiles apart from kernels, which are counted and removed by size.
 */
#include "profile_file.h"

#include "cache_folder.h"
#include "fmt.h"
#include "launch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUBFOLDER "/profiles"
#define SHARED "driver shared\n"
enum { TEXT_BYTES = 1024, NAME_BYTES = 80, PROFILES_MOST = 1000 };

static const char *const labels[] = {
#define X(kind, dtypes, errors, replay, host, source, unit, price, traits, label)                  \
    [GSH_LAUNCH_##kind] = label,
#include "launch_kinds.def"
#undef X
};

/* ---- text ---- */

static void write_text(struct gsh_fmt *fmt, const struct gsh_script_identity *script,
                       const struct gsh_profile *profile)
{
    gsh_fmt_printf(fmt, "gpushim profile 1\nscript %lld %lld %lld\ngain_ns %llu\n",
                   (long long)script->size, (long long)script->seconds,
                   (long long)script->nanoseconds, (unsigned long long)profile->gain_ns);
    for (unsigned kind = 0; kind < GSH_LAUNCH_KINDS; kind++)
        if (profile->libraries & 1u << kind)
            gsh_fmt_printf(fmt, "library %s\n", labels[kind]);
    if (profile->is_shared)
        gsh_fmt_text(fmt, SHARED);
    gsh_fmt_text(fmt, "end\n");
}

/* The facts that the text has. */
static struct gsh_profile parse(const char *text)
{
    static const char gain[] = "\ngain_ns ";
    struct gsh_profile profile = {0};
    const char *place = strstr(text, gain);
    if (place != NULL)
        profile.gain_ns = strtoull(place + strlen(gain), NULL, 10);
    profile.is_shared = strstr(text, "\n" SHARED) != NULL;
    for (unsigned kind = 0; kind < GSH_LAUNCH_KINDS; kind++) {
        char line[48];
        struct gsh_fmt fmt;
        gsh_fmt_init(&fmt, line, sizeof line);
        gsh_fmt_printf(&fmt, "\nlibrary %s\n", labels[kind]);
        profile.libraries |= strstr(text, line) != NULL ? 1u << kind : 0;
    }
    return profile;
}

static bool is_valid(const char *text, const struct gsh_script_identity *script,
                     const struct gsh_profile *profile)
{
    char expected[TEXT_BYTES];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, expected, sizeof expected);
    write_text(&fmt, script, profile);
    return strcmp(text, expected) == 0;
}

/* ---- files ---- */

static void name_of(const struct gsh_script_identity *script, char name[NAME_BYTES])
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, name, NAME_BYTES);
    gsh_fmt_printf(&fmt, "%016llx%016llx", (unsigned long long)(script->name >> 64),
                   (unsigned long long)script->name);
}

enum gsh_profile_found gsh_profile_file_read(const struct gsh_script_identity *script,
                                             struct gsh_profile *profile)
{
    char name[NAME_BYTES], text[TEXT_BYTES];
    int folder = gsh_cache_folder_enter(SUBFOLDER, false);
    if (folder < 0)
        return GSH_PROFILE_NONE;
    name_of(script, name);
    bool is_there = gsh_cache_folder_read_text(folder, name, text, sizeof text);
    close(folder);
    if (!is_there)
        return GSH_PROFILE_NONE;
    const struct gsh_profile found = parse(text);
    if (!is_valid(text, script, &found))
        return GSH_PROFILE_STALE;
    *profile = found;
    return GSH_PROFILE_FOUND;
}

/* Removes the file that was written longest ago if there are too many. */
static void drop_oldest(int folder)
{
    char oldest[NAME_BYTES] = "";
    struct stat stat;
    time_t least = 0;
    unsigned count = 0;
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL)
        return;
    for (const struct dirent *found; (found = readdir(dir)) != NULL;) {
        if (strlen(found->d_name) >= NAME_BYTES ||
            fstatat(fd, found->d_name, &stat, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(stat.st_mode))
            continue;
        if (count++ == 0 || stat.st_mtim.tv_sec < least) {
            least = stat.st_mtim.tv_sec;
            memcpy(oldest, found->d_name, strlen(found->d_name) + 1);
        }
    }
    if (count > PROFILES_MOST)
        (void)unlinkat(fd, oldest, 0);
    closedir(dir);
}

static bool write_into(int folder, const struct gsh_script_identity *script,
                       const struct gsh_profile *profile)
{
    char name[NAME_BYTES], text[TEXT_BYTES];
    struct gsh_fmt fmt;
    name_of(script, name);
    gsh_fmt_init(&fmt, text, sizeof text);
    write_text(&fmt, script, profile);
    return gsh_cache_folder_write_text(folder, name, text, fmt.length);
}

bool gsh_profile_file_write(const struct gsh_script_identity *script,
                            const struct gsh_profile *profile)
{
    int folder = gsh_cache_folder_enter(SUBFOLDER, true);
    if (folder < 0)
        return false;
    bool is_written = write_into(folder, script, profile);
    close(folder);
    return is_written;
}

void gsh_profile_file_trim(void)
{
    int folder = gsh_cache_folder_enter(SUBFOLDER, false);
    if (folder < 0)
        return;
    drop_oldest(folder);
    close(folder);
}

void gsh_profile_file_remove(const struct gsh_script_identity *script)
{
    char name[NAME_BYTES];
    int folder = gsh_cache_folder_enter(SUBFOLDER, false);
    if (folder < 0)
        return;
    name_of(script, name);
    (void)unlinkat(folder, name, 0);
    close(folder);
}
