/* SPDX-License-Identifier: Apache-2.0
 *
 * config/log.c: levels, cutting, errno, the once form, and a stderr that nobody reads.
 */
#include "capture.h"
#include "check.h"
#include "log.h"
#include "options.h"

#include <errno.h>
#include <signal.h>

static char text[8192];

static void log_each_level(void)
{
    gsh_options_init();
    for (int level = GSH_LOG_WARN; level <= GSH_LOG_GRAPH; level++)
        gsh_log((enum gsh_log_level)level, "level %d", level);
}

static void test_levels(void)
{
    unsetenv("GPUSHIM_LOG");
    CHECK_INT(capture_stderr(log_each_level, text, sizeof text), 0);
    CHECK_STR(text, "gpushim: level 0\n");
    setenv("GPUSHIM_LOG", "debug", 1);
    CHECK_INT(capture_stderr(log_each_level, text, sizeof text), 0);
    CHECK_STR(text, "gpushim: level 0\ngpushim: level 1\ngpushim: level 2\n");
    unsetenv("GPUSHIM_LOG");
}

static void log_long(void)
{
    char word[3000];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    gsh_log(GSH_LOG_WARN, "%s", word);
    gsh_log(GSH_LOG_WARN, "next");
}

static void test_cut(void)
{
    CHECK_INT(capture_stderr(log_long, text, sizeof text), 0);
    const char *end = strchr(text, '\n');
    CHECK(end != NULL && end - text == 1022);
    CHECK(strncmp(text, "gpushim: xxx", 12) == 0);
    CHECK_STR(end != NULL ? end - 4 : "", "x...\ngpushim: next\n");
}

static void log_once_thrice(void)
{
    for (int i = 0; i < 3; i++)
        gsh_log_once("once %d", i);
    gsh_log_sigsafe("safe");
    gsh_log_raw_sigsafe("raw\n", 4);
}

static void test_once(void)
{
    CHECK_INT(capture_stderr(log_once_thrice, text, sizeof text), 0);
    CHECK_STR(text, "gpushim: once 0\ngpushim: safe\nraw\n");
}

/* Writes on a pipe without a reader, with SIGPIPE's default action: neither killed nor left
 * pending. */
static void log_into_closed_pipe(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        _exit(1);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    signal(SIGPIPE, SIG_DFL);
    errno = ENOTTY;
    gsh_log(GSH_LOG_WARN, "nobody reads this");
    gsh_log_sigsafe("nor this");
    sigset_t pending;
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE) || errno != ENOTTY)
        _exit(2);
}

static void log_into_closed_stderr(void)
{
    close(STDERR_FILENO);
    errno = ENOTTY;
    gsh_log(GSH_LOG_WARN, "no stderr");
    if (errno != ENOTTY)
        _exit(2);
}

int main(void)
{
    test_levels();
    test_cut();
    test_once();
    CHECK_INT(capture_stderr(log_into_closed_pipe, text, sizeof text), 0);
    CHECK_INT(capture_stderr(log_into_closed_stderr, text, sizeof text), 0);
    return check_result();
}
