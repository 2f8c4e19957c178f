/* SPDX-License-Identifier: Apache-2.0
 *
 * What a child process writes on stderr, for tests of functions that act once per process or read
 * the environment. The child runs `body`, then exits with status 0.
 */
#pragma once

#include "check.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The exit status or the negated signal; at most size - 1 bytes of stderr in `text`, terminated. */
static inline int capture_stderr(void (*body)(void), char *text, size_t size)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        body();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    char rest[256];
    ssize_t count;
    while ((count = length + 1 < size ? read(ends[0], text + length, size - 1 - length)
                                      : read(ends[0], rest, sizeof rest)) > 0)
        length += length + 1 < size ? (size_t)count : 0;
    text[length] = '\0';
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void (*capture_body)(void);
static inline void capture_body_and_exit(void)
{
    capture_body();
    _exit(check_failed != 0);
}

/* The same for a body with checks. Where one fails, one fails here as well, and the text is printed. */
static inline void capture_checks(void (*body)(void), char *text, size_t size)
{
    capture_body = body;
    if (!CHECK_INT(capture_stderr(capture_body_and_exit, text, size), 0))
        fputs(text, stderr);
}
