/* SPDX-License-Identifier: Apache-2.0
 *
 * The call is priced as one launch that reads all its operands (price.h); its seconds on either side are those of
 * policy/composition_speed.h.
 */
#include "composition.h"

#include "arena.h"
#include "backend.h"
#include "composition_speed.h"
#include "decision_log.h"
#include "device.h"
#include "dispatch.h"
#include "history.h"
#include "one_time_cost.h"
#include "price.h"
#include "readiness.h"
#include "stats.h"

static struct gsh_composition_speed speeds[GSH_STATS_MAX_ROWS];

static struct gsh_composition_speed *speed_of(const struct gsh_composition *composition)
{
    return &speeds[composition->row % GSH_STATS_MAX_ROWS];
}

static double bytes_of(const struct gsh_composition *composition)
{
    double bytes = 0;
    for (unsigned k = 0; k < composition->count; k++)
        bytes += (double)composition->bytes[k];
    return bytes;
}

void gsh_composition_begin(struct gsh_composition *composition, unsigned row)
{
    *composition = (struct gsh_composition){.row = row};
}

bool gsh_composition_add(struct gsh_composition *composition, const void *address, size_t bytes)
{
    if (composition->count == GSH_COMPOSITION_OPERANDS || bytes < 2 || !gsh_arena_contains(address))
        return false;
    composition->addresses[composition->count] = address;
    composition->bytes[composition->count++] = bytes;
    return true;
}

/* A launch that reads each operand's first and last byte: an operand steps in a dimension of its own. */
static void describe(const struct gsh_composition *composition, struct gsh_call *call)
{
    *call = (struct gsh_call){.row = composition->row,
                              .launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                         .op = GSH_OP_COPY,
                                         .loop = GSH_UINT8,
                                         .nin = composition->count,
                                         .ndim = (int)composition->count}};
    for (unsigned k = 0; k < composition->count; k++) {
        call->launch.operands[k] = (struct gsh_operand){
            .dtype = GSH_UINT8, .address = (uint64_t)(uintptr_t)composition->addresses[k]};
        call->launch.shape[k] = 2;
        call->launch.strides[k][k] = (int64_t)composition->bytes[k] - 1;
    }
}

/* The result counts as large as the largest operand, and the host as its next reader. */
static double fetch_seconds(const struct gsh_composition *composition)
{
    size_t most = 0;
    for (unsigned k = 0; k < composition->count; k++)
        most = GSH_MAX(most, composition->bytes[k]);
    return gsh_cost_model_transfer(gsh_backend_rates(), (double)most, true, false);
}

static struct gsh_verdict price(const struct gsh_composition *composition,
                                const struct gsh_call *call, double host)
{
    struct gsh_price_inputs inputs;
    gsh_price_gather(call, &inputs);
    struct gsh_facts facts = gsh_call_cost_facts(inputs.rates, &inputs.cost);
    facts.host = host;
    facts.device = gsh_composition_speed_device(inputs.rates, host);
    facts.fetch = fetch_seconds(composition);
    return gsh_decide(&facts);
}

static void log_decision(const struct gsh_call *call, const struct gsh_verdict *verdict,
                         enum gsh_reason reason)
{
    if (GSH_UNLIKELY(gsh_decision_log_is_on))
        gsh_decision_log_write(call, verdict, reason);
}

/* For the call's operands, which stay on the host for this reason. */
static void note_left(const struct gsh_call *call, const struct gsh_verdict *verdict,
                      enum gsh_reason reason)
{
    bool is_ready = gsh_device_get_state() == GSH_DEVICE_READY;
    if (verdict->reason == GSH_REASON_DATA_ON_HOST)
        gsh_price_note_declined(call, verdict->gain);
    else if (gsh_one_time_cost_expects_residency(reason, is_ready))
        gsh_price_note_foregone(call, verdict->gain);
}

static bool upload(const struct gsh_composition *composition)
{
    bool is_there = true;
    for (unsigned k = 0; k < composition->count && is_there; k++)
        is_there = gsh_dispatch_prefetch(composition->addresses[k], composition->bytes[k]);
    return is_there;
}

enum gsh_reason gsh_composition_decide(struct gsh_composition *composition)
{
    struct gsh_call call;
    composition->host = gsh_composition_speed_host(*speed_of(composition), bytes_of(composition));
    if (composition->host == 0)
        return gsh_device_get_state() == GSH_DEVICE_READY ? GSH_REASON_DATA_ON_HOST
                                                          : GSH_REASON_NOT_STARTED;
    describe(composition, &call);
    const struct gsh_verdict verdict = price(composition, &call, composition->host);
    enum gsh_reason reason = verdict.reason;
    if (reason == GSH_REASON_NONE)
        reason = gsh_readiness_check_start(&call.launch, &verdict);
    if (reason == GSH_REASON_NONE && gsh_history_backs_off(composition->row))
        reason = GSH_REASON_REFUSED_LATELY;
    log_decision(&call, &verdict, reason);
    if (reason != GSH_REASON_NONE) {
        note_left(&call, &verdict, reason);
        return reason;
    }
    gsh_price_note_accepted(&call, &verdict);
    return upload(composition) ? GSH_REASON_NONE : GSH_REASON_MEMORY;
}

void gsh_composition_note_host(const struct gsh_composition *composition, double seconds)
{
    struct gsh_call call;
    struct gsh_composition_speed *speed = speed_of(composition);
    *speed = gsh_composition_speed_after(*speed, bytes_of(composition), seconds);
    if (composition->host > 0)
        return;
    describe(composition, &call);
    const struct gsh_verdict verdict = price(composition, &call, seconds);
    if (verdict.reason == GSH_REASON_NONE)
        gsh_readiness_note_foregone(&call.launch, &verdict);
    note_left(&call, &verdict, GSH_REASON_NOT_STARTED);
    log_decision(&call, &verdict, GSH_REASON_NOT_STARTED);
}

void gsh_composition_note_composed(const struct gsh_composition *composition, bool is_made,
                                   double seconds)
{
    if (!is_made || seconds > composition->host)
        gsh_history_note_refused(composition->row);
    else
        gsh_history_note_made(composition->row);
}
