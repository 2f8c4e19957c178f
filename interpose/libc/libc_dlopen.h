/* SPDX-License-Identifier: Apache-2.0
 *
 * The real dlopen, which the exported one (dlopen_hook.h) calls. Any thread, possibly before any
 * constructor.
 */
#pragma once

typedef void *gsh_libc_dlopen_function(const char *path, int flags);

/* Looks up the real dlopen. If not called, the first use looks it up. */
void gsh_libc_dlopen_resolve(void);
/* Its address. Never NULL. */
gsh_libc_dlopen_function *gsh_libc_dlopen_real(void);
/* Calls the real dlopen from inside the library, without the checks of the hook. */
void *gsh_libc_dlopen_open(const char *path, int flags);
