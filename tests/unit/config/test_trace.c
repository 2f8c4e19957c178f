/* SPDX-License-Identifier: Apache-2.0
 *
 * config/trace.c and trace_file.c: events of threads and of a signal handler, a full buffer, the file, a forked child.
 */
#include "check.h"
#include "options.h"
#include "stats.h"
#include "trace.h"
#include "trace_file.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { THREADS = 4, EACH = 1000, ROOM = THREADS * EACH + 10 };

static const char *const reasons[] = {"none", "too-small", "dtype"};
static char text[1 << 20];

static void read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
}

static void *add_events(void *unused)
{
    for (int i = 0; i < EACH; i++) {
        uint64_t begin = gsh_trace_begin();
        GSH_TRACE_CAUSE("operand of", "add");
        GSH_TRACE_TRANSFER(begin, UPLOADS, 8);
    }
    return unused;
}

/* Before the option is known. */
static void test_off(void)
{
    CHECK_INT(gsh_trace_begin(), 0);
    add_events(NULL);
    GSH_TRACE_CAUSE("operand of", "add");
    CHECK(gsh_trace_why == NULL); /* nothing is written */
    gsh_trace_memory(8);
    CHECK_INT(gsh_trace_count(), 0);
    CHECK(!gsh_trace_is_on && !gsh_trace_file_is_due_sigsafe());
}

static bool is_as_added(const struct gsh_trace_event *event)
{
    return event->bytes == 8 && event->begin_ns <= event->end_ns &&
           event->track == GSH_TRACE_UPLOADS && event->why != NULL;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    unsigned seen[GSH_TRACE_THREADS] = {0}, used = 0, good = 0;
    for (int k = 0; k < THREADS; k++)
        pthread_create(&threads[k], NULL, add_events, NULL);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    CHECK_INT(gsh_trace_count(), THREADS * EACH);
    CHECK_INT(gsh_trace_dropped(), 0);
    const struct gsh_trace_event *event;
    for (unsigned i = 0; i < THREADS * EACH; i++)
        if (gsh_trace_get(i, &event)) {
            seen[event->thread]++;
            good += is_as_added(event);
        }
    CHECK_INT(good, THREADS * EACH);
    for (unsigned k = 0; k < GSH_TRACE_THREADS; k++)
        used += seen[k] == EACH;
    CHECK_INT(used, THREADS);
    CHECK(gsh_trace_why == NULL && gsh_trace_of == NULL);
}

static void on_signal(int number)
{
    (void)number;
    GSH_TRACE_END(gsh_trace_begin(), FAULTS, .name = "in the \"handler\"");
}

static void test_kinds(void)
{
    uint64_t now = gsh_trace_begin(), short_ns = 0;
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    unsigned row = gsh_stats_row("add", "dd->d");
    GSH_TRACE_END(now, CALLS, .row = row);
    GSH_TRACE_END(now - 5000000, CALLS, .row = row, .reason = 2);
    GSH_TRACE_END(gsh_trace_begin(), CALLS, .row = row, .reason = 1);
    CHECK_INT(gsh_trace_short_calls(&short_ns), 1);
    gsh_trace_add_past(
        7000, 9500,
        &(struct gsh_trace_facts){.track = GSH_TRACE_DEVICE,
                                  .row = row,
                                  .text = "add, add, sqrt and what does not fit into the room of "
                                          "an event any more"});
    gsh_trace_memory(12345);
    CHECK_INT(gsh_trace_count(), THREADS * EACH + 5);
}

static void test_full(void)
{
    add_events(NULL);
    CHECK_INT(gsh_trace_count(), ROOM);
    CHECK_INT(gsh_trace_dropped(), EACH - 5);
}

static void test_child(void)
{
    if (fork() == 0) {
        int failed = gsh_trace_file_is_due_sigsafe() || gsh_trace_count() != 0;
        GSH_TRACE_END(gsh_trace_begin(), WAITS, .name = "child's");
        _exit(failed || gsh_trace_file_write_sigsafe() != 0);
    }
    int status = -1;
    CHECK(wait(&status) > 0 && status == 0);
    CHECK_INT(system("test $(ls /tmp/test_trace_folder/*.json | wc -l) = 1"), 0);
    CHECK_INT(system("grep -q \"child's\" /tmp/test_trace_folder/*.json"), 0);
    CHECK_INT(system("grep -q operand /tmp/test_trace_folder/*.json"), 256);
}

static void test_file(void)
{
    CHECK_INT(gsh_trace_file_write_sigsafe(), 0);
    CHECK(!gsh_trace_file_is_due_sigsafe());
    CHECK_INT(gsh_trace_file_write_sigsafe(), 0);
    read_file(gsh_trace_file_name());
    CHECK(strstr(text, "\"name\": \"in the \\\"handler\\\"\"") != NULL);
    CHECK(strstr(text, "\"name\": \"add dd->d\"") != NULL);
    CHECK(strstr(text, "\"args\": {\"ran on\": \"device\"}") != NULL);
    CHECK(strstr(text, "\"args\": {\"ran on\": \"CPU\", \"reason\": \"dtype\"}") != NULL);
    CHECK(strstr(text, "\"ts\": 7.000, \"dur\": 2.500, \"args\": {\"holds\": \"add, add, sqrt") !=
          NULL);
    CHECK(strstr(text, "\"args\": {\"bytes\": 8, \"why\": \"operand of add\"}") != NULL);
    CHECK(strstr(text, "\"args\": {\"bytes\": 12345}") != NULL);
    CHECK(strstr(text, "\"dropped\": 995, \"short_calls\": 1") != NULL);
    CHECK(strstr(text, "\"args\": {\"name\": \"host to device (thread 2)\"}") != NULL);
}

int main(void)
{
    char room[16];
    test_off();
    CHECK_INT(system("rm -rf /tmp/test_trace_folder && mkdir /tmp/test_trace_folder"), 0);
    setenv("GPUSHIM_TRACE", "/tmp/test_trace_folder/%p.json", 1);
    snprintf(room, sizeof room, "%d", ROOM);
    setenv("GPUSHIM_TRACE_EVENTS", room, 1);
    gsh_options_init();
    gsh_trace_file_init(reasons, GSH_COUNT(reasons));
    CHECK(gsh_trace_is_on);
    test_threads();
    test_kinds();
    test_full();
    test_child();
    test_file();
    CHECK_INT(system("rm -r /tmp/test_trace_folder"), 0);
    return check_result();
}
