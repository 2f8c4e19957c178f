/* SPDX-License-Identifier: Apache-2.0
 *
 * config/options.c: each type's values, good and bad, and what is printed when. Options are parsed
 * once per process, so every case is a child that prints what it sees.
 */
#include "capture.h"
#include "check.h"
#include "log.h"
#include "options.h"

#include <unistd.h>

static char text[16384];
static enum gsh_option shown;

static void show_number(void)
{
    gsh_options_init();
    gsh_log(GSH_LOG_WARN, "%lld", (long long)gsh_option_number(shown));
}

static void show_text(void)
{
    gsh_options_init();
    gsh_log(GSH_LOG_WARN, "<%s>", gsh_option_text(shown));
}

static void announce(void)
{
    gsh_options_init();
    gsh_options_announce();
    gsh_options_announce();
}

static void describe(void)
{
    gsh_options_init();
    char lines[1024];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, lines, sizeof lines);
    gsh_options_describe(&fmt);
    gsh_log_raw_sigsafe(lines, fmt.length);
}

/* What `body` prints with one variable set (none where value is NULL). */
static const char *output(void (*body)(void), const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    CHECK_INT(capture_stderr(body, text, sizeof text), 0);
    unsetenv(name);
    return text;
}

struct number_case {
    enum gsh_option option;
    const char *name, *value; /* NULL: unset */
    long long number;
    bool is_bad;
};

static const struct number_case number_cases[] = {
    {GSH_OPTION_DOCTOR, "GPUSHIM_DOCTOR", NULL, 0, false},
    {GSH_OPTION_DOCTOR, "GPUSHIM_DOCTOR", "", 0, false},
    {GSH_OPTION_DOCTOR, "GPUSHIM_DOCTOR", "1", 1, false},
    {GSH_OPTION_DOCTOR, "GPUSHIM_DOCTOR", "0", 0, false},
    {GSH_OPTION_DOCTOR, "GPUSHIM_DOCTOR", "Yes", 1, false},
    {GSH_OPTION_DOCTOR, "GPUSHIM_DOCTOR", "off", 0, false},
    {GSH_OPTION_DOCTOR, "GPUSHIM_DOCTOR", "2", 0, true},
    {GSH_OPTION_DOCTOR, "GPUSHIM_DOCTOR", "1 ", 0, true},
    {GSH_OPTION_DEVICE, "GPUSHIM_DEVICE", NULL, GSH_DEVICE_AUTO, false},
    {GSH_OPTION_DEVICE, "GPUSHIM_DEVICE", "auto", GSH_DEVICE_AUTO, false},
    {GSH_OPTION_DEVICE, "GPUSHIM_DEVICE", "HOST", GSH_DEVICE_HOST, false},
    {GSH_OPTION_DEVICE, "GPUSHIM_DEVICE", "none", GSH_DEVICE_NONE, false},
    {GSH_OPTION_DEVICE, "GPUSHIM_DEVICE", "cpu", GSH_DEVICE_CPU, false},
    {GSH_OPTION_DEVICE, "GPUSHIM_DEVICE", "cud", GSH_DEVICE_AUTO, true},
    {GSH_OPTION_DEVICE, "GPUSHIM_DEVICE", "cuda|host", GSH_DEVICE_AUTO, true},
    {GSH_OPTION_DEVICE, "GPUSHIM_DEVICE", "which", GSH_DEVICE_AUTO, true},
    {GSH_OPTION_MIN_ELEMENTS, "GPUSHIM_MIN_ELEMENTS", NULL, -1, false},
    {GSH_OPTION_MIN_ELEMENTS, "GPUSHIM_MIN_ELEMENTS", "0", 0, false},
    {GSH_OPTION_MIN_ELEMENTS, "GPUSHIM_MIN_ELEMENTS", "9223372036854775807", INT64_MAX, false},
    {GSH_OPTION_MIN_ELEMENTS, "GPUSHIM_MIN_ELEMENTS", "9223372036854775808", -1, true},
    {GSH_OPTION_MIN_ELEMENTS, "GPUSHIM_MIN_ELEMENTS", "-2", -1, true},
    {GSH_OPTION_MIN_ELEMENTS, "GPUSHIM_MIN_ELEMENTS", "1K", 1024, false},
    {GSH_OPTION_MIN_ELEMENTS, "GPUSHIM_MIN_ELEMENTS", "1e6", 1000000, false},
    {GSH_OPTION_MODE, "GPUSHIM_MODE", "0", GSH_MODE_OFF, false},
    {GSH_OPTION_MODE, "GPUSHIM_MODE", "no", GSH_MODE_OFF, false},
    {GSH_OPTION_MODE, "GPUSHIM_MODE", "on", GSH_MODE_AUTO, false},
    {GSH_OPTION_MIN_ELEMENTS, "GPUSHIM_MIN_ELEMENTS", "0x10", -1, true},
    {GSH_OPTION_MIN_ELEMENTS, "GPUSHIM_MIN_ELEMENTS", " 5", -1, true},
    {GSH_OPTION_MIN_ELEMENTS, "GPUSHIM_MIN_ELEMENTS", "-", -1, true},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", NULL, 65536, false},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", "4096", 4096, false},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", "68K", 69632, false},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", "3mb", 3LL << 20, false},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", "2GiB", 2LL << 30, false},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", "1T", 1LL << 40, false},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", "0", 65536, true},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", "-1G", 65536, true},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", "1.5G", 65536, true},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", "64Ki", 65536, true},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", "64X", 65536, true},
    {GSH_OPTION_ARENA_MIN, "GPUSHIM_ARENA_MIN", "9000000000000T", 65536, true},
};

