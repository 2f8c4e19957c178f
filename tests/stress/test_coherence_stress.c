/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads add to counters in arena memory with atomic instructions and write them to a pipe while
 * others send the same blocks through the device again and again, in place. No increment may be
 * lost, no reader may see a counter go back. TEST_BUG names a deliberate fault (1 upload before
 * tightening, 2 opening pages before they are filled) which must make this test fail. TEST_SECONDS
 * (default 3) bounds it.
 */
#include "check.h"
#include "clock.h"
#include "coherence_internal.h"
#include "live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { BLOCKS = 6, ADDERS = 2, MOVERS = 2, READERS = 1 };

static _Atomic int64_t *blocks[BLOCKS];
static int64_t counts[BLOCKS] = {1 << 18, 1 << 18, 40000, 100,
                                 3 << 18, 5000}; /* int64 elements: 1 to 3 chunks, and small ones */
static _Atomic bool stop;
static _Atomic uint64_t moved, went_back, io_failed;
static int64_t added[ADDERS][BLOCKS];

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static void *add_main(void *argument)
{
    int64_t *mine = argument;
    uint32_t random = (uint32_t)(uintptr_t)argument;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        unsigned b = next_random(&random) % BLOCKS;
        int64_t place = next_random(&random) % (uint32_t)counts[b];
        for (int64_t k = place; k < GSH_MIN(place + 300, counts[b]); k++, mine[b]++)
            atomic_fetch_add_explicit(&blocks[b][k], 1, memory_order_relaxed);
    }
    return NULL;
}

static struct gsh_call add_zero(int64_t *data, int64_t count)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                       .op = GSH_OP_ADD,
                                       .loop = GSH_INT64,
                                       .nin = 2,
                                       .nout = 1,
                                       .ndim = 1,
                                       .shape = {count}},
                            .row = gsh_stats_row("stress", "ll->l")};
    call.launch.operands[0] = (struct gsh_operand){.dtype = GSH_INT64, .address = (uint64_t)data};
    call.launch.operands[1] = (struct gsh_operand){.dtype = GSH_INT64, .is_constant = true};
    call.launch.operands[2] = call.launch.operands[0];
    call.launch.strides[0][0] = call.launch.strides[2][0] = 8;
    return call;
}

static void *move_main(void *argument)
{
    uint32_t random = (uint32_t)(uintptr_t)argument;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        unsigned b = next_random(&random) % BLOCKS;
        int64_t first = next_random(&random) % 4 == 0 ? counts[b] / 3 : 0;
        struct gsh_call call = add_zero((int64_t *)blocks[b] + first, counts[b] - first);
        enum gsh_reason why = live_run(&call);
        moved += why == GSH_REASON_NONE;
    }
    return NULL;
}

static void *read_main(void *unused)
{
    (void)unused;
    int64_t last[BLOCKS] = {0}, got = 0;
    int ends[2];
    if (pipe(ends) != 0)
        return NULL;
    for (unsigned b = 0; !atomic_load_explicit(&stop, memory_order_relaxed); b = (b + 1) % BLOCKS) {
        int64_t now = atomic_load_explicit(&blocks[b][counts[b] / 2], memory_order_relaxed);
        went_back += now < last[b];
        last[b] = now;
        gsh_coherence_pin(&blocks[b][counts[b] / 2], 8, false);
        bool whole = write(ends[1], (void *)&blocks[b][counts[b] / 2], 8) == 8;
        gsh_coherence_unpin(&blocks[b][counts[b] / 2], 8, false);
        io_failed += !whole || read(ends[0], &got, 8) != 8;
        went_back += got < last[b];
        last[b] = got;
    }
    return NULL;
}

static void run_threads(uint64_t seconds)
{
    pthread_t threads[ADDERS + MOVERS + READERS];
    unsigned count = 0;
    for (unsigned k = 0; k < ADDERS; k++)
        pthread_create(&threads[count++], NULL, add_main, added[k]);
    for (uintptr_t k = 0; k < MOVERS; k++)
        pthread_create(&threads[count++], NULL, move_main, (void *)(k + 1));
    for (unsigned k = 0; k < READERS; k++)
        pthread_create(&threads[count++], NULL, read_main, NULL);
    uint64_t end = gsh_clock_ns() + seconds * UINT64_C(1000000000);
    while (gsh_clock_ns() < end)
        usleep(10000);
    stop = true;
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    const char *bug = getenv("TEST_BUG"), *seconds = getenv("TEST_SECONDS");
    gsh_coherence_injected_bug = bug == NULL ? GSH_BUG_NONE : (enum gsh_coherence_bug)atoi(bug);
    for (unsigned b = 0; b < BLOCKS; b++)
        blocks[b] = gsh_arena_allocate((size_t)counts[b] * 8, GSH_ARENA_ZERO);
    run_threads(seconds == NULL ? 3 : (uint64_t)atoi(seconds));
    for (unsigned b = 0; b < BLOCKS; b++) {
        int64_t sum = 0, expected = 0;
        for (int64_t k = 0; k < counts[b]; k++)
            sum += blocks[b][k];
        for (unsigned k = 0; k < ADDERS; k++)
            expected += added[k][b];
        CHECK_INT(sum, expected);
        CHECK(expected > 0);
    }
    CHECK(moved > 100);
    CHECK_INT(went_back, 0);
    CHECK_INT(io_failed, 0);
    printf("%llu calls on the device, %llu + %llu faults\n", (unsigned long long)moved,
           (unsigned long long)gsh_stats_get(GSH_COUNTER_FAULTS_READ),
           (unsigned long long)gsh_stats_get(GSH_COUNTER_FAULTS_WRITE));
    return check_result();
}
