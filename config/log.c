/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages on stderr. They are written by a raw system call, because the library interposes write(). Each line is one
 * call, so lines of different threads do not mix and no lock is needed.
 */
#include "log.h"

#include "fmt.h"
#include "raw_syscall.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE 1024
#define LINE_END "...\n"

static _Thread_local bool is_writing;
static enum gsh_log_level highest = GSH_LOG_WARN; /* atomic, relaxed */

void gsh_log_set_level(enum gsh_log_level level)
{
    __atomic_store_n(&highest, level, __ATOMIC_RELAXED);
}

bool gsh_log_enabled(enum gsh_log_level level)
{
    return level <= __atomic_load_n(&highest, __ATOMIC_RELAXED);
}

/* False where stderr's reader is gone. */
static bool write_all_sigsafe(const char *text, size_t length)
{
    while (length > 0) {
        long written = gsh_raw_syscall3(SYS_write, STDERR_FILENO, (long)text, (long)length);
        if (written == -EINTR)
            continue;
        if (written <= 0)
            return written != -EPIPE;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

void gsh_log_raw_sigsafe(const char *text, size_t length)
{
    const long size = sizeof(uint64_t); /* of the kernel's signal set */
    uint64_t sigpipe = UINT64_C(1) << (SIGPIPE - 1), old_mask = 0, pending = 0;
    struct timespec no_time = {0, 0};
    gsh_raw_syscall3(SYS_rt_sigpending, (long)&pending, size, 0);
    gsh_raw_syscall5(SYS_rt_sigprocmask, SIG_BLOCK, (long)&sigpipe, (long)&old_mask, size, 0);
    /* A SIGPIPE that this write raised must not stay pending. */
    if (!write_all_sigsafe(text, length) && (pending & sigpipe) == 0)
        gsh_raw_syscall5(SYS_rt_sigtimedwait, (long)&sigpipe, 0, (long)&no_time, size, 0);
    gsh_raw_syscall5(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old_mask, 0, size, 0);
}

void gsh_log(enum gsh_log_level level, const char *format, ...)
{
    if (!gsh_log_enabled(level) || is_writing)
        return;
    is_writing = true;
    int saved_errno = errno;
    char line[LINE_SIZE] = "gpushim: ";
    size_t prefix = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(line + prefix, sizeof line - prefix, format, arguments);
    va_end(arguments);
    size_t length = prefix + (size_t)GSH_MAX(written, 0);
    if (length + 1 < sizeof line) {
        line[length++] = '\n';
    } else {
        length = sizeof line - 1;
        memcpy(line + length - strlen(LINE_END), LINE_END, strlen(LINE_END));
    }
    gsh_log_raw_sigsafe(line, length);
    errno = saved_errno;
    is_writing = false;
}

void gsh_log_sigsafe(const char *text)
{
    char line[LINE_SIZE];
    struct gsh_fmt fmt;
    gsh_fmt_init_sigsafe(&fmt, line, sizeof line);
    gsh_fmt_text_sigsafe(&fmt, "gpushim: ");
    gsh_fmt_text_sigsafe(&fmt, text);
    gsh_fmt_text_sigsafe(&fmt, "\n");
    gsh_log_raw_sigsafe(line, fmt.length);
}
