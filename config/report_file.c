/* SPDX-License-Identifier: Apache-2.0
 *
 * To anything but a regular file the text is written in pieces of at most PIPE_BUF bytes, each when poll reports room
 * for it, so that no write blocks. Waiting and writing use system calls directly, because the library interposes
 * libc's functions.
 */
#include "report_file.h"

#include "clock.h"
#include "fmt.h"
#include "raw_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TIMEOUT_NS UINT64_C(2000000000)

bool gsh_report_file_absolute(const char *name, char *path, size_t size)
{
    struct gsh_fmt fmt;
    char folder[PATH_MAX];
    gsh_fmt_init(&fmt, path, size);
    if (name[0] != '/') {
        if (getcwd(folder, sizeof folder) == NULL)
            return false;
        gsh_fmt_printf(&fmt, "%s/", folder);
    }
    gsh_fmt_text(&fmt, name);
    return fmt.required == fmt.length;
}

bool gsh_report_file_expand_sigsafe(const char *absolute, size_t folder, char *path, size_t size)
{
    struct gsh_fmt fmt;
    gsh_fmt_init_sigsafe(&fmt, path, size);
    for (size_t i = 0; absolute[i] != '\0'; i++) {
        if (i >= folder && absolute[i] == '%' && absolute[i + 1] == 'p') {
            gsh_fmt_decimal_sigsafe(&fmt, (uint64_t)getpid());
            i++;
        } else {
            gsh_fmt_text_sigsafe(&fmt, (const char[]){absolute[i], '\0'});
        }
    }
    return fmt.required == fmt.length;
}

bool gsh_report_file_name(const char *name, char *path, size_t size)
{
    char absolute[PATH_MAX];
    return gsh_report_file_absolute(name, absolute, sizeof absolute) &&
           gsh_report_file_expand_sigsafe(absolute, strlen(absolute) - strlen(name), path, size);
}

/* Waits until a piece can be written. Returns 0, or an errno where that is impossible or takes too long. */
static int wait_for_room(int fd, uint64_t deadline)
{
    struct pollfd poll = {.fd = fd, .events = POLLOUT};
    for (uint64_t now; (now = gsh_clock_ns()) < deadline;) {
        struct timespec left = {.tv_sec = (time_t)((deadline - now) / 1000000000),
                                .tv_nsec = (long)((deadline - now) % 1000000000)};
        long count = syscall(SYS_ppoll, &poll, 1, &left, NULL, 0);
        if (count > 0)
            return poll.revents & POLLOUT ? 0 : EPIPE;
        if (count < 0 && errno != EINTR)
            return errno;
    }
    return ETIMEDOUT;
}

static int write_all(int fd, bool is_regular, const char *text, size_t length)
{
    uint64_t deadline = gsh_clock_ns() + TIMEOUT_NS;
    while (length > 0) {
        size_t part = is_regular ? length : GSH_MIN(length, (size_t)PIPE_BUF);
        int error = is_regular ? 0 : wait_for_room(fd, deadline);
        if (error != 0)
            return error;
        long written = syscall(SYS_write, fd, text, part);
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            return errno;
        text += GSH_MAX(written, 0);
        length -= (size_t)GSH_MAX(written, 0);
    }
    return 0;
}

int gsh_report_file_append_sigsafe(int fd, const char *text, size_t length)
{
    int saved_errno = errno;
    struct stat stat;
    sigset_t sigpipe, old_mask, pending;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &sigpipe, &old_mask);
    bool is_regular = fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode);
    int error = write_all(fd, is_regular, text, length);
    /* A SIGPIPE that this write raised must not stay pending. */
    if (error == EPIPE && sigismember(&pending, SIGPIPE) == 0)
        sigtimedwait(&sigpipe, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &old_mask, NULL);
    errno = saved_errno;
    return error;
}

/* The descriptor of the process that the path names; -1: the path names none. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < GSH_COUNT(folders); i++) {
        size_t length = strlen(folders[i]);
        const char *digits = path + length;
        if (strncmp(path, folders[i], length) != 0)
            continue;
        int fd = 0;
        for (; *digits >= '0' && *digits <= '9' && fd < 1000000; digits++)
            fd = fd * 10 + (*digits - '0');
        if (*digits == '\0' && digits[-1] != '/')
            return fd;
    }
    return -1;
}

/* The standard descriptor that refers to the same file; -1: none. */
static int find_standard(const struct stat *file)
{
    struct stat stat;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &stat) == 0 && stat.st_dev == file->st_dev && stat.st_ino == file->st_ino)
            return fd;
    return -1;
}

/* Examines the file, which is emptied where it is a regular one of this user's and `empties`. *standard: the standard descriptor
 * of the same file, or -1. */
static int prepare(int fd, bool empties, int *standard)
{
    struct stat stat;
    if (fstat(fd, &stat) != 0)
        return errno;
    *standard = find_standard(&stat);
    if (*standard >= 0 || S_ISFIFO(stat.st_mode) || S_ISCHR(stat.st_mode))
        return 0;
    if (!S_ISREG(stat.st_mode))
        return EINVAL;
    if (stat.st_uid != geteuid())
        return EPERM;
    return !empties || ftruncate(fd, 0) == 0 ? 0 : errno;
}

static int write_file(const char *path, bool empties, const char *text, size_t length)
{
    int standard = descriptor_of(path), flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    if (standard >= 0)
        return gsh_report_file_append_sigsafe(standard, text, length);
    int fd = open(path, O_WRONLY | O_CREAT | flags | (empties ? 0 : O_APPEND), 0666);
    if (fd < 0)
        return errno;
    int error = prepare(fd, empties, &standard);
    if (error == 0)
        error = gsh_report_file_append_sigsafe(standard >= 0 ? standard : fd, text, length);
    close(fd);
    return error;
}

int gsh_report_file_write_sigsafe(const char *path, const char *text, size_t length)
{
    return write_file(path, true, text, length);
}

int gsh_report_file_extend_sigsafe(const char *path, const char *text, size_t length)
{
    return write_file(path, false, text, length);
}
