/* SPDX-License-Identifier: Apache-2.0
 *
 * config/readers.c and readers_report.c: for whom downloads count, by name, by the code's library and beyond the table's size, and
 * what the report says of them.
 */
#include "check.h"
#include "readers.h"
#include "readers_report.h"
#include "stats.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS 4
#define TIMES 5000

static char text[1 << 16];

static const char *report(void (*append)(struct gsh_fmt *))
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    append(&fmt);
    return text;
}

static void read_by(uintptr_t instruction, uintptr_t caller, uint64_t bytes)
{
    struct gsh_reader before =
        gsh_readers_swap_sigsafe((struct gsh_reader){.instruction = instruction, .caller = caller});
    gsh_stats_add(GSH_COUNTER_DOWNLOAD_BYTES, bytes);
    gsh_readers_swap_sigsafe(before);
}

static void test_nothing(void)
{
    CHECK_STR(report(gsh_readers_report_text), "");
    CHECK_STR(report(gsh_readers_report_json), "[\n ]");
}

static void read_element(void)
{
    GSH_READER("item");
    gsh_stats_add(GSH_COUNTER_DOWNLOAD_BYTES, 8);
}

static void read_array(void)
{
    GSH_READER("sort");
    gsh_stats_add(GSH_COUNTER_DOWNLOAD_BYTES, 2048);
    read_element();
    gsh_stats_add(GSH_COUNTER_DOWNLOAD_BYTES, 1024);
    gsh_stats_add(GSH_COUNTER_UPLOAD_BYTES, 1 << 30);
}

static void test_names(void)
{
    read_array();
    gsh_stats_add(GSH_COUNTER_DOWNLOAD_BYTES, 100);
    CHECK_STR(report(gsh_readers_report_text),
              " brought back by sort 3.0 KiB in 2, gpushim 100 B in 1, item 8 B in 1\n");
    gsh_readers_forget_after_fork();
    test_nothing();
}

/* Code counts for its library; libc's for the caller's, where that is known. */
static void test_libraries(void)
{
    read_by((uintptr_t)test_libraries, 0, 10);
    read_by((uintptr_t)test_names, (uintptr_t)getenv, 20);
    read_by((uintptr_t)getenv, (uintptr_t)test_libraries, 30);
    read_by((uintptr_t)getenv, 8, 1);
    read_by(8, 0, 2);
    report(gsh_readers_report_json);
    CHECK(strstr(text, "{\"name\": \"test_readers\", \"kind\": \"library\", \"bytes\": 60, "
                       "\"transfers\": 3}") != NULL);
    CHECK(strstr(text, "\"kind\": \"library\", \"bytes\": 1, \"transfers\": 1}") != NULL);
    CHECK(strstr(text, "{\"name\": \"gpushim\", \"kind\": \"gpushim\", \"bytes\": 2, "
                       "\"transfers\": 1}") != NULL);
    CHECK(strstr(text, "\"libc") != NULL);
    gsh_readers_forget_after_fork();
}

static void *read_often(void *unused)
{
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < TIMES; i++) {
        GSH_READER(names[i % 3]);
        gsh_readers_count_sigsafe(1);
    }
    return unused;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    struct gsh_readers_row row;
    uint64_t sum = 0;
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, read_often, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 0; i < GSH_READERS_MAX; i++)
        sum += gsh_readers_get(i, &row) ? row.transfers : 0;
    CHECK_INT(sum, THREADS * TIMES);
    gsh_readers_forget_after_fork();
}

/* What finds no row counts for nobody. */
static void test_full(void)
{
    struct gsh_readers_row row;
    uint64_t bytes = 0;
    for (uintptr_t i = 1; i <= 2 * GSH_READERS_MAX; i++)
        read_by(i << 40, 0, 1);
    CHECK(gsh_readers_get(0, &row));
    CHECK(row.transfers > GSH_READERS_MAX);
    CHECK(row.reader.instruction == 0);
    for (unsigned i = 0; i < GSH_READERS_MAX; i++)
        bytes += gsh_readers_get(i, &row) ? row.bytes : 0;
    CHECK_INT(bytes, 2 * GSH_READERS_MAX);
}

int main(void)
{
    test_nothing();
    test_names();
    test_libraries();
    test_threads();
    test_full();
    return check_result();
}
