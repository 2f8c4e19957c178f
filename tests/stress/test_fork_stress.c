/* SPDX-License-Identifier: Apache-2.0
 *
 * A process that forks while threads send arrays through the device: every child sees each array
 * whole and as it was at the fork, reads and writes it, and stays off the device; the parent's
 * arrays are unaffected and go on.
 */
#include "check.h"
#include "device.h"
#include "live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, FORKS = 30, COUNT = 400000, MANY = 20000 };

static double *arrays[THREADS];
static _Atomic bool stop;
static _Atomic uint64_t rounds;

/* Every element of an array is raised by one in each round, so all of them are equal whenever
 * nobody is inside a call. */
static void *raise_main(void *argument)
{
    double *array = argument;
    while (!atomic_load(&stop)) {
        if (live_add(array, NULL, 1, array, COUNT) == GSH_REASON_NONE)
            rounds++;
        if (rounds % 7 == 0)
            *(volatile double *)&array[COUNT / 2] += 0; /* fetched for a write */
    }
    return NULL;
}

static bool is_uniform(const double *array)
{
    for (int k = 1; k < COUNT; k++)
        if (array[k] != array[0])
            return false;
    return true;
}

static int child_main(void)
{
    double local = 0;
    for (int k = 0; k < THREADS; k++) {
        if (!is_uniform(arrays[k]))
            return 1;
        local = arrays[k][0];
        for (int j = 0; j < COUNT; j++)
            arrays[k][j] = -1;
        if (!is_uniform(arrays[k]) || local < 0)
            return 2;
    }
    if (gsh_dispatch_is_live() || gsh_device_get_state() != GSH_DEVICE_RETIRED)
        return 3;
    double *fresh = live_doubles(COUNT, GSH_ARENA_HOST);
    if (fresh == NULL)
        return 4;
    fresh[COUNT - 1] = 1;
    gsh_arena_free(fresh);
    gsh_arena_free(arrays[0]);
    return 0;
}

/* More arrays than the budget of mappings: the child opens what it writes by itself. */
static int many_main(double *const *many)
{
    for (int k = 0; k < MANY; k++)
        many[k][0] += 1;
    for (int k = 0; k < MANY; k++)
        if (many[k][0] != 2 * k + 1 || many[k][1] != 2 * k)
            return 5;
    return 0;
}

static void check_many_arrays(void)
{
    static double *many[MANY];
    for (int k = 0; k < MANY; k++) {
        many[k] = live_doubles(2, GSH_ARENA_DEVICE);
        if (many[k] == NULL || live_add(NULL, NULL, k, many[k], 2) != GSH_REASON_NONE)
            many[k] = calloc(2, sizeof(double)), many[k][0] = many[k][1] = 2.0 * k;
    }
    pid_t child = fork();
    if (child == 0)
        _exit(many_main(many));
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    CHECK(many[MANY - 1][0] == 2.0 * (MANY - 1));
}

/* Arrays come and go in a thread that knows nothing of forks. */
static void *come_and_go(void *unused)
{
    enum { HELD = 64 };
    double *held[HELD] = {NULL};
    (void)unused;
    for (unsigned k = 0; !atomic_load(&stop); k = (k + 1) % HELD) {
        if (held[k] != NULL)
            gsh_arena_free(held[k]);
        held[k] = live_doubles(2, GSH_ARENA_HOST);
    }
    for (unsigned k = 0; k < HELD; k++)
        gsh_arena_free(held[k]);
    return NULL;
}

static void check_frees_beside(void)
{
    enum { ROUNDS = 300 };
    pthread_t thread;
    atomic_store(&stop, false);
    pthread_create(&thread, NULL, come_and_go, NULL);
    alarm(100); /* a block that nobody lets go is waited for without end */
    for (int k = 0; k < ROUNDS; k++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    alarm(0);
}

static int fork_once(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(child_main());
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++) {
        arrays[k] = live_doubles(COUNT, GSH_ARENA_ZERO);
        pthread_create(&threads[k], NULL, raise_main, arrays[k]);
    }
    for (int k = 0; k < FORKS; k++)
        CHECK_INT(fork_once(), 0);
    stop = true;
    double sum = 0;
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        CHECK(is_uniform(arrays[k]));
        sum += arrays[k][0];
    }
    CHECK(sum == (double)rounds && rounds > FORKS);
    check_frees_beside();
    check_many_arrays();
    return check_result();
}
