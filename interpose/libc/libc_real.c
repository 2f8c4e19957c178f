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

/* Replaces a function that this libc does not have. */
static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

void *gsh_libc_real_find(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (next != NULL)
        return next;
    dlerror();
    long (*placeholder)(void) = missing;
    return (void *)placeholder;
}
