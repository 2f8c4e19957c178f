/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that is opened with RTLD_DEEPBIND takes libc's functions from libc itself, past the names that this library
 * exports in front of them: its calls on arrays would fail with EFAULT. So what it and the libraries that come with it
 * take from libc is bound to ours afterwards, in its global offset table. Its constructors have run by then.
 */
#pragma once

#include <stdbool.h>

/* Whether a dlopen with these arguments is to go through gsh_deepbind_open: its flags ask for deep binding, the program has
 * Python in it, and the file found does not depend on the caller, to whose code `caller` belongs. Where it does depend, a line
 * on stderr says that the library is not covered. Keeps errno and dlerror. */
bool gsh_deepbind_is_wanted(const char *path, int flags, const void *caller);

/* dlopen, and the binding. */
void *gsh_deepbind_open(const char *path, int flags);