static void test_numbers(void)
{
    for (size_t i = 0; i < GSH_COUNT(number_cases); i++) {
        const struct number_case *row = &number_cases[i];
        shown = row->option;
        char expected[64];
        snprintf(expected, sizeof expected, "gpushim: %lld\n", row->number);
        bool holds = CHECK_STR(output(show_number, row->name, row->value), expected);
        holds &= CHECK_INT(strlen(output(announce, row->name, row->value)) > 0, row->is_bad);
        if (!holds)
            fprintf(stderr, "  with %s=%s\n", row->name,
                    row->value != NULL ? row->value : "(unset)");
    }
}

static void test_text(void)
{
    shown = GSH_OPTION_CACHE_DIR;
    CHECK_STR(output(show_text, "GPUSHIM_CACHE_DIR", NULL), "gpushim: <>\n");
    CHECK_STR(output(show_text, "GPUSHIM_CACHE_DIR", "/a b"), "gpushim: </a b>\n");
    shown = GSH_OPTION_DUMP; /* a word for off is the empty text */
    CHECK_STR(output(show_text, "GPUSHIM_DUMP", "off"), "gpushim: <>\n");
    CHECK_STR(output(show_text, "GPUSHIM_DUMP", "./off"), "gpushim: <./off>\n");
    shown = GSH_OPTION_CACHE_DIR;
    static char longest[4200];
    memset(longest, 'x', sizeof longest - 1);
    CHECK_STR(output(show_text, "GPUSHIM_CACHE_DIR", longest), "gpushim: <>\n");
    CHECK(strncmp(output(announce, "GPUSHIM_CACHE_DIR", longest), "gpushim: GPUSHIM_CACHE_DIR=xxx",
                  30) == 0);
}

/* Before gsh_options_init every option has its default, whatever the environment says. */
static void show_without_init(void)
{
    gsh_log(GSH_LOG_WARN, "%lld <%s>", (long long)gsh_option_number(GSH_OPTION_ARENA_MIN),
            gsh_option_text(GSH_OPTION_REPORT));
}

