/* SPDX-License-Identifier: Apache-2.0
 *
 * The real dlopen, behind the one that this library exports (dlopen_hook.h). Any thread, perhaps before any constructor ran.
 */
#pragma once

typedef void *gsh_libc_dlopen_function(const char *path, int flags);

/* Looks up the real dlopen; without it that happens at the first call. */
void gsh_libc_dlopen_resolve(void);
/* Its address. Never NULL. */
gsh_libc_dlopen_function *gsh_libc_dlopen_real(void);
/* Calls it from inside the library: nothing is looked at. */
void *gsh_libc_dlopen_open(const char *path, int flags);
