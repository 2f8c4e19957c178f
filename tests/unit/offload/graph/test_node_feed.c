/* SPDX-License-Identifier: Apache-2.0
 *
 * Feeding the device while the program goes on: calls are recorded while a launch is in flight, whoever looks at a result ends the
 * batch, and random programs beside a thread that feeds without a pause leave the right bytes, also where the device refuses.
 */
#include "backend.h"
#include "check.h"
#include "dispatch_lock.h"
#include "live.h"
#include "node.h"
#include "node_program.h"
#include "thread.h"

#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 3000, GATE_MS = 3000 };

static const struct gsh_backend *below;

/* ---- a device whose launches wait at a gate ---- */

static _Atomic bool is_gated, is_open, is_at_gate, was_late;

/* Waits until the program opens the gate; a program that is kept from it never does. */
static void pass_gate(void)
{
    if (!atomic_load(&is_gated))
        return;
    atomic_store(&is_at_gate, true);
    for (int ms = 0; !atomic_load(&is_open); ms++) {
        if (ms == GATE_MS) {
            atomic_store(&was_late, true);
            break;
        }
        usleep(1000);
    }
    atomic_store(&is_gated, false);
}

static enum gsh_status run_gated(const struct gsh_launch *launch, unsigned row)
{
    pass_gate();
    return below->run(launch, row);
}

static enum gsh_status run_group_gated(const struct gsh_group *group, unsigned row,
                                       gsh_can_split *can_split, const void *item)
{
    pass_gate();
    return below->run_group(group, row, can_split, item);
}

/* ---- the feeder ---- */

static _Atomic bool feeds;

static void *feed(void *unused)
{
    (void)unused;
    while (atomic_load(&feeds)) {
        uint64_t oldest = gsh_node_oldest();
        if (oldest != 0)
            gsh_node_flush_idle(oldest);
        sched_yield();
    }
    return NULL;
}

static pthread_t start_feeder(void)
{
    pthread_t feeder;
    atomic_store(&feeds, true);
    CHECK(gsh_thread_start_joinable(&feeder, feed, NULL));
    return feeder;
}

static void stop_feeder(pthread_t feeder)
{
    atomic_store(&feeds, false);
    pthread_join(feeder, NULL);
}

/* What is pending goes to the device, whose first launch then stands at the gate. */
static pthread_t feed_up_to_gate(void)
{
    atomic_store(&is_open, false);
    atomic_store(&is_at_gate, false);
    atomic_store(&is_gated, true);
    pthread_t feeder = start_feeder();
    for (int ms = 0; ms < GATE_MS && !atomic_load(&is_at_gate); ms++)
        usleep(1000);
    CHECK(atomic_load(&is_at_gate));
    return feeder;
}

/* ---- at the gate ---- */

static double *computed(double value)
{
    double *array = live_doubles(COUNT, GSH_ARENA_HOST);
    for (int64_t i = 0; i < COUNT; i++)
        array[i] = value;
    CHECK_INT(live_add(array, NULL, 1, array, COUNT), GSH_REASON_NONE);
    return array;
}

static bool is_all(const double *array, double value)
{
    bool is = true;
    for (int64_t i = 0; i < COUNT; i++)
        is &= array[i] == value;
    return is;
}

static void check_records_beside_launch(void)
{
    enum { CALLS = 40 };
    double *a = computed(1), *outs[CALLS];
    pthread_t feeder = feed_up_to_gate();
    for (int k = 0; k < CALLS; k++) {
        outs[k] = live_doubles(COUNT, GSH_ARENA_DEVICE);
        CHECK_INT(live_add(a, NULL, k, outs[k], COUNT), GSH_REASON_NONE);
        if (k % 4 == 3)
            gsh_arena_free(outs[k]);
    }
    CHECK(gsh_dispatch_lock_is_launching());
    CHECK(!atomic_load(&was_late));
    atomic_store(&is_open, true);
    for (int k = 0; k < CALLS; k++)
        if (k % 4 != 3) {
            CHECK(is_all(outs[k], 2.0 + k));
            gsh_arena_free(outs[k]);
        }
    stop_feeder(feeder);
    CHECK(is_all(a, 2));
    gsh_arena_free(a);
}

