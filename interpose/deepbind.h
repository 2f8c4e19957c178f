/* SPDX-License-Identifier: Apache-2.0
 *
 * A library opened with RTLD_DEEPBIND takes libc's functions from libc itself and bypasses the
 * functions that this library exports: its system calls on arrays would fail with EFAULT. After
 * such a dlopen, the global offset tables of that library and of the dependencies loaded with it
 * are changed: references to libc become references to our functions. The library's constructors
 * have already run at that time.
 */
#pragma once

#include <stdbool.h>

/* Whether a dlopen with these arguments must go through gsh_deepbind_open: the flags contain
 * RTLD_DEEPBIND, the program contains Python, and the search for the file does not depend on the
 * caller. `caller` is an address in the caller's code. If the search does depend on the caller,
 * returns false and writes a warning to stderr. Keeps errno and dlerror. */
bool gsh_deepbind_is_wanted(const char *path, int flags, const void *caller);

/* Calls dlopen and then binds the new objects' references to libc to our functions. */
void *gsh_deepbind_open(const char *path, int flags);
