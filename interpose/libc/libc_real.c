/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks up the real functions behind the exported ones. May run before any constructor. Takes the
 * dynamic loader's lock, so a signal handler must not reach it once the library is loaded
 * (preload.c looks up everything in advance).
 */
#include "libc_real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc before 2.33 exports these under other names only (__fxstat, __fxstatat), and the kernel's structure is libc's on x86-64.
 * Programs of that time do not call them, but this library does. */
static long fstat_by_kernel(int fd, struct stat *into)
{
    return syscall(SYS_fstat, fd, into);
}

static long fstatat_by_kernel(int folder, const char *path, struct stat *into, int flags)
{
    return syscall(SYS_newfstatat, folder, path, into, flags);
}

/* Replaces a function that this libc does not have. */
static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

void *gsh_libc_real_replacement(const char *name)
{
    if (strcmp(name, "fstat") == 0)
        return (void *)fstat_by_kernel;
    if (strcmp(name, "fstatat") == 0)
        return (void *)fstatat_by_kernel;
    return (void *)missing;
}

void *gsh_libc_real_find(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (next != NULL)
        return next;
    dlerror();
    return gsh_libc_real_replacement(name);
}