/* The value that the batch overwrites in part, or reads, gets its next users while the launch is in flight. */
static void check_follows_launch(void)
{
    double *a = computed(1), *b = live_doubles(COUNT, GSH_ARENA_DEVICE);
    pthread_t feeder = feed_up_to_gate();
    CHECK_INT(live_add(a, NULL, 1, a, COUNT), GSH_REASON_NONE); /* 3 */
    CHECK_INT(live_add(a, NULL, 10, a, COUNT / 2), GSH_REASON_NONE);
    CHECK_INT(live_add(a, NULL, 0, b, COUNT), GSH_REASON_NONE);
    gsh_arena_free(a);
    CHECK(!atomic_load(&was_late));
    atomic_store(&is_open, true);
    CHECK(b[0] == 13.0 && b[COUNT / 2] == 3.0 && b[COUNT - 1] == 3.0);
    stop_feeder(feeder);
    gsh_arena_free(b);
}

/* A loop, which is cut into pieces. What later pieces write is read by calls that are recorded while the first one is launched,
 * and then by nothing else. */
static void check_later_pieces(void)
{
    enum { ITERATIONS = 80 };
    double *x = computed(0), *kept[ITERATIONS], *outs[ITERATIONS];
    for (int k = 0; k < ITERATIONS; k++) {
        kept[k] = live_doubles(COUNT, GSH_ARENA_DEVICE);
        CHECK_INT(live_add(x, NULL, 1, x, COUNT), GSH_REASON_NONE);
        CHECK_INT(live_add(x, NULL, 0.5, kept[k], COUNT), GSH_REASON_NONE);
    }
    pthread_t feeder = feed_up_to_gate();
    for (int k = 0; k < ITERATIONS; k++) {
        outs[k] = live_doubles(COUNT, GSH_ARENA_DEVICE);
        CHECK_INT(live_add(kept[k], NULL, 1, outs[k], COUNT), GSH_REASON_NONE);
        gsh_arena_free(kept[k]);
    }
    CHECK(!atomic_load(&was_late));
    atomic_store(&is_open, true);
    for (int k = 0; k < ITERATIONS; k++) {
        CHECK(is_all(outs[k], k + 3.5));
        gsh_arena_free(outs[k]);
    }
    stop_feeder(feeder);
    gsh_arena_free(x);
}

static void *open_soon(void *unused)
{
    (void)unused;
    usleep(30000);
    atomic_store(&is_open, true);
    return NULL;
}

