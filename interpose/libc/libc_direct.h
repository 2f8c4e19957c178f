/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of the C library that other preloaded libraries replace (libc_direct.def). Profilers take
 * samples in malloc and memcpy, some of them with Python's global lock; a thread that holds this
 * lock may be waiting for one of ours. Other libraries return a modified time. All calls of these
 * names in this library, including the compiler's, go to the C library: libc_direct.c defines them as
 * hidden names, to which the linker binds the whole library. Calls inside the C library still use
 * the process's names.
 *
 * Memory must not be freed with the other side's free. Of libc's functions that return memory from
 * malloc, only those named in libc_direct.c may be called. tests/rules compares the library's
 * undefined names with the table.
 */
#pragma once

/* Looks up the C library's functions. Any thread; called by the constructor and by any earlier
 * first call. */
void gsh_libc_direct_resolve(void);
