/* SPDX-License-Identifier: Apache-2.0
 *
 * The loader knows the library by the name it was given; the kernel knows the file.
 */
#include "beside.h"

#include "fmt.h"
#include "mapped_files.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static bool find_file(char *path, size_t size)
{
    return gsh_mapped_files_find_sigsafe((uintptr_t)find_file, path, size);
}

/* A relative name is not used: the current folder may have changed. */
static bool find_name(char *path, size_t size)
{
    Dl_info info;
    if (dladdr((const void *)(uintptr_t)find_name, &info) == 0 || info.dli_fname[0] != '/' ||
        strlen(info.dli_fname) >= size)
        return false;
    memcpy(path, info.dli_fname, strlen(info.dli_fname) + 1);
    return true;
}

static bool is_beside(bool (*find_library)(char *path, size_t size), const char *name, int mode,
                      char *path, size_t size)
{
    char library[PATH_MAX];
    struct gsh_fmt fmt;
    if (!find_library(library, sizeof library))
        return false;
    gsh_fmt_init(&fmt, path, size);
    gsh_fmt_printf(&fmt, "%.*s%s", (int)(strrchr(library, '/') - library + 1), library, name);
    return fmt.required == fmt.length && access(path, mode) == 0;
}

bool gsh_beside_find(const char *name, int mode, char *path, size_t size)
{
    if (is_beside(find_file, name, mode, path, size) ||
        is_beside(find_name, name, mode, path, size))
        return true;
    path[0] = '\0';
    return false;
}
