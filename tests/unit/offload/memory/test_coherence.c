/* SPDX-License-Identifier: Apache-2.0
 *
 * The state table of coherence.h, transition by transition, observed through residency, page faults and contents.
 */
#include "check.h"
#include "coherence_internal.h"
#include "live.h"

#include <fcntl.h>
#include <unistd.h>

#define COUNT ((int64_t)3 << 20) /* 24 MiB of doubles: 12 chunks */

static double *filled(double value)
{
    double *array = live_doubles(COUNT, GSH_ARENA_HOST);
    for (int64_t k = 0; k < COUNT; k++)
        array[k] = value + (double)k;
    return array;
}

static void check_read_makes_shared(void)
{
    double *a = filled(0), *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    CHECK_INT(gsh_coherence_residency(a), GSH_RESIDENT_HOST);
    CHECK_INT(live_add(a, a, 0, out, COUNT), GSH_REASON_NONE);
    CHECK_INT(gsh_coherence_residency(a), GSH_RESIDENT_SHARED);
    CHECK_INT(gsh_coherence_residency(out), GSH_RESIDENT_DEVICE);
    CHECK(out[5] == 10.0); /* a read fault */
    CHECK_INT(gsh_coherence_residency(out), GSH_RESIDENT_SHARED);
    CHECK_INT(gsh_coherence_residency(out + COUNT - 1), GSH_RESIDENT_DEVICE);
    CHECK(out[COUNT - 1] == 2.0 * (COUNT - 1));
    a[7] = 100; /* a write fault */
    CHECK_INT(gsh_coherence_residency(a), GSH_RESIDENT_HOST);
    CHECK_INT(gsh_coherence_residency(a + COUNT - 1), GSH_RESIDENT_SHARED);
    CHECK_INT(live_add(a, NULL, 1, out, COUNT), GSH_REASON_NONE);
    CHECK(out[7] == 101.0 && out[8] == 9.0);
    gsh_arena_free(a);
    gsh_arena_free(out);
}

static void check_write_fault_on_device_data(void)
{
    double *a = filled(1), *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    CHECK_INT(live_add(a, NULL, 1, out, COUNT), GSH_REASON_NONE);
    out[3] = -1;
    CHECK_INT(gsh_coherence_residency(out), GSH_RESIDENT_HOST);
    CHECK(out[2] == 4.0 && out[3] == -1.0 && out[4] == 6.0);
    CHECK_INT(live_add(out, NULL, 0, a, COUNT), GSH_REASON_NONE);
    CHECK(a[3] == -1.0 && a[4] == 6.0 && a[COUNT - 1] == COUNT + 1.0);
    gsh_arena_free(a);
    gsh_arena_free(out);
}

static void check_fetch_in_one_transfer(void)
{
    double *a = filled(0);
    CHECK_INT(live_add(a, NULL, 1, a, COUNT), GSH_REASON_NONE);
    uint64_t faults = gsh_stats_get(GSH_COUNTER_FAULTS_READ),
             downloads = gsh_stats_get(GSH_COUNTER_DOWNLOADS);
    gsh_coherence_fetch(a, COUNT * sizeof *a, false);
    CHECK(a[0] == 1.0 && a[COUNT - 1] == COUNT);
    CHECK_INT(gsh_stats_get(GSH_COUNTER_FAULTS_READ), faults);
    CHECK_INT(gsh_stats_get(GSH_COUNTER_DOWNLOADS), downloads + 1);
    CHECK_INT(gsh_coherence_residency(a), GSH_RESIDENT_SHARED);
    gsh_coherence_fetch(a, sizeof *a, true);
    CHECK_INT(gsh_coherence_residency(a), GSH_RESIDENT_HOST);
    gsh_arena_free(a);
}

static void check_peek_opens_nothing(void)
{
    double *a = filled(0), element = 0;
    CHECK(!gsh_coherence_peek(&element, &a[1], sizeof element)); /* on the host: not its business */
    CHECK_INT(live_add(a, NULL, 1, a, COUNT), GSH_REASON_NONE);
    CHECK(gsh_coherence_peek(&element, &a[COUNT - 1], sizeof element) && element == COUNT);
    CHECK_INT(gsh_coherence_residency(&a[COUNT - 1]), GSH_RESIDENT_DEVICE);
    CHECK(!gsh_coherence_peek(&element, &element, sizeof element)); /* unmanaged */
    CHECK(a[COUNT - 1] == COUNT);
    CHECK(!gsh_coherence_peek(&element, &a[COUNT - 1], sizeof element)); /* fetched */
    gsh_arena_free(a);
}

