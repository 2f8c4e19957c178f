/* SPDX-License-Identifier: Apache-2.0
 *
 * The format is of proc_pid_maps(5): "begin-end perms offset dev inode      path".
 */
#include "mapped_files.h"

#include "raw_syscall.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

enum { LINE_BYTES = PATH_MAX + 128 };

static bool parse_hex_sigsafe(const char **text, uintptr_t *number)
{
    const char *start = *text;
    *number = 0;
    for (;; ++*text) {
        char c = **text;
        if (c >= '0' && c <= '9')
            *number = *number << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *number = *number << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return *text != start;
    }
}

/* `line` ends with NUL. False: no mapping of a file. */
static bool parse_line_sigsafe(const char *line, struct gsh_mapped_file *file)
{
    if (!parse_hex_sigsafe(&line, &file->begin) || *line++ != '-' ||
        !parse_hex_sigsafe(&line, &file->end))
        return false;
    file->path = strchr(line, '/');
    return file->path != NULL;
}

struct reader {
    long fd;
    char bytes[LINE_BYTES];
    size_t begin, end; /* of what was read and not used */
};

/* The next line, its newline replaced by NUL; NULL: there is none. What is longer than the buffer is cut into lines. */
static char *next_line_sigsafe(struct reader *reader)
{
    for (;;) {
        char *start = reader->bytes + reader->begin;
        char *newline = memchr(start, '\n', reader->end - reader->begin);
        if (newline != NULL) {
            *newline = '\0';
            reader->begin = (size_t)(newline + 1 - reader->bytes);
            return start;
        }
        reader->end -= reader->begin;
        memmove(reader->bytes, start, reader->end);
        reader->begin = 0;
        if (reader->end == sizeof reader->bytes)
            reader->end = 0;
        long count = gsh_raw_syscall3(SYS_read, reader->fd, (long)(reader->bytes + reader->end),
                                      (long)(sizeof reader->bytes - reader->end));
        if (count <= 0)
            return NULL;
        reader->end += (size_t)count;
    }
}

void gsh_mapped_files_walk_sigsafe(bool (*visit)(void *context, const struct gsh_mapped_file *file),
                                   void *context)
{
    struct reader reader = {.fd = gsh_raw_syscall5(SYS_openat, AT_FDCWD, (long)"/proc/self/maps",
                                                   O_RDONLY | O_CLOEXEC, 0, 0)};
    struct gsh_mapped_file file;
    const char *line;
    if (reader.fd < 0)
        return;
    while ((line = next_line_sigsafe(&reader)) != NULL)
        if (parse_line_sigsafe(line, &file) && !visit(context, &file))
            break;
    gsh_raw_syscall3(SYS_close, reader.fd, 0, 0);
}

struct search {
    uintptr_t address;
    char *path;
    size_t size;
    bool is_found;
};

static bool compare_sigsafe(void *context, const struct gsh_mapped_file *file)
{
    struct search *search = context;
    if (search->address < file->begin || search->address >= file->end)
        return search->address >= file->begin; /* the rest lies higher */
    size_t length = strlen(file->path);
    search->is_found = length < search->size;
    if (search->is_found)
        memcpy(search->path, file->path, length + 1);
    return false;
}

bool gsh_mapped_files_find_sigsafe(uintptr_t address, char *path, size_t size)
{
    struct search search = {.address = address, .path = path, .size = size};
    gsh_mapped_files_walk_sigsafe(compare_sigsafe, &search);
    return search.is_found;
}
