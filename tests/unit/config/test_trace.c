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
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

enum { THREADS = 4, EACH = 1000, KINDS = 8, ROOM = THREADS * EACH + KINDS + 5 };

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
    gsh_trace_add_past(1, 2, &(struct gsh_trace_facts){.track = GSH_TRACE_DEVICE});
    CHECK_INT(gsh_trace_count(), 0);
    CHECK_INT(gsh_trace_dropped(), 0);
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

static const struct gsh_trace_event *event_at(uint64_t index)
{
    const struct gsh_trace_event *event;
    CHECK(gsh_trace_get(index, &event));
    return event;
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
    GSH_TRACE_END(now, FLUSHES, .name = "flush", .why = "there are many", .count = 3);
    GSH_TRACE_END(now - 5000000, CALLS, .row = row, .reason = GSH_COUNT(reasons));
    gsh_trace_add_past(9000, 8000,
                       &(struct gsh_trace_facts){.track = GSH_TRACE_DEVICE, .row = row});
    CHECK_INT(gsh_trace_count(), THREADS * EACH + KINDS);
    const struct gsh_trace_event *handler = event_at(THREADS * EACH),
                                 *call = event_at(THREADS * EACH + 2),
                                 *past = event_at(THREADS * EACH + 3),
                                 *memory = event_at(THREADS * EACH + 4);
    CHECK(handler->begin_ns >= now && handler->end_ns < now + 60000000000u);
    CHECK(call->end_ns - call->begin_ns >= 5000000);
    CHECK(handler->thread != 0 && call->thread == handler->thread && past->thread == 0);
    CHECK(memory->begin_ns >= handler->end_ns && memory->begin_ns == memory->end_ns);
}

static void test_full(void)
{
    add_events(NULL);
    CHECK_INT(gsh_trace_count(), ROOM);
    CHECK_INT(gsh_trace_dropped(), EACH - (ROOM - THREADS * EACH - KINDS));
    const struct gsh_trace_event *event;
    CHECK(!gsh_trace_get(ROOM, &event)); /* nothing is written behind the room */
}

static void use_cause(void)
{
    GSH_TRACE_CAUSE("inner", "b");
    CHECK_STR(gsh_trace_why, "inner");
    CHECK_STR(gsh_trace_of, "b");
}

/* A cause within another one ends with its block. */
static void test_causes(void)
{
    GSH_TRACE_CAUSE("outer", "a");
    use_cause();
    CHECK_STR(gsh_trace_why, "outer");
    CHECK_STR(gsh_trace_of, "a");
}

/* ---- forked children ---- */

/* A child has nothing of its parent's, and numbers its threads itself. */
static int run_child(void)
{
    uint64_t ns = 1;
    const struct gsh_trace_event *event;
    CHECK(!gsh_trace_file_is_due_sigsafe());
    CHECK_INT(gsh_trace_count(), 0);
    CHECK_INT(gsh_trace_short_calls(&ns), 0);
    CHECK_INT(ns, 0);
    GSH_TRACE_END(gsh_trace_begin(), WAITS, .name = "child's");
    CHECK_INT(event_at(0)->thread, 0);
    CHECK(!gsh_trace_get(1, &event));
    CHECK_INT(gsh_trace_file_write_sigsafe(), 0);
    return check_result();
}

static void *add_one(void *unused)
{
    GSH_TRACE_END(gsh_trace_begin(), WAITS, .name = "wait");
    return unused;
}

/* More threads than there are numbers share the last one. */
static int run_many_threads(void)
{
    enum { MANY = GSH_TRACE_THREADS + 6 };
    unsigned seen[GSH_TRACE_THREADS] = {0};
    for (int k = 0; k < MANY; k++) {
        pthread_t thread;
        pthread_create(&thread, NULL, add_one, NULL);
        pthread_join(thread, NULL);
    }
    for (unsigned i = 0; i < MANY; i++)
        seen[event_at(i)->thread % GSH_TRACE_THREADS] += event_at(i)->thread < GSH_TRACE_THREADS;
    for (unsigned k = 0; k + 1 < GSH_TRACE_THREADS; k++)
        CHECK_INT(seen[k], 1);
    CHECK_INT(seen[GSH_TRACE_THREADS - 1], MANY - GSH_TRACE_THREADS + 1);
    return check_result();
}

