/* SPDX-License-Identifier: Apache-2.0
 *
 * Until the device is ready, a chain of calls pays for one upload: what a call that gains uses and makes counts as being on the
 * device for the calls after it, until the CPU overwrites it for another reason. A call gains a millisecond here, the upload of
 * an array takes eight.
 */
#include "expected.h"

#include "backend.h"
#include "device.h"
#include "live.h"
#include "readiness.h"

#include <unistd.h>

#define COUNT ((int64_t)1 << 20)
#define BYTES ((double)COUNT * sizeof(double))
#define GAIN 1e-3
#define UPLOAD 8e-3

static struct gsh_rates rates;
static struct gsh_backend backend;

static bool has_mark(const struct gsh_block *block, unsigned chunk)
{
    return gsh_expected_chunks(block) >> chunk & 1;
}

/* Of a call over whole arrays. */
static void set_gain(double seconds)
{
    rates.host_call = seconds - (double)COUNT * gsh_op_info(GSH_OP_ADD)->host_ns * 1e-9;
}

static bool prepare(const char *start_ms)
{
    if (!live_start_auto(start_ms))
        return false;
    backend = *gsh_backend_get();
    backend.calibrates_host = false;
    rates = live_instant_rates();
    set_gain(GAIN);
    rates.host_cached = rates.host_memory = 1e15;
    rates.transfer_pinned = rates.transfer_pageable = BYTES / UPLOAD;
    backend.rates = &rates;
    gsh_backend_replace(&backend);
    return true;
}

static double *new_array(void)
{
    return live_doubles(COUNT, GSH_ARENA_HOST);
}

/* out = a + b by the CPU; `out` NULL: a new array, which is allocated after the decision. */
static enum gsh_reason offer(const double *a, const double *b, double *out)
{
    struct gsh_call call = live_call(GSH_OP_ADD, a, b, 1, out, COUNT);
    call.fresh[0] = out == NULL;
    return gsh_dispatch_decide(&call);
}

/* A call that gains 20 ms. */
static enum gsh_reason offer_long(const double *a, double *out)
{
    set_gain(20 * GAIN);
    enum gsh_reason reason = offer(a, NULL, out);
    set_gain(GAIN);
    return reason;
}

static enum gsh_reason offer_read(const double *a)
{
    return offer(a, NULL, NULL);
}

static bool is_near(double seconds, double expected)
{
    return seconds > expected * 0.999 && seconds < expected * 1.001;
}

/* Inputs and outputs, in place and new ones, and the gains of the calls that use them. */
static int chain(void)
{
    if (!prepare("1000000"))
        return CHECK_SKIP;
    double *a = new_array(), *b = new_array(), *other = new_array();
    CHECK_INT(offer_read(a), GSH_REASON_DATA_ON_HOST);
    CHECK_INT(offer_read(b), GSH_REASON_DATA_ON_HOST);
    CHECK_INT(offer_long(a, b), GSH_REASON_NOT_STARTED);
    CHECK(is_near(gsh_readiness_foregone(), 20 * GAIN - UPLOAD));
    CHECK_INT(offer_read(a), GSH_REASON_NOT_STARTED);
    CHECK_INT(offer(a, b, NULL), GSH_REASON_NOT_STARTED);
    double *sum = new_array(), *unrelated = new_array();
    CHECK_INT(offer(b, sum, sum), GSH_REASON_NOT_STARTED);
    CHECK(is_near(gsh_readiness_foregone(), 23 * GAIN - UPLOAD));
    CHECK(is_near(gsh_readiness_gains(), 23 * GAIN - UPLOAD));
    CHECK_INT(offer_read(other), GSH_REASON_DATA_ON_HOST);
    CHECK_INT(offer_read(unrelated), GSH_REASON_DATA_ON_HOST);
    CHECK_INT(gsh_device_get_state(), GSH_DEVICE_IDLE);
    return check_result();
}

