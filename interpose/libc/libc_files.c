/* SPDX-License-Identifier: Apache-2.0
 *
 * The path is read only where the call succeeded: then the kernel could read it. Names come through assembler labels, and the
 * variadic functions are declared with the arguments that the kernel takes, as in libc_io.c.
 */
#include "libc_files.h"

#include "base.h"
#include "libc_io_ranges.h"
#include "libc_real.h"
#include "unseen.h"

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

/* X(result, name, (parameters), (arguments)); the path is `path` */
#define FILE_CALLS(X)                                                                              \
    X(int, open, (const char *path, int flags, mode_t mode), (path, flags, mode))                  \
    X(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode))                \
    X(int, __open, (const char *path, int flags, mode_t mode), (path, flags, mode))                \
    X(int, __open64, (const char *path, int flags, mode_t mode), (path, flags, mode))              \
    X(int, __open_2, (const char *path, int flags), (path, flags))                                 \
    X(int, __open64_2, (const char *path, int flags), (path, flags))                               \
    X(int, openat, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode))    \
    X(int, openat64, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode))  \
    X(int, __openat_2, (int at, const char *path, int flags), (at, path, flags))                   \
    X(int, __openat64_2, (int at, const char *path, int flags), (at, path, flags))
#define STREAM_CALLS(X)                                                                            \
    X(FILE *, fopen, (const char *path, const char *mode), (path, mode))                           \
    X(FILE *, fopen64, (const char *path, const char *mode), (path, mode))                         \
    X(FILE *, freopen, (const char *path, const char *mode, FILE *stream), (path, mode, stream))   \
    X(FILE *, freopen64, (const char *path, const char *mode, FILE *stream), (path, mode, stream))
#define ALL_CALLS(X)                                                                               \
    FILE_CALLS(X)                                                                                  \
    STREAM_CALLS(X)

GSH_LIBC_REAL_TABLE(ALL_CALLS)

/* A path may lie in an array. */
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
FILE_CALLS(X)
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
STREAM_CALLS(X)
#undef X

void gsh_libc_files_resolve(void)
{
#define X(result, name, ...) FIND(name);
    ALL_CALLS(X)
#undef X
}
