/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions that change the pages at an address, exported in front of libc's: where these are an array's, its newest
 * bytes are brought home first, and the array stays there (page_changes.h).
 */
#pragma once

/* Looks up the real functions; without it each is looked up at its first call. Once, at load. */
void gsh_libc_memory_resolve(void);
