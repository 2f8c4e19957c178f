/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions that open files by a path, exported in front of libc's. Each opened file is
 * reported to unseen.h.
 */
#pragma once

/* Looks up the real functions, once, at load. If not called, each is looked up at its first call.
 */
void gsh_libc_files_resolve(void);