/* A page fault, a fetch in bulk, an upload and a fork wait for the launch in flight, and end its batch. */
static void check_waits(unsigned what)
{
    double *a = computed(1), *b = computed(5), *fresh = live_doubles(COUNT, GSH_ARENA_HOST);
    int status = 0;
    for (int64_t i = 0; i < COUNT; i++)
        fresh[i] = 7;
    pthread_t opener, feeder = feed_up_to_gate();
    CHECK(gsh_thread_start_joinable(&opener, open_soon, NULL));
    if (what == 0) {
        CHECK(b[COUNT - 1] == 6.0);
    } else if (what == 1) {
        gsh_coherence_fetch(b, COUNT * sizeof *b, true);
        b[0] = 6;
    } else if (what == 2) {
        CHECK_INT(live_add(fresh, NULL, 1, fresh, COUNT), GSH_REASON_NONE);
        CHECK(is_all(fresh, 8));
    } else {
        pid_t child = fork();
        if (child == 0)
            _exit(is_all(a, 2) && is_all(b, 6) ? 0 : 1);
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    CHECK(atomic_load(&is_open) && !atomic_load(&was_late));
    CHECK(is_all(a, 2) && is_all(b, 6));
    stop_feeder(feeder);
    pthread_join(opener, NULL);
    gsh_arena_free(a);
    gsh_arena_free(b);
    gsh_arena_free(fresh);
}

/* What is freed while a launch is in flight goes back to the device later. */
static void check_gives_back(void)
{
    size_t before = 0, after = 0, total = 0;
    gsh_dispatch_synchronize();
    below->memory(&before, &total);
    double *a = computed(1);
    pthread_t feeder = feed_up_to_gate();
    gsh_arena_free(a);
    for (int k = 0; k < 10; k++) {
        double *b = live_doubles(COUNT, GSH_ARENA_DEVICE);
        struct gsh_call call = live_call(GSH_OP_COPY, NULL, NULL, k, b, COUNT);
        CHECK_INT(live_run(&call), GSH_REASON_NONE);
        gsh_arena_free(b);
    }
    atomic_store(&is_open, true);
    stop_feeder(feeder);
    gsh_dispatch_synchronize();
    below->memory(&after, &total);
    CHECK_INT(after, before);
}

/* ---- random programs ---- */

enum { SLOTS = 12, SIZE = 500 };

static struct slot {
    double *array;
    double expected[SIZE];
} slots[SLOTS];

static uint32_t state, device_state; /* the program's, and whose the device is */
static unsigned declined, refused, beside;

/* Some launches take as long as several calls. */
static void take_time(void)
{
    if (node_program_pick(&device_state, 8) == 0)
        usleep(200);
}

static enum gsh_status run_hostile(const struct gsh_launch *launch, unsigned row)
{
    take_time();
    if (node_program_pick(&device_state, 50) != 0)
        return below->run(launch, row);
    refused++;
    return GSH_FAILED;
}

static enum gsh_status run_group_hostile(const struct gsh_group *group, unsigned row,
                                         gsh_can_split *can_split, const void *item)
{
    take_time();
    if (node_program_pick(&device_state, 4) != 0)
        return below->run_group(group, row, can_split, item);
    declined++;
    return can_split != NULL && can_split(item) ? GSH_DECLINED : GSH_FAILED;
}

static void fill(struct slot *slot)
{
    double value = node_program_pick(&state, 9);
    slot->array = node_program_array(value, slot->expected, SIZE);
}

/* Small whole numbers; a part of an array, or all of it, often into a fresh one in place of the output, which is freed. */
static void compute(void)
{
    enum gsh_op op = node_program_op(&state);
    struct slot *a = &slots[node_program_pick(&state, SLOTS)],
                *b = &slots[node_program_pick(&state, SLOTS)],
                *out = &slots[node_program_pick(&state, SLOTS)];
    bool is_part = node_program_pick(&state, 5) == 0,
         is_fresh = !is_part && node_program_pick(&state, 3) != 0,
         has_constant = op == GSH_OP_ADD || node_program_pick(&state, 2) == 0;
    unsigned first = is_part ? node_program_pick(&state, SIZE - 100) : 0,
             count = is_part ? 1 + node_program_pick(&state, 99) : SIZE;
    double constant = node_program_pick(&state, 9) - 4.0, results[SIZE],
           *to = is_fresh ? live_doubles(SIZE, GSH_ARENA_DEVICE) : out->array;
    struct gsh_call call = live_call(op, a->array + first, has_constant ? NULL : b->array + first,
                                     constant, to + first, count);
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    beside += gsh_dispatch_lock_is_launching();
    node_program_compute(op, &a->expected[first], has_constant ? NULL : &b->expected[first],
                         constant, results, count);
    memcpy(&out->expected[first], results, count * sizeof results[0]);
    if (is_fresh) {
        gsh_arena_free(out->array);
        out->array = to;
    }
}

static void check_slot(struct slot *slot)
{
    bool is_right = true;
    for (unsigned i = 0; i < SIZE; i++)
        is_right &= slot->array[i] == slot->expected[i];
    CHECK(is_right);
}

static void touch(void)
{
    struct slot *slot = &slots[node_program_pick(&state, SLOTS)];
    unsigned i = node_program_pick(&state, SIZE);
    if (node_program_pick(&state, 2) == 0)
        slot->array[i] = slot->expected[i] = node_program_pick(&state, 9);
    else
        CHECK(slot->array[i] == slot->expected[i]);
    if (node_program_pick(&state, 4) == 0)
        gsh_dispatch_synchronize();
}

static void check_random(uint32_t seed, unsigned steps)
{
    pthread_t feeder = start_feeder();
    state = seed;
    for (unsigned s = 0; s < SLOTS; s++)
        fill(&slots[s]);
    for (unsigned step = 0; step < steps; step++) {
        if (node_program_pick(&state, 40) != 0)
            compute();
        else
            touch();
        if (step % 8 == 7)
            usleep(50); /* a pause, which lets the feeder begin */
    }
    for (unsigned s = 0; s < SLOTS; s++) {
        check_slot(&slots[s]);
        gsh_arena_free(slots[s].array);
    }
    stop_feeder(feeder);
}

/* ---- fed by the service thread ---- */

enum { SLOW_LAUNCHES = 20, SLOW_MS = 40 };

static _Atomic bool is_slow;
static _Atomic unsigned slow_launches;

static enum gsh_status run_slowly(const struct gsh_launch *launch, unsigned row)
{
    if (atomic_load(&is_slow)) {
        slow_launches++;
        usleep(1000 * SLOW_MS);
    }
    return below->run(launch, row);
}

static enum gsh_status run_group_slowly(const struct gsh_group *group, unsigned row,
                                        gsh_can_split *can_split, const void *item)
{
    if (atomic_load(&is_slow)) {
        slow_launches++;
        usleep(1000 * SLOW_MS);
    }
    return below->run_group(group, row, can_split, item);
}

/* A page fault on what the batch does not write waits for one launch of it; what is left of the batch runs later. */
static void check_fault_beside_batch(void)
{
    double *other = computed(1), *arrays[SLOW_LAUNCHES];
    for (int k = 0; k < SLOW_LAUNCHES; k++)
        arrays[k] = live_doubles(COUNT + 16 * k, GSH_ARENA_HOST);
    for (int k = 0; k < SLOW_LAUNCHES; k++) {
        arrays[k][0] = k;
        CHECK_INT(live_add(arrays[k], NULL, 1, arrays[k], COUNT + 16 * k), GSH_REASON_NONE);
    }
    gsh_dispatch_synchronize();
    atomic_store(&is_slow, true);
    for (int k = 0; k < SLOW_LAUNCHES; k++)
        CHECK_INT(live_add(arrays[k], NULL, 1, arrays[k], COUNT + 16 * k), GSH_REASON_NONE);
    for (int ms = 0; ms < GATE_MS && atomic_load(&slow_launches) == 0; ms++)
        usleep(1000);
    unsigned before = atomic_load(&slow_launches);
    CHECK(before > 0);
    CHECK(other[COUNT - 1] == 2.0);
    CHECK(atomic_load(&slow_launches) < before + SLOW_LAUNCHES / 2);
    for (int ms = 0; ms < GATE_MS && gsh_node_oldest() != 0; ms++)
        usleep(1000);
    CHECK_INT(gsh_node_oldest(), 0);
    atomic_store(&is_slow, false);
    for (int k = 0; k < SLOW_LAUNCHES; k++) {
        CHECK(arrays[k][0] == k + 2.0);
        gsh_arena_free(arrays[k]);
    }
    gsh_arena_free(other);
}

static int run_fed(void)
{
    setenv("GPUSHIM_FUSION", "1", 1);
    setenv("GPUSHIM_FEED_MS", "1", 1);
    if (!live_start())
        return CHECK_SKIP;
    below = gsh_backend_get();
    struct gsh_backend slow = *below;
    slow.run = run_slowly;
    slow.run_group = run_group_slowly;
    gsh_backend_replace(&slow);
    check_fault_beside_batch();
    gsh_backend_replace(below);
    return live_end();
}

int main(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int result = run_fed();
        fflush(stdout);
        _exit(result);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == CHECK_SKIP);
    live_defer(); /* the service thread does not feed */
    if (!live_start())
        return CHECK_SKIP;
    below = gsh_backend_get();
    struct gsh_backend gated = *below, hostile = *below;
    gated.run = run_gated;
    gated.run_group = run_group_gated;
    gsh_backend_replace(&gated);
    check_records_beside_launch();
    check_follows_launch();
    check_later_pieces();
    for (unsigned what = 0; what < 4; what++)
        check_waits(what);
    check_gives_back();
    hostile.run = run_hostile;
    hostile.run_group = run_group_hostile;
    gsh_backend_replace(&hostile);
    const bool compiles = below->runs_at_once != NULL;
    for (uint32_t seed = 1; seed <= (compiles ? 1 : 10); seed++)
        check_random(seed, 1000);
    gsh_backend_replace(below);
    printf("declined %u, refused %u, beside a launch %u\n", declined, refused, beside);
    CHECK(declined > 0 && refused > 0 && beside > 0);
    return live_end();
}
