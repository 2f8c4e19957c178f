/* SPDX-License-Identifier: Apache-2.0
 *
 * Deferral: calls run when the host reads a result, in their order, on the bytes at the time of the call. What the
 * device then refuses, the host computes.
 */
#include "backend.h"
#include "block.h"
#include "check.h"
#include "live.h"
#include "node.h"

#include <sys/wait.h>
#include <unistd.h>

#define COUNT ((int64_t)5000)

static double *filled(double value)
{
    double *array = live_doubles(COUNT, GSH_ARENA_HOST);
    for (int64_t i = 0; i < COUNT; i++)
        array[i] = value;
    return array;
}

static void run(enum gsh_op op, double *a, double *b, double constant, double *out, int64_t count)
{
    struct gsh_call call = live_call(op, a, b, constant, out, count);
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
}

static void check_runs_when_looked_at(void)
{
    double *a = filled(1), *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    uint64_t before = live_launches();
    run(GSH_OP_ADD, a, NULL, 1, out, COUNT);
    run(GSH_OP_ADD, out, NULL, 1, out, COUNT);
    CHECK_INT(live_launches(), before);
    CHECK(out[COUNT - 1] == 3.0);
    CHECK(live_launches() > before);
    gsh_arena_free(a);
    gsh_arena_free(out);
}

/* A node reads what its input held when the call was made, whoever writes it afterwards. */
static void check_host_write_between(void)
{
    double *a = filled(1), *out = live_doubles(COUNT, GSH_ARENA_DEVICE),
           *late = live_doubles(COUNT, GSH_ARENA_DEVICE);
    run(GSH_OP_ADD, a, NULL, 1, out, COUNT);
    a[7] = 100;
    run(GSH_OP_ADD, a, NULL, 1, late, COUNT); /* uploads into the value that the first node reads */
    CHECK(out[7] == 2.0 && out[8] == 2.0);
    CHECK(late[7] == 101.0 && late[8] == 2.0);
    gsh_arena_free(a);
    gsh_arena_free(out);
    gsh_arena_free(late);
}

static void check_device_write_between(void)
{
    double *a = filled(1), *out = live_doubles(COUNT, GSH_ARENA_DEVICE),
           *part = live_doubles(COUNT, GSH_ARENA_DEVICE);
    run(GSH_OP_ADD, a, NULL, 1, a, COUNT);    /* 2, all of it */
    run(GSH_OP_ADD, a, NULL, 10, out, COUNT); /* 12 */
    run(GSH_OP_ADD, a, NULL, 5, a, COUNT);    /* 7, all of it: a value of its own */
    run(GSH_OP_ADD, a, NULL, 1, a + 10, 100); /* part: in the same value, in order */
    run(GSH_OP_COPY, a, NULL, 0, part, COUNT);
    run(GSH_OP_ADD, a + 1, NULL, 1, a, COUNT - 1); /* overlaps what it reads */
    CHECK(out[0] == 12.0 && out[50] == 12.0);
    CHECK(part[0] == 7.0 && part[10] == 8.0 && part[109] == 8.0 && part[110] == 7.0);
    CHECK(a[8] == 8.0 && a[9] == 9.0 && a[108] == 9.0 && a[109] == 8.0);
    CHECK(a[COUNT - 1] == 7.0);
    gsh_arena_free(a);
    gsh_arena_free(out);
    gsh_arena_free(part);
}

static void check_limit(void)
{
    double *a = filled(0);
    uint64_t flushes = gsh_stats_get(GSH_COUNTER_FLUSHES);
    for (int k = 0; k < 3 * GSH_NODE_LIMIT; k++)
        run(GSH_OP_ADD, a, NULL, 1, a, COUNT);
    CHECK_INT(gsh_stats_get(GSH_COUNTER_FLUSHES) - flushes, 3);
    CHECK(a[1] == 3.0 * GSH_NODE_LIMIT);
    gsh_arena_free(a);
}

/* Recorded nodes keep freed arrays' values; not more than a part of the device's memory. */
static void check_freed_inputs(void)
{
    double *sum = filled(0);
    for (int k = 0; k < 4000; k++) {
        double *term = filled(k);
        run(GSH_OP_ADD, sum, term, 0, sum, COUNT);
        gsh_arena_free(term);
    }
    CHECK(sum[0] == 3999.0 * 2000.0 && sum[COUNT - 1] == sum[0]);
    gsh_arena_free(sum);
}

