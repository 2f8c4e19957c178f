/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that ours stand in front of: the next definition in the process's search order,
 * which is libc's or another preloaded library's (a sanitizer's, for instance).
 */
#pragma once

/* The next definition of `name` behind this library's. Never NULL: where there is none, a function
 * that fails with ENOSYS and returns -1. Leaves dlerror() clear. */
void *gsh_libc_real_find(const char *name);
