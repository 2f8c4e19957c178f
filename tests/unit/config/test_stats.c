/* SPDX-License-Identifier: Apache-2.0
 *
 * config/stats.c and stats_report.c: counting from many threads, the row table when full, and the
 * report as text, as JSON, at exit and in a forked child.
 */
#include "capture.h"
#include "check.h"
#include "options.h"
#include "report_sections.h"
#include "stats.h"
#include "version.h"

#include <pthread.h>

#define THREADS 4
#define CALLS 20000

static const char *const reasons[] = {"none", "too-small", "dtype"};
static char text[1 << 18];

static void *count_many(void *unused)
{
    for (int i = 0; i < CALLS; i++) {
        char name[32];
        snprintf(name, sizeof name, "op%d", i % 50);
        unsigned row = gsh_stats_row(name, "dd->d");
        gsh_stats_device_call(row, 3);
        gsh_stats_host_call(row, (unsigned)i % 2 + 1, 5);
        gsh_stats_add(GSH_COUNTER_LAUNCHES, 2);
    }
    return unused;
}

static void test_threads(void)
{
    uint64_t before = gsh_stats_get(GSH_COUNTER_LAUNCHES);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, count_many, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(gsh_stats_get(GSH_COUNTER_LAUNCHES) - before, 2 * THREADS * CALLS);
    struct gsh_stats_row_copy row, total = {.name = NULL};
    for (unsigned i = 0; i < gsh_stats_row_count(); i++) {
        if (!gsh_stats_get_row(i, &row))
            continue;
        CHECK_INT(row.device_calls, THREADS * CALLS / 50);
        CHECK_INT(row.reasons[1] + row.reasons[2], row.host_calls);
        total.device_calls += row.device_calls;
        total.device_ns += row.device_ns;
        total.host_ns += row.host_ns;
    }
    CHECK_INT(total.device_calls, THREADS * CALLS);
    CHECK_INT(total.device_ns, 3 * THREADS * CALLS);
    CHECK_INT(total.host_ns, 5 * THREADS * CALLS);
}

static void test_rows(void)
{
    unsigned add = gsh_stats_row("add", "dd->d");
    CHECK(add != 0);
    CHECK_INT(gsh_stats_row("add", "dd->d"), add);
    CHECK(gsh_stats_row("add", "ff->f") != add);
    CHECK(gsh_stats_row("addd", "d->d") != add);
    struct gsh_stats_row_copy row;
    CHECK(!gsh_stats_get_row(add, &row));
    CHECK_STR(row.name, "add");
    CHECK_STR(row.signature, "dd->d");
    CHECK(!gsh_stats_get_row(GSH_STATS_MAX_ROWS, &row));
    /* Names longer than a row holds are cut, and still one row. */
    static const char name[] = "a_name_that_is_much_longer_than_any_row_of_the_table_can_hold_"
                               "because_such_a_row_has_room_for_ninety_five_characters_and_no_more";
    CHECK_INT(gsh_stats_row(name, "x"), gsh_stats_row(name, "x"));
}

static void test_text(void)
{
    gsh_stats_report_set_device("cuda: a \"GPU\"");
    unsigned row = gsh_stats_row("multiply", "dd->d");
    gsh_stats_device_call(row, 0);
    gsh_stats_device_time(row, 1900000000000);
    gsh_stats_host_call(row, 2, 312000);
    gsh_stats_host_call(row, 2, 0);
    gsh_stats_host_call(row, 99, 0);
    gsh_stats_parallel_call(row);
    gsh_stats_output_fetched(row);
    gsh_stats_add(GSH_COUNTER_UPLOAD_BYTES, 3ULL << 29);
    gsh_stats_add(GSH_COUNTER_UPLOADS, 1);
    gsh_stats_add(GSH_COUNTER_EVICTIONS, 1);
    gsh_stats_add(GSH_COUNTER_GROUPED, 2);
    gsh_stats_add(GSH_COUNTER_GROUPS, 1);
    gsh_stats_add(GSH_COUNTER_PARALLEL_LOOPS, 1);
    char wanted[64];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_stats_report_text(&fmt);
    CHECK_INT(fmt.length, fmt.required);
    CHECK(strncmp(text, "gpushim: not active; NumPy computed on the CPU\n time: ", 54) == 0);
    CHECK(strstr(text, "\n operation ") != NULL);
    CHECK(strstr(text, "\n multiply dd->d                              1    1900 s            3    "
                       "312 us   dtype\n"));
    CHECK(strstr(text, "host to device 1.5 GiB (1 transfer), device to host 0 B (0 transfers)"));
    CHECK(strstr(text, ", 0 kernels compiled, 0 from the disk cache; 1 eviction\n"));
    CHECK(strstr(text, "\n 2 calls ran together, in 1 group; 0 calls never needed\n"));
    CHECK(strstr(text, "\n 1 loop or copy ran on several cores\n"));
    snprintf(wanted, sizeof wanted, "since NumPy was found; version %s\n", gsh_version_get());
    CHECK(strstr(text, wanted));
    CHECK(strstr(text, " more in GPUSHIM_REPORT=json:FILE)"));
}

