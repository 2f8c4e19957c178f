/* SPDX-License-Identifier: Apache-2.0
 *
 * The report's verdict: words and arithmetic of given numbers, and the stop-watch whose parts add up to the wall time.
 */
#include "report_verdict.h"

#include "check.h"
#include "clock.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

static char text[2048];

static const char *words(const struct gsh_report_verdict *verdict)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_report_verdict_text(&fmt, verdict);
    return text;
}

/* 2 s of 10 are Python's; NumPy would have taken 24 s for what took the device 4. */
static void test_arithmetic(void)
{
    const struct gsh_report_verdict verdict = {.device = {.state = GSH_REPORT_STARTED},
                                               .name = "GPU X, of 1 GiB",
                                               .parts = {[GSH_WALL_PROGRAM] = 2,
                                                         [GSH_WALL_CPU] = 3,
                                                         [GSH_WALL_DEVICE] = 4,
                                                         [GSH_WALL_TRANSFERS] = 0.5,
                                                         [GSH_WALL_START] = 0.25,
                                                         [GSH_WALL_DISPATCH] = 0.25},
                                               .device_work = 23.5,
                                               .parallel_saved = 1,
                                               .reused = 0.5,
                                               .work = {.device = 48, .cpu = 8}};
    CHECK(fabs(gsh_report_verdict_wall(&verdict) - 10) < 1e-12);
    CHECK(fabs(gsh_report_verdict_plain(&verdict) - 30) < 1e-12);
    CHECK(fabs(gsh_report_verdict_share(&verdict) - 48.0 / 56) < 1e-12);
    CHECK_STR(words(&verdict),
              "gpushim: 86 % of NumPy's hooked work ran on GPU X: 10.0 s instead of an estimated "
              "30.0 s, 3.0 times as fast\n"
              " time: 10.0 s = 2.00 s Python and what is not hooked + 3.00 s NumPy on the CPU + "
              "4.00 s waiting for the device + 0.500 s transfers + 0.250 s start and compilation + "
              "0.250 s gpushim\n"
              " device: GPU X, of 1 GiB\n");
}

static void check_first_line(const struct gsh_report_verdict *verdict, const char *expected)
{
    words(verdict);
    text[strcspn(text, "\n")] = '\0';
    CHECK_STR(text, expected);
}

static void test_states(void)
{
    struct gsh_report_verdict verdict = {.name = "GPU X, of 1 GiB",
                                         .parts = {[GSH_WALL_PROGRAM] = 1, [GSH_WALL_CPU] = 1}};
    verdict.device =
        (struct gsh_report_device){.state = GSH_REPORT_NOT_STARTED, .gain = 0.2, .price = 0.5};
    check_first_line(&verdict, "gpushim: the device was not started: predicted gain 0.200 s, start "
                               "0.500 s; NumPy computed on the CPU");
    verdict.device = (struct gsh_report_device){.state = GSH_REPORT_STARTED};
    check_first_line(&verdict, "gpushim: nothing ran on GPU X; NumPy computed on the CPU");
    verdict.device = (struct gsh_report_device){.state = GSH_REPORT_INACTIVE, .why_not = "no GPU"};
    check_first_line(&verdict, "gpushim: not active: no GPU; NumPy computed on the CPU");
    CHECK(strstr(gsh_report_verdict_advice(&verdict), "gpushim doctor") != NULL);
    CHECK(strstr(words(&verdict), " what is not hooked, here all of NumPy + ") != NULL);
    verdict.device.why_not = "GPUSHIM_MODE is off";
    verdict.device.is_switched_off = true;
    check_first_line(&verdict,
                     "gpushim: not active: GPUSHIM_MODE is off; NumPy computed on the CPU");
    CHECK(gsh_report_verdict_advice(&verdict) == NULL);
    verdict.device = (struct gsh_report_device){.state = GSH_REPORT_RETIRED, .why_not = "it fell"};
    check_first_line(&verdict,
                     "gpushim: the device was given up: it fell; NumPy computed on the CPU");
    verdict.name = "cpu: 4 threads";
    verdict.parallel_saved = 2;
    verdict.device = (struct gsh_report_device){.state = GSH_REPORT_CORES};
    check_first_line(&verdict, "gpushim: NumPy ran on the CPU's cores (cpu: 4 threads): 2.00 s "
                               "instead of an estimated 4.00 s, 2.0 times as fast");
    static const struct {
        double saved;
        const char *words;
    } others[] = {{-1, "1.00 s, slower"},
                  {-0.08, "1.92 s, about as fast"},
                  {0, "2.00 s, about as fast"},
                  {0.08, "2.08 s, about as fast"},
                  {0.12, "2.12 s, 1.1 times as fast"},
                  {17.8, "19.8 s, 9.9 times as fast"},
                  {17.95, "19.9 s, 10 times as fast"}};
    for (unsigned i = 0; i < GSH_COUNT(others); i++) {
        char line[160];
        verdict.parallel_saved = others[i].saved;
        snprintf(line, sizeof line,
                 "gpushim: NumPy ran on the CPU's cores (cpu: 4 threads): 2.00 s instead of an "
                 "estimated %s",
                 others[i].words);
        check_first_line(&verdict, line);
    }
}

