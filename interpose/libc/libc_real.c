/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks up the functions that ours stand in front of. May run before any constructor did; takes the
 * dynamic loader's lock, so it is never reached from a signal handler once the library is loaded
 * (preload.c looks everything up beforehand).
 */
#include "libc_real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

/* Stands in for a function that this libc does not have. */
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
    long (*stand_in)(void) = missing;
    return (void *)stand_in;
}