static void check_fork(void)
{
    double *a = filled(1);
    run(GSH_OP_ADD, a, NULL, 1, a, COUNT);
    pid_t child = fork();
    if (child == 0)
        _exit(a[0] == 2.0 && a[COUNT - 1] == 2.0 ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(a[0] == 2.0);
    gsh_arena_free(a);
}

/* ---- devices that fail ---- */

static const struct gsh_backend *real;
static struct gsh_backend failing;
static bool runs_fail, memory_fails;

static enum gsh_status run_or_fail(const struct gsh_launch *launch, unsigned row)
{
    return runs_fail ? GSH_FAILED : real->run(launch, row);
}

static enum gsh_status allocate_or_fail(size_t size, uint64_t *address)
{
    return memory_fails ? GSH_FAILED : real->allocate(size, address);
}

/* ---- a device that compiles in the background ---- */

static uint64_t asked_elements, alone_elements;
static int answer; /* of can_split; -1: not asked */
static bool is_compiled;

static bool runs_at_once(const struct gsh_launch *launch)
{
    asked_elements += (uint64_t)gsh_launch_elements(launch);
    return is_compiled;
}

/* The real device waits for its kernel. */
static bool never_split(const void *item)
{
    (void)item;
    return false;
}

static enum gsh_status ask_and_decline(const struct gsh_group *group, unsigned row,
                                       gsh_can_split *can_split, const void *item)
{
    answer = can_split(item);
    return answer ? GSH_DECLINED : real->run_group(group, row, never_split, item);
}

static enum gsh_status run_alone(const struct gsh_launch *launch, unsigned row)
{
    alone_elements += (uint64_t)gsh_launch_elements(launch);
    return real->run(launch, row);
}

/* ((a + 1) * 2 - 3) of `count` elements, of which only the last is looked at. */
static void run_chain(double *a, double *out, int64_t count)
{
    double *sum = live_doubles(count, GSH_ARENA_DEVICE),
           *product = live_doubles(count, GSH_ARENA_DEVICE);
    asked_elements = alone_elements = 0;
    answer = -1;
    run(GSH_OP_ADD, a, NULL, 1, sum, count);
    run(GSH_OP_MULTIPLY, sum, NULL, 2, product, count);
    run(GSH_OP_SUBTRACT, product, NULL, 3, out, count);
    gsh_arena_free(sum);
    gsh_arena_free(product);
    CHECK(out[0] == a[0] * 2 - 1 && out[count - 1] == a[count - 1] * 2 - 1);
}

/* Nodes run one by one where each has its kernel, and where what lies between them finds room. */
static void check_split(void)
{
    enum {
        LARGE = 2500 * 1000
    }; /* four arrays fit the device, but the two between take too much of it */
    static struct gsh_backend compiling;
    double *a = filled(5), *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    compiling = *real;
    compiling.run = run_alone;
    compiling.run_group = ask_and_decline;
    compiling.runs_at_once = runs_at_once;
    gsh_backend_replace(&compiling);
    run_chain(a, out, COUNT);
    CHECK_INT(answer, false);
    CHECK_INT(asked_elements, COUNT); /* one no is enough */
    CHECK_INT(alone_elements, 0);
    is_compiled = true;
    run_chain(a, out, COUNT);
    CHECK_INT(answer, true);
    CHECK_INT(asked_elements, 3 * COUNT);
    CHECK_INT(alone_elements, 3 * COUNT);
    gsh_arena_free(a);
    gsh_arena_free(out);
    a = live_doubles(LARGE, GSH_ARENA_HOST);
    out = live_doubles(LARGE, GSH_ARENA_DEVICE);
    for (int64_t i = 0; i < LARGE; i++)
        a[i] = (double)i;
    run_chain(a, out, LARGE);
    CHECK_INT(answer, false);
    CHECK_INT(alone_elements, 0);
    gsh_arena_free(a);
    gsh_arena_free(out);
    gsh_backend_replace(real);
}

static void check_fallback(void)
{
    double *a = filled(3), *out = live_doubles(COUNT, GSH_ARENA_DEVICE),
           *next = live_doubles(COUNT, GSH_ARENA_DEVICE);
    run(GSH_OP_MULTIPLY, a, a, 0, out, COUNT);
    run(GSH_OP_ADD, out, NULL, 1, out + 10, 100);
    run(GSH_OP_ADD, out, a, 0, next, COUNT);
    runs_fail = true;
    CHECK(next[0] == 12.0 && next[10] == 13.0 && next[109] == 13.0 && next[110] == 12.0);
    runs_fail = false;
    CHECK(out[9] == 9.0 && out[10] == 10.0);
    run(GSH_OP_ADD, out, NULL, 1, out, COUNT);
    run(GSH_OP_ADD, out, NULL, 1, next, COUNT);
    memory_fails = true; /* the new values have no memory: they stay with the host */
    CHECK(next[0] == 11.0 && out[10] == 11.0);
    memory_fails = false;
    run(GSH_OP_ADD, next, out, 1, next,
        COUNT); /* and go to the device when they are needed there */
    CHECK(next[0] == 21.0 && next[10] == 23.0);
    gsh_arena_free(a);
    gsh_arena_free(out);
    gsh_arena_free(next);
}

static enum gsh_status refuse_download(void *dst, uint64_t src, size_t size, bool registered)
{
    (void)dst, (void)src, (void)size, (void)registered;
    return GSH_FAILED;
}

/* Neither the device nor the host can: whoever looks stops the process. */
static void check_lost(void)
{
    double *a = filled(3);
    run(GSH_OP_ADD, a, a, 0, a, COUNT);
    struct gsh_value *value = gsh_arena_find_block(a)->value;
    CHECK(value != NULL && !value->is_poisoned);
    runs_fail = true;
    failing.download = refuse_download;
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    CHECK(value->is_poisoned);
    double first;
    CHECK(!gsh_coherence_peek(&first, a, sizeof first));
    failing.download = real->download;
    runs_fail = false;
    gsh_arena_free(a);
}

/* The service thread may come for calls that have run meanwhile. */
static void check_flush_idle_of_nothing(void)
{
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    gsh_node_flush_idle(gsh_node_oldest());
    CHECK_INT(gsh_node_oldest(), 0);
}

int main(void)
{
    live_defer();
    setenv("GPUSHIM_MEM_LIMIT", "100M", 1);
    if (!live_start())
        return CHECK_SKIP;
    check_runs_when_looked_at();
    check_host_write_between();
    check_device_write_between();
    check_limit();
    check_freed_inputs();
    check_flush_idle_of_nothing();
    check_fork();
    real = gsh_backend_get();
    check_split();
    failing = *real;
    failing.run = run_or_fail;
    failing.allocate = allocate_or_fail;
    gsh_backend_replace(&failing);
    check_fallback();
    check_lost();
    return live_end();
}
