/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions that limit the process's address space or lock all its memory, exported in front
 * of libc's. They also affect the address space that the arena has reserved, which the program does
 * not know about.
 */
#pragma once

/* Looks up the real functions, once, at load. If not called, each is looked up at its first call.
 */
void gsh_libc_limit_resolve(void);