/* Calls on the CPU of just over 1 us are summed up, where nothing has made them longer; calls on the device are all kept. */
static int run_short_calls(void)
{
    uint64_t ns = 0, calls = 0;
    for (int tries = 0; tries < 1000 && calls < 5; tries++) {
        GSH_TRACE_END(gsh_clock_ns() - 1000, CALLS, .name = "short", .reason = 1);
        calls = gsh_trace_short_calls(&ns);
    }
    CHECK_INT(calls, 5);
    CHECK(ns >= 5 * 1000 && ns < 5 * 2000);
    uint64_t kept = gsh_trace_count();
    GSH_TRACE_END(gsh_clock_ns() - 2000, CALLS, .name = "long", .reason = 1);
    GSH_TRACE_END(gsh_clock_ns(), CALLS, .name = "on the device");
    CHECK_INT(gsh_trace_count(), kept + 2);
    return check_result();
}

static void test_child(void)
{
    check_in_child(run_many_threads);
    check_in_child(run_short_calls);
    check_in_child(run_child);
    CHECK_INT(system("test $(ls /tmp/test_trace_folder/*.json | wc -l) = 1"), 0);
    CHECK_INT(system("grep -q \"child's\" /tmp/test_trace_folder/*.json"), 0);
    CHECK_INT(system("grep -q operand /tmp/test_trace_folder/*.json"), 256);
}

/* ---- the file ---- */