/* Reasons for little work are not named; the first one with an advice says what to change. */
static void test_reasons(void)
{
    struct gsh_report_verdict verdict = {
        .device = {.state = GSH_REPORT_STARTED,
                   .reasons = {{"data-on-host", "moving costs more", "", 3, 10},
                               {"dtype", "no such dtype", "use another", 2, 5},
                               {"scalar", "0-d", "use arrays", 0.001, 1}}},
        .name = "GPU X",
        .work = {.device = 5, .cpu = 5},
    };
    CHECK(strstr(words(&verdict),
                 "\n on the CPU: 3.00 s data-on-host (moving costs more), "
                 "2.00 s dtype (no such dtype)\n to change: use another; ") != NULL);
    verdict.device.reasons[1].seconds = 0.4;
    CHECK(gsh_report_verdict_advice(&verdict) == NULL);
    CHECK(strstr(words(&verdict), "to change") == NULL);
    verdict.parts[GSH_WALL_PROGRAM] = 1;
    verdict.parts[GSH_WALL_TRANSFERS] = 1;
    CHECK(strstr(words(&verdict), "to change: arrays go to and fro") != NULL);
    verdict.parts[GSH_WALL_TRANSFERS] = 0.05;
    CHECK(gsh_report_verdict_advice(&verdict) == NULL); /* the program's second is short */
    verdict.parts[GSH_WALL_PROGRAM] = 3;
    CHECK(strstr(words(&verdict), "to change: most of the time is Python's own, and that of "
                                  "functions that gpushim does not know: `gpushim advise` names "
                                  "their lines\n") != NULL);
    verdict.parts[GSH_WALL_CPU] = 2;
    CHECK(gsh_report_verdict_advice(&verdict) == NULL); /* and here less than most of the time */
    verdict.parts[GSH_WALL_CPU] = 0;
    verdict.device.state = GSH_REPORT_INACTIVE;
    CHECK(strstr(words(&verdict), "to change: `gpushim doctor`") != NULL);
}

static void pass_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void *serve(void *unused)
{
    gsh_wall_time_serve();
    GSH_WALL_TIME(GSH_WALL_TRANSFERS);
    pass_ms(20);
    return unused;
}

static void *be_another(void *unused)
{
    CHECK_INT(gsh_wall_time_enter_sigsafe(GSH_WALL_START), -1);
    CHECK(!gsh_wall_time_is_watched());
    return unused;
}

static void run_thread(void *(*body)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, body, NULL);
    pthread_join(thread, NULL);
}

static void wait_for_device(void)
{
    GSH_WALL_TIME(GSH_WALL_DEVICE);
    pass_ms(15);
}

static void compute_and_wait(void)
{
    GSH_WALL_TIME(GSH_WALL_CPU);
    pass_ms(5);
    wait_for_device();
    pass_ms(5);
}

static double spent_ms(enum gsh_wall_part part)
{
    return (double)gsh_wall_time_get(part) * 1e-6;
}

static void test_stop_watch(void)
{
    CHECK_INT(gsh_wall_time_enter_sigsafe(GSH_WALL_CPU), -1);
    uint64_t begin = gsh_clock_ns();
    gsh_wall_time_begin();
    CHECK(gsh_wall_time_is_watched());
    compute_and_wait();
    run_thread(be_another);
    run_thread(serve); /* nobody waits for it */
    CHECK(spent_ms(GSH_WALL_TRANSFERS) < 1);
    gsh_wall_time_wait_sigsafe(true);
    run_thread(serve);
    gsh_wall_time_wait_sigsafe(false);
    CHECK(spent_ms(GSH_WALL_CPU) >= 10 && spent_ms(GSH_WALL_DEVICE) >= 15);
    CHECK(spent_ms(GSH_WALL_TRANSFERS) >= 20 && spent_ms(GSH_WALL_START) == 0);
    double before = spent_ms(GSH_WALL_CPU);
    pass_ms(10);
    compute_and_wait(); /* its first switch ends the program's 10 ms */
    gsh_wall_time_give_cpu(2000000);
    CHECK(spent_ms(GSH_WALL_CPU) >= before + 12);
    gsh_wall_time_give_cpu(UINT64_C(1000000000000)); /* no more than the program had since */
    gsh_wall_time_give_cpu(UINT64_C(1000000000000));
    CHECK(spent_ms(GSH_WALL_PROGRAM) >= 0 && spent_ms(GSH_WALL_CPU) < 1000);
    double sum = 0, wall = (double)(gsh_clock_ns() - begin) * 1e-6;
    for (int part = 0; part < GSH_WALL_PARTS; part++)
        sum += spent_ms((enum gsh_wall_part)part);
    CHECK(fabs(sum - wall) < 1);
}

int main(void)
{
    test_arithmetic();
    test_states();
    test_reasons();
    test_stop_watch();
    return check_result();
}
