/* SPDX-License-Identifier: Apache-2.0
 *
 * Assertions of the C unit tests: each prints the failing place and goes on; main ends with
 * `return check_result();`. A test that cannot run here prints why and returns CHECK_SKIP, which
 * CTest counts as skipped. Any thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK_SKIP 77

static atomic_uint check_passed, check_failed;

static inline int check_count(int holds)
{
    if (holds)
        check_passed++;
    else
        check_failed++;
    return holds;
}

/* All of these evaluate to nonzero where the check holds, so that details can be printed otherwise.
 */
#define CHECK(condition) check_true(!!(condition), #condition, __FILE__, __LINE__)
#define CHECK_INT(actual, expected)                                                                \
    check_int((long long)(actual), (long long)(expected), #actual, __FILE__, __LINE__)
#define CHECK_STR(actual, expected) check_str((actual), (expected), #actual, __FILE__, __LINE__)

static inline int check_true(int holds, const char *text, const char *file, int line)
{
    if (!check_count(holds))
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
    return holds;
}

static inline int check_int(long long actual, long long expected, const char *text,
                            const char *file, int line)
{
    if (check_count(actual == expected))
        return 1;
    fprintf(stderr, "%s:%d: failed: %s is %lld, expected %lld\n", file, line, text, actual,
            expected);
    return 0;
}

static inline int check_str(const char *actual, const char *expected, const char *text,
                            const char *file, int line)
{
    if (check_count(strcmp(actual, expected) == 0))
        return 1;
    fprintf(stderr, "%s:%d: failed: %s is \"%s\", expected \"%s\"\n", file, line, text, actual,
            expected);
    return 0;
}

/* Prints the totals; main's return value. A test without a single check fails. */
static inline int check_result(void)
{
    printf("%u passed, %u failed\n", check_passed, check_failed);
    return check_failed == 0 && check_passed > 0 ? 0 : 1;
}

/* One check: `body`, in a process of its own, returns 0. Its own checks are printed and counted there. */
static inline void check_in_child(int (*body)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        check_passed = check_failed = 0;
        _exit(body());
    }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