/* A text that was made by `format` is in the file. */
static void __attribute__((format(printf, 2, 3))) check_has(int line, const char *format, ...)
{
    char expected[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(expected, sizeof expected, format, arguments);
    va_end(arguments);
    if (!CHECK(strstr(text, expected) != NULL))
        fprintf(stderr, "line %d: %s\n", line, expected);
}
#define HAS(...) check_has(__LINE__, __VA_ARGS__)

static unsigned id_of(unsigned track, unsigned thread)
{
    return track * GSH_TRACE_THREADS + thread + 1;
}

static void check_track(unsigned track, unsigned thread, const char *name)
{
    int pid = getpid();
    unsigned id = id_of(track, thread);
    HAS("{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %d, \"tid\": %u, \"args\": {\"name\": "
        "\"%s\"}},\n"
        "{\"ph\": \"M\", \"name\": \"thread_sort_index\", \"pid\": %d, \"tid\": %u, \"args\": "
        "{\"sort_index\": %u}}",
        pid, id, name, pid, id, id);
}

/* Each line between the first and the last ones is a whole event, also where the text was written in pieces. */
static void check_lines(void)
{
    unsigned lines = 0, good = 0;
    char *end = strstr(text, "\n],\n"), *line = strchr(text, '\n') + 1;
    if (!CHECK(end != NULL))
        return;
    for (char *next; line < end; line = next + 1) {
        next = strchr(line, '\n');
        lines++;
        good += strncmp(line, "{\"ph\": \"", 8) == 0 &&
                strncmp(next - (next < end ? 3 : 2), "}},", next < end ? 3 : 2) == 0;
    }
    CHECK(lines > ROOM);
    CHECK_INT(good, lines);
}

static void check_events(void)
{
    const struct gsh_trace_event *handler = event_at(THREADS * EACH),
                                 *memory = event_at(THREADS * EACH + 4);
    int pid = getpid();
    HAS("{\"ph\": \"X\", \"pid\": %d, \"tid\": %u, \"name\": \"in the \\\"handler\\\"\", \"ts\": "
        "%llu.%03llu, \"dur\": ",
        pid, id_of(GSH_TRACE_FAULTS, handler->thread), (unsigned long long)handler->begin_ns / 1000,
        (unsigned long long)handler->begin_ns % 1000);
    HAS("{\"ph\": \"X\", \"pid\": %d, \"tid\": %u, \"name\": \"add dd->d\", \"ts\": 7.000, "
        "\"dur\": 2.500, \"args\": {\"holds\": \"add, add, sqrt",
        pid, id_of(GSH_TRACE_DEVICE, 0));
    HAS("\"ts\": 9.000, \"dur\": 0.000, \"args\": {}}");
    HAS("{\"ph\": \"C\", \"pid\": %d, \"name\": \"device memory\", \"ts\": %llu.%03llu, \"args\": "
        "{\"bytes\": 12345}}",
        pid, (unsigned long long)memory->begin_ns / 1000,
        (unsigned long long)memory->begin_ns % 1000);
    HAS("\"args\": {\"ran on\": \"device\"}}");
    HAS("\"args\": {\"ran on\": \"CPU\", \"reason\": \"dtype\"}}");
    HAS("\"args\": {\"ran on\": \"CPU\", \"reason\": \"unknown\"}}");
    HAS("\"args\": {\"calls\": 3, \"why\": \"there are many\"}}");
    HAS("\"args\": {\"bytes\": 8, \"why\": \"operand of add\"}}");
}

static void check_frame(void)
{
    char name[64];
    uint64_t short_ns;
    unsigned thread = event_at(THREADS * EACH)->thread;
    CHECK_INT(gsh_trace_short_calls(&short_ns), 1);
    HAS("{\"traceEvents\": [\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"args\": "
        "{\"name\": \"gpushim, process %d\"}}",
        getpid(), getpid());
    check_track(GSH_TRACE_UPLOADS, 0, "host to device");
    check_track(GSH_TRACE_UPLOADS, 1, "host to device (thread 2)");
    snprintf(name, sizeof name, "page faults (thread %u)", thread + 1);
    check_track(GSH_TRACE_FAULTS, thread, name);
    CHECK(strstr(text, "\"NumPy calls") < strstr(text, "\"flushes and groups"));
    CHECK(strstr(text, "\"flushes and groups") < strstr(text, "\"device\"}"));
    CHECK(strstr(text, "\"device\"}") < strstr(text, "\"host to device"));
    HAS("\n],\n\"displayTimeUnit\": \"ms\",\n\"otherData\": {\"gpushim_version\": ");
    HAS("\"dropped\": 995, \"short_calls\": 1, \"short_ns\": %llu}}\n",
        (unsigned long long)short_ns);
}

static void test_file(void)
{
    CHECK_INT(gsh_trace_file_write_sigsafe(), 0);
    CHECK(!gsh_trace_file_is_due_sigsafe());
    CHECK_INT(gsh_trace_begin(), 0);
    CHECK_INT(gsh_trace_file_write_sigsafe(), 0);
    read_file(gsh_trace_file_name());
    check_lines();
    check_events();
    check_frame();
}

static void start(const char *name)
{
    setenv("GPUSHIM_TRACE", name, 1);
    gsh_options_init();
    gsh_trace_file_init(reasons, GSH_COUNT(reasons));
    CHECK(gsh_trace_is_on && gsh_trace_file_is_due_sigsafe());
}

static int is_in_no_trace(void)
{
    return gsh_trace_is_on || gsh_trace_begin() != 0 || gsh_trace_file_is_due_sigsafe();
}

/* Without the process id in the name the file is the parent's alone. */
static int run_one_file(void)
{
    start("/tmp/test_trace_folder/one");
    check_in_child(is_in_no_trace);
    CHECK(gsh_trace_is_on && gsh_trace_file_is_due_sigsafe());
    return check_result();
}

/* A process that was made without the C library, so that no handler of fork ran, has no file either. */
static void test_unknown_child(void)
{
    int status = -1;
    long child = syscall(SYS_fork);
    if (child == 0)
        _exit(gsh_trace_file_is_due_sigsafe());
    CHECK(waitpid((pid_t)child, &status, 0) == child && status == 0);
}

int main(void)
{
    char room[16];
    test_off();
    CHECK_INT(system("rm -rf /tmp/test_trace_folder && mkdir /tmp/test_trace_folder"), 0);
    snprintf(room, sizeof room, "%d", ROOM);
    setenv("GPUSHIM_TRACE_EVENTS", room, 1);
    check_in_child(run_one_file);
    start("/tmp/test_trace_folder/%p.json");
    test_unknown_child();
    test_threads();
    test_kinds();
    test_full();
    test_causes();
    test_child();
    test_file();
    CHECK_INT(system("rm -r /tmp/test_trace_folder"), 0);
    return check_result();
}
