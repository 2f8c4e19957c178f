/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs whose arrays are freed during a flush, as a thread frees them during the service thread's flush, on
 * a device that declines groups and refuses work at random. Every live array holds the right bytes.
 */
#include "backend.h"
#include "check.h"
#include "expiring.h"
#include "live.h"
#include "node.h"
#include "node_program.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 14, COUNT = 700 };

static struct slot {
    double *array; /* NULL: freed meanwhile */
    double expected[COUNT];
    bool is_doomed;       /* to be freed meanwhile */
    _Atomic bool is_busy; /* an operand of the call being made, whose blocks its thread holds */
} slots[SLOTS];

static const struct gsh_backend *below;
static uint32_t state;
static unsigned freed, declined, refused;

static unsigned pick(unsigned bound)
{
    return node_program_pick(&state, bound);
}

/* ---- the device ---- */

static void meanwhile(void)
{
    struct slot *slot = &slots[pick(SLOTS)];
    if (slot->array == NULL || !slot->is_doomed || slot->is_busy)
        return;
    gsh_arena_free(slot->array);
    slot->array = NULL;
    freed++;
}

static enum gsh_status allocate(size_t size, uint64_t *address)
{
    meanwhile();
    return below->allocate(size, address);
}

static enum gsh_status run(const struct gsh_launch *launch, unsigned row)
{
    meanwhile();
    if (pick(50) != 0)
        return below->run(launch, row);
    refused++;
    return GSH_FAILED;
}

static enum gsh_status run_group(const struct gsh_group *group, unsigned row,
                                 gsh_can_split *can_split, const void *item)
{
    meanwhile();
    meanwhile();
    if (pick(3) != 0)
        return below->run_group(group, row, can_split, item);
    declined++;
    return can_split != NULL && can_split(item) ? GSH_DECLINED : GSH_FAILED;
}

/* ---- the program ---- */

static void fill(struct slot *slot)
{
    double value = pick(9);
    slot->array = node_program_array(value, slot->expected, COUNT);
    slot->is_doomed = pick(2) == 0;
}

static struct slot *pick_slot(void)
{
    struct slot *slot = &slots[pick(SLOTS)];
    if (slot->array == NULL)
        fill(slot);
    return slot;
}

/* Small whole numbers. Often a fresh array takes the output's place, whose own one is freed. */
static void compute(void)
{
    enum gsh_op op = node_program_op(&state);
    struct slot *a = pick_slot(), *b = pick_slot(), *out = pick_slot();
    double constant = pick(9) - 4.0, results[COUNT], *old = NULL;
    bool has_constant = op == GSH_OP_ADD || pick(2) == 0, is_part = pick(6) == 0;
    unsigned first = is_part ? pick(COUNT - 100) : 0, count = is_part ? 1 + pick(99) : COUNT;
    a->is_busy = b->is_busy = out->is_busy = true;
    double *to = out->array;
    if (!is_part && pick(3) != 0) {
        old = out->array;
        to = live_doubles(COUNT, GSH_ARENA_DEVICE);
    }
    struct gsh_call call = live_call(op, a->array + first, has_constant ? NULL : b->array + first,
                                     constant, to + first, count);
    enum gsh_reason why = live_run(&call);
    CHECK(why == GSH_REASON_NONE || why == GSH_REASON_MEMORY);
    node_program_compute(op, &a->expected[first], has_constant ? NULL : &b->expected[first],
                         constant, results, count);
    memcpy(&out->expected[first], results, count * sizeof results[0]);
    for (unsigned i = 0; i < count && why != GSH_REASON_NONE; i++)
        to[first + i] = results[i];
    if (old != NULL) {
        gsh_arena_free(old);
        out->array = to;
        out->is_doomed = pick(2) == 0;
    }
    a->is_busy = b->is_busy = out->is_busy = false;
}

static void sum_one(void)
{
    struct slot *a = pick_slot();
    double expected = 0, seen = 0, *total = live_doubles(1, GSH_ARENA_DEVICE);
    struct gsh_call call = live_sum(a->array, COUNT, 1, total);
    a->is_busy = true;
    call.is_read_next = true;
    call.expiring = (uint8_t)pick(GSH_EXPIRING_CALL_SITES + 1); /* a guess */
    enum gsh_reason why = live_run(&call);
    CHECK(why == GSH_REASON_NONE || why == GSH_REASON_MEMORY);
    for (unsigned i = 0; i < COUNT; i++)
        expected += a->expected[i];
    a->is_busy = false;
    if (why == GSH_REASON_NONE) {
        CHECK(gsh_coherence_peek(&seen, total, sizeof seen) && seen == expected);
    }
    gsh_arena_free(total);
}

static void touch_one(void)
{
    struct slot *a = pick_slot();
    unsigned i = pick(COUNT);
    a->is_busy = true;
    if (pick(3) == 0)
        a->array[i] = a->expected[i] = pick(9);
    else
        CHECK(a->array[i] == a->expected[i]);
    a->is_busy = false;
    if (pick(4) == 0)
        gsh_dispatch_synchronize();
}

static void check_all(void)
{
    for (unsigned s = 0; s < SLOTS; s++) {
        struct slot *slot = &slots[s];
        bool is_right = true;
        slot->is_busy = true;
        for (unsigned i = 0; i < COUNT && slot->array != NULL; i++)
            is_right &= slot->array[i] == slot->expected[i];
        slot->is_busy = false;
        CHECK(is_right);
    }
}

static void run_program(uint32_t seed, unsigned steps)
{
    state = seed;
    for (unsigned step = 0; step < steps; step++) {
        unsigned what = pick(12);
        if (what < 9)
            compute();
        else if (what < 10)
            sum_one();
        else
            touch_one();
        if (step % 200 == 199)
            check_all();
    }
    check_all();
}

static int run_programs(void)
{
    if (!live_start())
        return CHECK_SKIP;
    below = gsh_backend_get();
    struct gsh_backend hostile = *below;
    hostile.allocate = allocate;
    hostile.run = run;
    hostile.run_group = run_group;
    gsh_backend_replace(&hostile);
    /* Each group of another structure is a kernel, which takes some of the backends 0.1 s to compile. */
    const bool compiles = below->runs_at_once != NULL;
    const unsigned programs = compiles ? 1 : 20, steps = compiles ? 2000 : 1000;
    for (uint32_t seed = 1; seed <= programs; seed++)
        run_program(seed, steps);
    gsh_backend_replace(below);
    const unsigned all = programs * steps;
    printf("freed %u, declined %u, refused %u, of %u\n", freed, declined, refused, all);
    CHECK(freed > all / 50 && declined > all / 100 && refused > all / 500);
    bool is_short = gsh_option_number(GSH_OPTION_MEM_LIMIT) != 0;
    CHECK(!is_short || gsh_stats_get(GSH_COUNTER_EVICTIONS) > all / 50);
    return live_end();
}

/* Another process has memory for less than what lives. */
int main(void)
{
    live_defer();
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        char limit[32];
        snprintf(limit, sizeof limit, "%zu", (SLOTS - 3) * COUNT * sizeof(double));
        setenv("GPUSHIM_MEM_LIMIT", limit, 1);
        int result = run_programs();
        fflush(stdout);
        _exit(result);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == CHECK_SKIP);
    return run_programs();
}
