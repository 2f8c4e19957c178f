/* SPDX-License-Identifier: Apache-2.0
 *
 * A BLAS whose number of threads is lowered, put back, and set by the program meanwhile; forks; the device's start, in a process
 * of CORES cores.
 */
#include "blas_threads.h"

#include "host_processors.h"
#include "live.h"

#include <sys/wait.h>

#define CORES 8U

static int threads, sets;

/* Instead of the library's. */
unsigned gsh_host_processors_count(void)
{
    return CORES;
}

static int get_threads(void)
{
    return threads;
}

static void set_threads(int count)
{
    threads = count;
    sets++;
}

/* Number of threads after the start, and while it lasted. */
static int restored_after(int found, int meanwhile, unsigned cores)
{
    threads = found;
    gsh_blas_threads_lower(cores);
    CHECK_INT(threads, meanwhile);
    gsh_blas_threads_restore();
    return threads;
}

static void check_start(void)
{
    CHECK_INT(restored_after(8, 7, CORES), 8);
    CHECK_INT(restored_after(4, 3, 4), 4);
    CHECK_INT(sets, 4);
    CHECK_INT(restored_after(7, 7, CORES), 7);
    CHECK_INT(restored_after(9, 9, CORES), 9);
    CHECK_INT(restored_after(3, 3, 3), 3);
    CHECK_INT(sets, 4);
}

static void check_program_sets(void)
{
    static const int numbers[] = {1, 6, 8, 16};
    for (unsigned k = 0; k < GSH_COUNT(numbers); k++) {
        threads = CORES;
        gsh_blas_threads_lower(CORES);
        threads = numbers[k];
        gsh_blas_threads_restore();
        CHECK_INT(threads, numbers[k]);
    }
}

/* Two threads of ours at once: the number is put back with the last one. */
static void check_two(void)
{
    CHECK(!gsh_blas_threads_are_beside_ours());
    threads = CORES;
    gsh_blas_threads_lower(CORES);
    CHECK_INT(restored_after(threads, CORES - 1, CORES), CORES - 1);
    CHECK(gsh_blas_threads_are_beside_ours());
    gsh_blas_threads_restore();
    CHECK_INT(threads, CORES);
    CHECK(!gsh_blas_threads_are_beside_ours());
}

static int others = CORES;

static int get_others(void)
{
    return others;
}

static void set_others(int count)
{
    others = count;
}

/* Another library that is loaded while a thread of ours works; it is known from then on, and registered once. */
static void check_second_library(void)
{
    const struct gsh_blas_threads second = {get_others, set_others};
    threads = CORES;
    gsh_blas_threads_lower(CORES);
    for (int k = 0; k < 2; k++) {
        gsh_blas_threads_register(&second);
        CHECK_INT(others, CORES - 1);
    }
    gsh_blas_threads_restore();
    CHECK_INT(others, CORES);
    CHECK_INT(threads, CORES);
    gsh_blas_threads_lower(CORES);
    CHECK_INT(others, CORES - 1);
    CHECK_INT(threads, CORES - 1);
    gsh_blas_threads_restore();
    CHECK_INT(others, CORES);
}

static void check_fork(void)
{
    threads = CORES;
    gsh_blas_threads_lower(CORES);
    gsh_blas_threads_prepare_fork();
    CHECK_INT(threads, CORES);
    gsh_blas_threads_leave_fork();
    threads = 7;
    gsh_blas_threads_restore();
    CHECK_INT(threads, 7);
#ifndef __SANITIZE_THREAD__ /* it takes a mutex that is made anew for one that is locked */
    gsh_blas_threads_prepare_fork();
    gsh_blas_threads_reset_after_fork();
    CHECK_INT(restored_after(8, 7, CORES), 8);
#endif
}

/* How often the start of the device sets the number. */
static int sets_of_start(bool waits)
{
    threads = CORES;
    sets = 0;
    gsh_device_start(waits);
    while (gsh_device_get_state() == GSH_DEVICE_STARTING)
        usleep(1000);
    gsh_device_stop_threads();
    CHECK_INT(gsh_device_get_state(), GSH_DEVICE_READY);
    CHECK_INT(threads, CORES);
    return sets;
}

/* The device is started once in a process. */
static void check_device(bool waits, int expected_sets)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        setenv("GPUSHIM_MODE", "auto", 1);
        _exit(live_start() && sets_of_start(waits) == expected_sets ? check_result() : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

int main(void)
{
    const struct gsh_blas_threads functions = {get_threads, set_threads};
    CHECK_INT(restored_after(8, 8, CORES), 8); /* none is registered */
    gsh_blas_threads_register(&functions);
    check_start();
    check_program_sets();
    check_two();
    check_second_library();
    check_fork();
    check_device(true, 0);
    check_device(false, 2);
    return check_result();
}
