/* SPDX-License-Identifier: Apache-2.0
 *
 * Python's options are parsed as its own getopt does (Python/getopt.c): letters may stand together, and -c, -m, -W and -X take
 * the rest of the word or the next word.
 */
#include "script_identity.h"

#include "backend.h"
#include "fmt.h"
#include "hash.h"
#include "version.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COMMAND_BYTES = 16384 };

/* ---- the command line ---- */

/* The argument behind this one; NULL: it is the last. */
static const char *next_of(const char *word, const char *end)
{
    const char *next = word + strlen(word) + 1;
    return next < end ? next : NULL;
}

/* Reads the letters of one option. *next: the argument behind it, and behind its value. */
static enum gsh_script_form read_letters(const char *word, const char *end, const char **next,
                                         bool *is_over)
{
    *is_over = true;
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        if (*letter == 'c' || *letter == 'm')
            return GSH_SCRIPT_TEXT;
        if (strchr("ihV?", *letter) != NULL) /* interactive, or no script runs */
            return GSH_SCRIPT_NONE;
        if (*letter != 'W' && *letter != 'X')
            continue;
        if (letter[1] == '\0' && *next != NULL)
            *next = next_of(*next, end);
        break;
    }
    *is_over = false;
    return GSH_SCRIPT_NONE;
}

static enum gsh_script_form find(const char *word, const char *end, const char **text)
{
    bool is_over = false;
    while ((*text = word) != NULL && word[0] == '-') {
        const char *next = next_of(word, end);
        enum gsh_script_form form = GSH_SCRIPT_NONE;
        if (strcmp(word, "--") == 0) {
            *text = next;
            break;
        }
        if (strcmp(word, "--check-hash-based-pycs") == 0)
            next = next != NULL ? next_of(next, end) : NULL;
        else if (word[1] == '-' || word[1] == '\0') /* a long option, standard input */
            return GSH_SCRIPT_NONE;
        else
            form = read_letters(word, end, &next, &is_over);
        if (is_over)
            return form;
        word = next;
    }
    return *text != NULL ? GSH_SCRIPT_FILE : GSH_SCRIPT_NONE;
}

static bool is_worker(const char *word, const char *end)
{
    for (; word != NULL; word = next_of(word, end))
        if (strcmp(word, "--multiprocessing-fork") == 0)
            return true;
    return false;
}

enum gsh_script_form gsh_script_identity_find(const char *command, size_t size, const char **text)
{
    if (size == 0 || command[size - 1] != '\0' || is_worker(command, command + size))
        return GSH_SCRIPT_NONE;
    return find(next_of(command, command + size), command + size, text);
}

/* ---- the process ---- */

static void add_bytes(struct gsh_script_identity *identity, const char *bytes, size_t size)
{
    for (size_t k = 0; k < size; k++)
        identity->name = gsh_hash_wide_add(identity->name, (unsigned char)bytes[k]);
}

static void add_text(struct gsh_script_identity *identity, const char *text)
{
    add_bytes(identity, text, strlen(text) + 1);
}

/* Adds what a symbolic link of /proc names. */
static bool add_link(struct gsh_script_identity *identity, const char *link)
{
    char path[PATH_MAX];
    ssize_t length = readlink(link, path, sizeof path);
    if (length <= 0 || length == sizeof path)
        return false;
    add_bytes(identity, path, (size_t)length);
    add_text(identity, "");
    return true;
}

/* The path without links and relative parts is the one that the kernel gives the open file. */
static bool add_open_file(struct gsh_script_identity *identity, int fd)
{
    struct stat stat;
    char link[48];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, link, sizeof link);
    gsh_fmt_printf(&fmt, "/proc/self/fd/%d", fd);
    if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode) || !add_link(identity, link))
        return false;
    identity->size = stat.st_size;
    identity->seconds = stat.st_mtim.tv_sec;
    identity->nanoseconds = stat.st_mtim.tv_nsec;
    return true;
}

static bool add_file(struct gsh_script_identity *identity, const char *path)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_added = add_open_file(identity, fd);
    close(fd);
    return is_added;
}

static bool add_script(struct gsh_script_identity *identity, const char *command, size_t size)
{
    const char *text;
    enum gsh_script_form form = gsh_script_identity_find(command, size, &text);
    if (form == GSH_SCRIPT_NONE)
        return false;
    const char *end = command + size, *arguments = text;
    if (form == GSH_SCRIPT_FILE && !add_file(identity, text))
        return false;
    if (form == GSH_SCRIPT_FILE)
        arguments = next_of(text, end);
    if (arguments != NULL)
        add_bytes(identity, arguments, (size_t)(end - arguments));
    return true;
}

/* The bytes of the command line; 0: unknown, or too many. */
static size_t read_command(char command[COMMAND_BYTES])
{
    size_t size = 0;
    ssize_t got = -1;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while (size < COMMAND_BYTES && (got = read(fd, command + size, COMMAND_BYTES - size)) > 0)
        size += (size_t)got;
    close(fd);
    return got == 0 ? size : 0;
}

bool gsh_script_identity_get(struct gsh_script_identity *identity)
{
    char command[COMMAND_BYTES];
    struct gsh_script_identity found = {.name = GSH_HASH_WIDE_BEGIN};
    size_t size = read_command(command);
    add_text(&found, gsh_version_get());
    add_text(&found, gsh_backend_get()->name);
    if (size == 0 || !add_link(&found, "/proc/self/exe") || !add_script(&found, command, size))
        return false;
    *identity = found;
    return true;
}