static void test_announce(void)
{
    CHECK_STR(output(show_without_init, "GPUSHIM_ARENA_MIN", "1M"), "gpushim: 65536 <>\n");
    CHECK_STR(output(announce, "GPUSHIM_MODE", "auto"), "");
    CHECK_STR(output(announce, "GPUSHIM_MODE", "fast"),
              "gpushim: GPUSHIM_MODE=fast: bad value, taken as auto; allowed: auto|force|off\n");
    CHECK_STR(output(announce, "GPUSHIM_MODE", "froce"),
              "gpushim: GPUSHIM_MODE=froce: bad value, taken as auto; allowed: auto|force|off; "
              "did you mean force?\n");
    CHECK_STR(output(announce, "GPUSHIM_MIN_REDUCE", "x"),
              "gpushim: GPUSHIM_MIN_REDUCE=x: bad value, taken as -1; allowed: -1..\n");
    CHECK_STR(output(announce, "GPUSHIM_MOOD", "x"),
              "gpushim: unknown option GPUSHIM_MOOD; GPUSHIM_HELP=1 lists them\n");
    CHECK_STR(output(announce, "GPUSHIM_REPROT", "1"),
              "gpushim: unknown option GPUSHIM_REPROT; did you mean GPUSHIM_REPORT?\n");
    CHECK_STR(output(announce, "GPUSHIM_DEVISE", "host"),
              "gpushim: unknown option GPUSHIM_DEVISE; did you mean GPUSHIM_DEVICE?\n");
    CHECK_STR(output(announce, "GPUSHIM_", "x"),
              "gpushim: unknown option GPUSHIM_; GPUSHIM_HELP=1 lists them\n");
}

static void test_describe(void)
{
    CHECK_STR(output(describe, "GPUSHIM_LOG", NULL), "none differs\n");
    CHECK_STR(output(describe, "GPUSHIM_LOG", "warn"), "none differs\n");
    CHECK_STR(output(describe, "GPUSHIM_POOL_LIMIT", "1g"), "GPUSHIM_POOL_LIMIT=1g\n");
    CHECK_STR(output(describe, "GPUSHIM_POOL_LIMIT", "much"), "none differs\n");
    CHECK_STR(output(describe, "GPUSHIM_REPORT", "1"), "GPUSHIM_REPORT=1\n");
}

/* What a user sets must not reach a program with more rights than his own. */
static void show_secure(void)
{
    gsh_options_init_secure();
    gsh_options_init();
    gsh_options_announce();
    gsh_log(GSH_LOG_WARN, "%lld <%s> %lld", (long long)gsh_option_number(GSH_OPTION_MODE),
            gsh_option_text(GSH_OPTION_REPORT), (long long)gsh_option_number(GSH_OPTION_HELP));
}

static void test_secure(void)
{
    setenv("GPUSHIM_MODE", "force", 1);
    setenv("GPUSHIM_REPORT", "json:/etc/passwd", 1);
    setenv("GPUSHIM_UNKNOWN", "1", 1);
    CHECK_STR(output(show_secure, "GPUSHIM_HELP", "1"), "gpushim: 2 <> 0\n");
    unsetenv("GPUSHIM_MODE");
    unsetenv("GPUSHIM_REPORT");
    unsetenv("GPUSHIM_UNKNOWN");
}

static void test_help(void)
{
    output(announce, "GPUSHIM_HELP", "1");
#define X(name, type, default_value, min, max, help)                                               \
    CHECK(strstr(text, "\n  GPUSHIM_" #name "=") != NULL);
#include "options.def"
#undef X
    CHECK(strstr(text, "  GPUSHIM_MODE=auto|force|off  [auto]\n      auto decides call by call") !=
          NULL);
}

/* Of all names that begin like options, whether there is such an option or not. */
static void clear_environment(void)
{
    for (char **next = environ; *next != NULL;) {
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*next, "="), *next);
        if (strncmp(name, "GPUSHIM_", 8) == 0)
            unsetenv(name); /* the next one takes its place */
        else
            next++;
    }
}

int main(void)
{
    clear_environment();
    test_numbers();
    test_text();
    test_announce();
    test_describe();
    test_secure();
    test_help();
    return check_result();
}
