/* SPDX-License-Identifier: Apache-2.0
 *
 * dlopen, exported by dlopen_entry.S. It examines the path and then jumps to the real dlopen with
 * the caller's registers and return address, so that the caller's RUNPATH and namespace apply.
 * gpushim attaches when NumPy loads _umath_linalg, since _multiarray_umath is complete at that
 * time. NumPy 1 loads numpy.random after numpy.fft, so numpy.fft is complete when numpy.random is
 * loaded.
 */
#pragma once

/* Called by dlopen_entry.S with dlopen's arguments and return address. Returns the address to jump
 * to. Sets *path to the path to open. Keeps errno. */
void *gsh_dlopen_hook_enter(const char **path, int flags, const void *caller);