static void append_number(struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "[1, 2]");
}

static void append_line(struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, " a section\n");
}

/* More than there is room for are left out. */
static void test_sections(void)
{
    static const struct gsh_report_section both = {append_line, "own_key", append_number},
                                           neither = {NULL, NULL, NULL};
    static const struct gsh_report_section left_out = {append_line, "left_out", append_number};
    struct gsh_fmt fmt;
    gsh_report_sections_add(&both);
    for (int i = 0; i < 7; i++)
        gsh_report_sections_add(&neither);
    gsh_report_sections_add(&left_out);
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_stats_report_text(&fmt);
    CHECK(strstr(text, "\n a section\n") != NULL);
    CHECK(strstr(text, " a section\n a section") == NULL);
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_stats_report_json(&fmt);
    CHECK(strstr(text, "\n ],\n \"own_key\": [1, 2]}\n") != NULL);
}

static void test_json(void)
{
    char wanted[96];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_stats_report_json(&fmt);
    CHECK_INT(fmt.length, fmt.required);
    snprintf(wanted, sizeof wanted,
             "{\"version\": 1, \"gpushim_version\": \"%s\", \"pid\": ", gsh_version_get());
    CHECK(strncmp(text, wanted, strlen(wanted)) == 0);
    CHECK(strstr(text, "\"device\": \"cuda: a \\\"GPU\\\"\""));
    CHECK(strstr(text, "\"upload_bytes\": 1610612736"));
    CHECK(strstr(text, "\"operations\": [\n  {\"name\": \"multiply\", \"signature\": \"dd->d\", "
                       "\"device_calls\": 1, \"device_ns\": 1900000000000, \"host_calls\": 3, "
                       "\"host_ns\": 312000, "
                       "\"parallel_calls\": 1, \"outputs_fetched\": 1, \"reasons\": {\"dtype\": 2, "
                       "\"unknown\": 1}}"));
}

static void test_full_table(void)
{
    for (int i = 0; i < 2 * GSH_STATS_MAX_ROWS; i++) {
        char name[32];
        snprintf(name, sizeof name, "filler%d", i);
        gsh_stats_row(name, "");
    }
    CHECK_INT(gsh_stats_row("one more", ""), 0);
    CHECK_INT(gsh_stats_row_count(), GSH_STATS_MAX_ROWS);
    CHECK(gsh_stats_row("filler0", "") != 0);
    struct gsh_stats_row_copy row;
    gsh_stats_host_call(0, 1, 0);
    CHECK(gsh_stats_get_row(0, &row));
    CHECK_STR(row.name, "other");
}

static void attach_and_exit(void)
{
    gsh_options_init();
    gsh_stats_report_init(reasons, GSH_COUNT(reasons));
    if (fork() == 0) {
        gsh_stats_report_at_exit();
        _exit(0);
    }
    wait(NULL);
    gsh_stats_host_call(gsh_stats_row("add", "dd->d"), 1, gsh_stats_report_is_wanted() ? 7 : 0);
    if (chdir("/") == 0)
        gsh_stats_report_at_exit();
}

static void exit_unattached(void)
{
    gsh_options_init();
    gsh_stats_report_at_exit();
}

static size_t read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
    return length;
}

