/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the C library that ours interpose, beside the rows of io_calls.def: a table for each file that
 * defines ours. interpose/exports.map.in makes the list of exported names of them, so nothing but macros may stand here.
 * X(result, name, (parameters), (arguments), ...); EXIT, MEMORY and LIMIT: also what is done first, a call of a function of that file.
 */
#pragma once

/* libc_io.c: those that are no rows */
#define GSH_LIBC_CALLS_IO(X)                                                                       \
    X(long, syscall, (long number, PARAMETERS), (number, ARGUMENTS))                               \
    X(long, __recvfrom_chk, (PARAMETERS, const void *p7), (ARGUMENTS, p7))                         \
    X(int, setvbuf, (FILE * stream, char *buffer, int mode, size_t size),                          \
      (stream, buffer, mode, size))                                                                \
    X(void, setbuffer, (FILE * stream, char *buffer, size_t size), (stream, buffer, size))         \
    X(void, setbuf, (FILE * stream, char *buffer), (stream, buffer))

/* libc_files.c; the path is `path` */
#define GSH_LIBC_CALLS_FILE(X)                                                                     \
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

#define GSH_LIBC_CALLS_STREAM(X)                                                                   \
    X(FILE *, fopen, (const char *path, const char *mode), (path, mode))                           \
    X(FILE *, fopen64, (const char *path, const char *mode), (path, mode))                         \
    X(FILE *, freopen, (const char *path, const char *mode, FILE *stream), (path, mode, stream))   \
    X(FILE *, freopen64, (const char *path, const char *mode, FILE *stream), (path, mode, stream))

/* libc_fork.c; of clone, what is behind `argument` is there only if the flags say so */
#define GSH_LIBC_CALLS_FORK(X)                                                                     \
    X(pid_t, _Fork, (void), ())                                                                    \
    X(int, clone,                                                                                  \
      (clone_body * body, void *stack, int flags, void *argument, void *parent, void *tls,         \
       void *child),                                                                               \
      (body, stack, flags, argument, parent, tls, child))

/* libc_environment.c */
#define GSH_LIBC_CALLS_ENVIRONMENT(X) X(char *, getenv, (const char *name), (name))

/* libc_exit.c */
#define GSH_LIBC_CALLS_EXIT(X)                                                                     \
    X(void, _exit, (int status), (status), leave_at_once())                                        \
    X(void, _Exit, (int status), (status), leave_at_once())

/* libc_stack.c */
#define GSH_LIBC_CALLS_STACK(X)                                                                    \
    X(int, sigaltstack, (const stack_t *stack, stack_t *old), (stack, old))

/* libc_limit.c; on x86-64 the structures with and without 64 are one */
#define GSH_LIBC_CALLS_LIMIT(X)                                                                    \
    X(int, setrlimit, (int resource, const struct rlimit *limit), (resource, limit),               \
      make_room(0, resource, limit))                                                               \
    X(int, setrlimit64, (int resource, const struct rlimit *limit), (resource, limit),             \
      make_room(0, resource, limit))                                                               \
    X(int, prlimit, (pid_t pid, int resource, const struct rlimit *limit, struct rlimit *old),     \
      (pid, resource, limit, old),                                                                 \
      (make_room(pid, resource, limit), gsh_libc_io_reach(old, sizeof *old, true)))                \
    X(int, prlimit64, (pid_t pid, int resource, const struct rlimit *limit, struct rlimit *old),   \
      (pid, resource, limit, old),                                                                 \
      (make_room(pid, resource, limit), gsh_libc_io_reach(old, sizeof *old, true)))                \
    X(int, mlockall, (int flags), (flags), yield_to_mlockall(flags))                               \
    X(int, munlockall, (void), (), gsh_arena_permit(true))

/* libc_memory.c */
#define GSH_LIBC_CALLS_MEMORY(X)                                                                   \
    X(int, mprotect, (void *address, size_t size, int protection), (address, size, protection),    \
      change(address, size, GSH_PAGES_ALTERED))                                                    \
    X(int, pkey_mprotect, (void *address, size_t size, int protection, int key),                   \
      (address, size, protection, key), change(address, size, GSH_PAGES_REPLACED))                 \
    X(int, madvise, (void *address, size_t size, int advice), (address, size, advice),             \
      advise(address, size, advice))                                                               \
    X(ssize_t, process_madvise,                                                                    \
      (int process, const struct iovec *ranges, size_t count, int advice, unsigned flags),         \
      (process, ranges, count, advice, flags), advise_all(ranges, count, advice))                  \
    X(int, mlock, (const void *address, size_t size), (address, size),                             \
      change(address, size, GSH_PAGES_ALTERED))                                                    \
    X(int, mlock2, (const void *address, size_t size, unsigned flags), (address, size, flags),     \
      change(address, size, GSH_PAGES_ALTERED))                                                    \
    X(int, munmap, (void *address, size_t size), (address, size),                                  \
      change(address, size, GSH_PAGES_REPLACED))                                                   \
    X(void *, mremap, (void *from, size_t old_size, size_t size, int flags, void *to),             \
      (from, old_size, size, flags, to), move(from, old_size, size, flags, to))                    \
    X(void *, mmap,                                                                                \
      (void *address, size_t size, int protection, int flags, int file, off_t offset),             \
      (address, size, protection, flags, file, offset), map(address, size, flags))                 \
    X(void *, mmap64,                                                                              \
      (void *address, size_t size, int protection, int flags, int file, off_t offset),             \
      (address, size, protection, flags, file, offset), map(address, size, flags))                 \
    X(int, remap_file_pages, (void *address, size_t size, int protection, size_t page, int flags), \
      (address, size, protection, page, flags), change(address, size, GSH_PAGES_REPLACED))         \
    X(void *, shmat, (int segment, const void *address, int flags), (segment, address, flags),     \
      attach(segment, address, flags))

/* libc_signal.c */
#define GSH_LIBC_CALLS_SIGNAL(X)                                                                   \
    X(int, sigaction, (int number, const struct sigaction *action, struct sigaction *old),         \
      (number, action, old))                                                                       \
    X(int, __sigaction, (int number, const struct sigaction *action, struct sigaction *old),       \
      (number, action, old))                                                                       \
    X(sighandler_t, signal, (int number, sighandler_t handler), (number, handler))                 \
    X(sighandler_t, bsd_signal, (int number, sighandler_t handler), (number, handler))             \
    X(sighandler_t, ssignal, (int number, sighandler_t handler), (number, handler))                \
    X(sighandler_t, sysv_signal, (int number, sighandler_t handler), (number, handler))            \
    X(sighandler_t, __sysv_signal, (int number, sighandler_t handler), (number, handler))          \
    X(sighandler_t, sigset, (int number, sighandler_t handler), (number, handler))                 \
    X(int, sigignore, (int number), (number))                                                      \
    X(int, sighold, (int number), (number))                                                        \
    X(int, siginterrupt, (int number, int interrupt), (number, interrupt))                         \
    X(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old))            \
    X(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old))        \
    X(int, sigblock, (int mask), (mask))                                                           \
    X(int, sigsetmask, (int mask), (mask))
