/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions that limit the process's address space, or lock all of it in memory, exported in front of libc's: that
 * concerns what the arena has reserved too, which the program knows nothing of.
 */
#pragma once

/* Looks up the real functions; without it each is looked up at its first call. Once, at load. */
void gsh_libc_limit_resolve(void);