static void check_partial_write(void)
{
    double *a = filled(0);
    CHECK_INT(live_add(a + 10, NULL, 5, a + 10, 100), GSH_REASON_NONE);
    CHECK_INT(gsh_coherence_residency(a), GSH_RESIDENT_DEVICE);
    CHECK_INT(gsh_coherence_residency(a + COUNT - 1), GSH_RESIDENT_HOST);
    CHECK(a[9] == 9.0 && a[10] == 15.0 && a[109] == 114.0 && a[110] == 110.0);
    gsh_arena_free(a);
}

static void check_overlap(void)
{
    double *a = filled(0);
    CHECK_INT(live_add(a, NULL, 0, a + 1, COUNT - 1), GSH_REASON_NONE); /* a[1:] = a[:-1] */
    CHECK(a[0] == 0.0 && a[1] == 0.0 && a[2] == 1.0 && a[COUNT - 1] == COUNT - 2.0);
    gsh_arena_free(a);
}

static void check_pins(void)
{
    double *a = filled(0), *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    gsh_coherence_pin(a, 100, true);
    CHECK_INT(live_add(a, NULL, 1, out, COUNT), GSH_REASON_PINNED);
    gsh_coherence_unpin(a, 100, true);
    gsh_coherence_pin(a, 100, false);
    CHECK_INT(live_add(a, NULL, 1, out, COUNT), GSH_REASON_NONE);
    CHECK_INT(live_add(a, NULL, 1, a, COUNT), GSH_REASON_PINNED);
    gsh_coherence_unpin(a, 100, false);
    CHECK_INT(live_add(a, NULL, 1, a, COUNT), GSH_REASON_NONE);
    gsh_arena_free(a);
    gsh_arena_free(out);
}

/* The kernel answers EFAULT where a thread would fault; a pin makes the call work. */
static void check_system_call(void)
{
    double *a = filled(0);
    int file = open("/dev/null", O_WRONLY), pipe_ends[2];
    CHECK(pipe(pipe_ends) == 0);
    CHECK_INT(live_add(a, NULL, 1, a, COUNT), GSH_REASON_NONE);
    CHECK_INT(write(pipe_ends[1], a, 16), -1);
    gsh_coherence_pin(a, 16, false);
    CHECK_INT(write(pipe_ends[1], a, 16), 16);
    gsh_coherence_unpin(a, 16, false);
    double got[2] = {0};
    CHECK(read(pipe_ends[0], got, 16) == 16 && got[0] == 1.0 && got[1] == 2.0);
    close(file);
    gsh_arena_free(a);
}

static void check_sequential_faults(void)
{
    double *a = filled(0);
    CHECK_INT(live_add(a, NULL, 1, a, COUNT), GSH_REASON_NONE);
    uint64_t faults = gsh_stats_get(GSH_COUNTER_FAULTS_READ);
    bool right = true;
    for (int64_t k = 0; k < COUNT; k++)
        right &= a[k] == (double)k + 1.0;
    CHECK(right);
    CHECK_INT(gsh_stats_get(GSH_COUNTER_FAULTS_READ) - faults,
              4); /* 1 + 2 + 4 + 5 chunks of 2 MiB */
    gsh_arena_free(a);
}

static void check_freed_block_stays_closed(void)
{
    double *a = live_doubles(COUNT, GSH_ARENA_DEVICE);
    CHECK_INT(live_add(NULL, NULL, 1, a, COUNT), GSH_REASON_NONE);
    gsh_arena_free(a);
    double *again = live_doubles(COUNT, GSH_ARENA_DEVICE);
    CHECK(again == a);
    again[0] = 4; /* a fault that opens a page nobody wrote */
    CHECK(again[0] == 4.0);
    gsh_arena_free(again);
    double *host = live_doubles(COUNT, GSH_ARENA_HOST);
    memset(host, 0, COUNT * sizeof *host);
    gsh_arena_free(host);
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    check_read_makes_shared();
    check_write_fault_on_device_data();
    check_fetch_in_one_transfer();
    check_peek_opens_nothing();
    check_partial_write();
    check_overlap();
    check_pins();
    check_system_call();
    check_sequential_faults();
    check_freed_block_stays_closed();
    return check_result();
}
