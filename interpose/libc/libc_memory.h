/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions that change the pages at an address, exported in front of libc's. If the pages
 * belong to an array, its newest bytes are first fetched to the host, and the array stays there
 * (page_changes.h).
 */
#pragma once

/* Looks up the real functions, once, at load. If not called, each is looked up at its first call.
 */
void gsh_libc_memory_resolve(void);