static void test_at_exit(void)
{
    unsetenv("GPUSHIM_REPORT");
    CHECK_INT(capture_stderr(attach_and_exit, text, sizeof text), 0);
    CHECK_STR(text, "");
    setenv("GPUSHIM_REPORT", "1", 1);
    CHECK_INT(capture_stderr(exit_unattached, text, sizeof text), 0);
    CHECK_STR(text, "");
    CHECK_INT(capture_stderr(attach_and_exit, text, sizeof text), 0);
    CHECK(strncmp(text, "gpushim: not active; NumPy computed on the CPU\n", 47) == 0);
    CHECK(strstr(text + 1, "gpushim:") == NULL); /* the forked child said nothing */
    CHECK(strstr(text, " add dd->d                                   0         -            1      "
                       "7 ns   too-small\n"));
    setenv("GPUSHIM_REPORT", "yes", 1);
    CHECK_INT(capture_stderr(attach_and_exit, text, sizeof text), 0);
    CHECK(strstr(text, "\n time: ") != NULL);
    setenv("GPUSHIM_REPORT", "off", 1);
    CHECK_INT(capture_stderr(attach_and_exit, text, sizeof text), 0);
    CHECK_STR(text, "");
    setenv("GPUSHIM_REPORT", "perhaps", 1);
    CHECK_INT(capture_stderr(attach_and_exit, text, sizeof text), 0);
    CHECK_STR(
        text,
        "gpushim: GPUSHIM_REPORT=perhaps: bad value, taken as 0; allowed: 0|1|json:FILE|dir:DIR, "
        "each also with ,lines\n");
    setenv("GPUSHIM_REPORT", "json:/nowhere/at/all", 1);
    CHECK_INT(capture_stderr(attach_and_exit, text, sizeof text), 0);
    CHECK_STR(text,
              "gpushim: cannot write the report to /nowhere/at/all: No such file or directory\n");
}

/* A relative FILE belongs to the folder at the start, "%p" is the process id. */
static void test_json_file(void)
{
    char folder[] = "/tmp/test_stats.XXXXXX", command[128];
    if (!CHECK(mkdtemp(folder) != NULL) || !CHECK_INT(chdir(folder), 0))
        return;
    setenv("GPUSHIM_REPORT", "json:report.json", 1);
    CHECK_INT(capture_stderr(attach_and_exit, text, sizeof text), 0);
    CHECK_STR(text, "");
    CHECK(read_file("report.json") > 0);
    CHECK(strstr(text, "\"reasons\": {\"too-small\": 1}"));
    CHECK_INT(unlink("report.json"), 0);
    setenv("GPUSHIM_REPORT", "json:%p.json", 1);
    CHECK_INT(capture_stderr(attach_and_exit, text, sizeof text), 0);
    CHECK_INT(
        system("test $(ls | wc -l) = 1 && grep -q \"pid.: $(basename *.json .json),\" *.json"), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
}

/* One long call outweighs many short ones; without times the number counts. */
static void test_top_reason(void)
{
    uint64_t calls[GSH_STATS_MAX_REASONS] = {[1] = 900, [2] = 1},
             ns[GSH_STATS_MAX_REASONS] = {[1] = 100, [2] = 5000};
    CHECK_INT(gsh_stats_top_reason(calls, ns), 2);
    ns[2] = ns[1];
    CHECK_INT(gsh_stats_top_reason(calls, ns), 1);
    unsigned row = gsh_stats_row("square", "d->d");
    for (int i = 0; i < 3; i++)
        gsh_stats_host_call(row, 1, 10);
    gsh_stats_host_call(row, 2, 4000);
    struct gsh_stats_row_copy copy;
    CHECK(gsh_stats_get_row(row, &copy));
    CHECK_INT(copy.reason_ns[1], 30);
    CHECK_INT(copy.reason_ns[2], 4000);
    CHECK_INT(copy.host_ns, 4030);
}

int main(void)
{
    test_at_exit();
    test_json_file();
    unsetenv("GPUSHIM_REPORT");
    gsh_stats_report_init(reasons, GSH_COUNT(reasons));
    CHECK(!gsh_stats_report_is_wanted());
    test_threads();
    test_rows();
    test_text();
    test_json();
    test_sections();
    test_top_reason();
    test_full_table();
    return check_result();
}
