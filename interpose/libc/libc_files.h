/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions that open files, and `syscall`, exported in front of libc's: unseen.h is told of each.
 */
#pragma once

/* Looks up the real functions; without it each is looked up at its first call. Once, at load. */
void gsh_libc_files_resolve(void);
