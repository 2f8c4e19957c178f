/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "libc_dlopen.h"

#include "libc_real.h"

#include <stddef.h>

static gsh_libc_dlopen_function *real_dlopen; /* atomic */

void gsh_libc_dlopen_resolve(void)
{
    __atomic_store_n(&real_dlopen, (gsh_libc_dlopen_function *)gsh_libc_real_find("dlopen"),
                     __ATOMIC_RELAXED);
}

gsh_libc_dlopen_function *gsh_libc_dlopen_real(void)
{
    if (__atomic_load_n(&real_dlopen, __ATOMIC_RELAXED) == NULL)
        gsh_libc_dlopen_resolve();
    return __atomic_load_n(&real_dlopen, __ATOMIC_RELAXED);
}

void *gsh_libc_dlopen_open(const char *path, int flags)
{
    return gsh_libc_dlopen_real()(path, flags);
}
