/* SPDX-License-Identifier: Apache-2.0
 *
 * The path is passed to unseen.h only after the call, which checks that the kernel could read it.
 * Functions are exported through assembler labels, and the variadic functions are declared with the
 * arguments that the kernel takes, as in libc_io.c.
 */
#include "libc_files.h"

#include "base.h"
#include "libc_calls.h"
#include "libc_io_ranges.h"
#include "libc_real.h"
#include "unseen.h"

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

#define ALL_CALLS(X)                                                                               \
    GSH_LIBC_CALLS_FILE(X)                                                                         \
    GSH_LIBC_CALLS_STREAM(X)

GSH_LIBC_REAL_TABLE(ALL_CALLS)

/* Fetches a path that lies in an array. */
static void reach_path(const char *path)
{
    if (GSH_UNLIKELY(gsh_arena_contains(path)))
        gsh_libc_io_reach(path, GSH_MIN(gsh_arena_usable((void *)(uintptr_t)path), PATH_MAX),
                          false);
}

#define X(result, name, parameters, arguments)                                                     \
    GSH_EXPORT result entry_##name parameters __asm__(#name);                                      \
    result entry_##name parameters                                                                 \
    {                                                                                              \
        reach_path(path);                                                                          \
        result file = REAL(name) arguments;                                                        \
        gsh_unseen_note_file(file, path);                                                          \
        return file;                                                                               \
    }
GSH_LIBC_CALLS_FILE(X)
#undef X

#define X(result, name, parameters, arguments)                                                     \
    GSH_EXPORT result entry_##name parameters __asm__(#name);                                      \
    result entry_##name parameters                                                                 \
    {                                                                                              \
        reach_path(path);                                                                          \
        FILE *opened = REAL(name) arguments;                                                       \
        if (opened != NULL)                                                                        \
            gsh_unseen_note_file(fileno(opened), path);                                            \
        return opened;                                                                             \
    }
GSH_LIBC_CALLS_STREAM(X)
#undef X

void gsh_libc_files_resolve(void)
{
#define X(result, name, ...) FIND(name);
    ALL_CALLS(X)
#undef X
}
