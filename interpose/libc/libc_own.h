/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of the C library that other preloaded libraries replace (libc_own.def): profilers sample in malloc and
 * memcpy, some with Python's global lock, which the thread that waits for ours may hold; others give out another time.
 * This library's own calls of these names, the compiler's included, go to the C library's definitions: libc_own.c
 * defines the names, hidden, and the linker binds all of the library to them. What the C library does inside itself
 * still goes through the process's names.
 *
 * Memory that crosses the border must not be freed with the other side's free: of libc's functions that return memory of
 * malloc's, only those named in libc_own.c may be called. tests/rules compares the library's undefined names with the table.
 */
#pragma once

/* Finds the C library's functions. Any thread; called by the constructor, and by the first call before it. */
void gsh_libc_own_resolve(void);