/* A result is expected where the call gains, of its size, by its thread's next call. */
static int results(void)
{
    if (!prepare("1000000"))
        return CHECK_SKIP;
    double *a = new_array(), *b = new_array();
    CHECK_INT(offer_read(b), GSH_REASON_DATA_ON_HOST);
    CHECK_INT(offer_read(new_array()), GSH_REASON_DATA_ON_HOST);
    CHECK_INT(offer_long(a, NULL), GSH_REASON_NOT_STARTED);
    double *larger = live_doubles(COUNT + 1, GSH_ARENA_HOST), *result = new_array();
    CHECK(!has_mark(gsh_arena_find_block(larger), 0));
    CHECK(has_mark(gsh_arena_find_block(result), 0));
    CHECK(has_mark(gsh_arena_find_block(result), 3));
    CHECK_INT(offer_read(a), GSH_REASON_NOT_STARTED);
    CHECK_INT(offer_read(b), GSH_REASON_DATA_ON_HOST);
    CHECK(!has_mark(gsh_arena_find_block(new_array()), 0));
    gsh_arena_free(result);
    CHECK(!has_mark(gsh_arena_find_block(new_array()), 0));
    return check_result();
}

/* The CPU overwrites a part of the array by a call that the device would not do sooner. */
static int overwritten(void)
{
    if (!prepare("1000000"))
        return CHECK_SKIP;
    double *a = new_array();
    const struct gsh_block *block = gsh_arena_find_block(a);
    CHECK_INT(offer_long(a, a), GSH_REASON_NOT_STARTED);
    CHECK_INT(offer_read(a), GSH_REASON_NOT_STARTED);
    rates.device_call = 1;
    struct gsh_call call = live_call(GSH_OP_ADD, NULL, NULL, 1, a + COUNT / 2, COUNT / 2);
    CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_NO_GAIN);
    rates.device_call = 0;
    CHECK_INT(block->chunks, 4);
    for (unsigned chunk = 0; chunk < 4; chunk++)
        CHECK_INT(has_mark(block, chunk), chunk < 2);
    CHECK(block->ledger.debt == 0);
    CHECK_INT(offer_read(a), GSH_REASON_DATA_ON_HOST);
    call.launch.shape[0] = 1 << 16; /* half a chunk of those that would be there */
    call.launch.operands[call.launch.nin].address = (uint64_t)a;
    CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_NOT_STARTED);
    return check_result();
}

/* Calls that lose the upload one by one start the device once they have lost it together. */
static int debt(void)
{
    if (!prepare("20"))
        return CHECK_SKIP;
    rates.start = 1e3;
    double *a = new_array();
    for (int i = 0; i < 8; i++)
        CHECK_INT(offer_read(a), GSH_REASON_DATA_ON_HOST);
    CHECK(gsh_readiness_foregone() == 0);
    for (int i = 0; i < 21; i++)
        CHECK_INT(offer_read(a), GSH_REASON_NOT_STARTED);
    CHECK(is_near(gsh_readiness_foregone(), 20 * GAIN));
    CHECK_INT(gsh_device_get_state(), GSH_DEVICE_IDLE);
    (void)offer_read(a); /* the device may be ready by then */
    CHECK(gsh_device_get_state() != GSH_DEVICE_IDLE);
    return check_result();
}

/* On a ready device nothing is expected; what the calls before have lost pays for the upload. */
static int ready(void)
{
    if (!prepare("1000000"))
        return CHECK_SKIP;
    double *used = new_array(), *made = new_array();
    CHECK_INT(offer_long(used, made), GSH_REASON_NOT_STARTED);
    for (int i = 0; i < 6; i++)
        CHECK_INT(offer_read(made), GSH_REASON_NOT_STARTED);
    gsh_device_start(true);
    CHECK_INT(offer_read(used), GSH_REASON_NONE); /* it has lost 20 ms */
    CHECK(has_mark(gsh_arena_find_block(made), 0));
    CHECK_INT(offer_read(made), GSH_REASON_DATA_ON_HOST); /* 6 ms */
    CHECK_INT(offer_read(made), GSH_REASON_DATA_ON_HOST);
    CHECK_INT(offer_read(made), GSH_REASON_NONE);
    return check_result();
}

/* Each in a process of its own: a device is started once. */
int main(void)
{
    int (*const checks[])(void) = {chain, results, overwritten, debt, ready};
    for (unsigned i = 0; i < GSH_COUNT(checks); i++)
        check_in_child(checks[i]);
    return check_result();
}
