/* SPDX-License-Identifier: Apache-2.0
 *
 * The files that are mapped into this process, by /proc/self/maps: whose code an address belongs to. No lock and no allocation, so
 * that it may run in a signal handler; dladdr takes the loader's lock.
 */
#pragma once

#include "base.h"

struct gsh_mapped_file {
    uintptr_t begin, end; /* addresses: [begin, end) */
    const char *path;     /* absolute, symbolic links followed; valid during the call */
};

/* Calls `visit` with each mapping of a file, in the order of addresses, until it returns false. Paths of more than PATH_MAX
 * characters are left out. */
void gsh_mapped_files_walk_sigsafe(bool (*visit)(void *context, const struct gsh_mapped_file *file),
                                   void *context);
/* The path of the file that the address belongs to; false: there is none, or it does not fit. */
bool gsh_mapped_files_find_sigsafe(uintptr_t address, char *path, size_t size);
