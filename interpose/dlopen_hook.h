/* SPDX-License-Identifier: Apache-2.0
 *
 * dlopen, exported by dlopen_entry.S: looks at the path and jumps to the real one with its
 * registers and its return address as they were, so that the caller's RUNPATH and namespace still
 * count. NumPy's _umath_linalg is loaded when _multiarray_umath is complete: that is the moment to
 * attach. NumPy 1 loads numpy.random behind numpy.fft, whose module is complete then.
 */
#pragma once

/* Called by dlopen_entry.S with dlopen's arguments and return address; the address to jump to. *path becomes what is to
 * be opened. Keeps errno. */
void *gsh_dlopen_hook_enter(const char **path, int flags, const void *caller);
