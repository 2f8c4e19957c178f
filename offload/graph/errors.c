/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of places, one for each armed launch in turn. A place is taken again only after it has been read. If the
 * program makes no download during a round of the ring, one wait for the device allows the places to be read. Errors
 * found move to a queue of reports. When it is full, further reports are dropped; reports that no call waits for are
 * dropped somewhat earlier.
 */
#include "errors.h"

#include "backend.h"
#include "lock.h"
#include "value.h"

#include <stdatomic.h>
#include <string.h>

#define PLACES 4096
#define REPORTS 4096
#define RESERVED 512 /* of them, for calls that wait for their report */

/* The description of an armed launch. */
struct armed {
    enum gsh_launch_kind kind;
    int row; /* enum gsh_op or gsh_reduction */
    enum gsh_dtype loop;
    unsigned nin, nout;
    enum gsh_dtype dtypes[GSH_MAX_OPERANDS];
    struct gsh_error_request request;
    uint64_t source; /* of the launch whose place is read: its own, or an equal one's */
};

/* The errors that a launch has raised, until they are fetched. */
struct kept {
    struct armed entry;
    uint64_t sequence;
    bool found[GSH_ERROR_KINDS];
    union gsh_scalar inputs[GSH_ERROR_KINDS][GSH_MAX_INPUTS];
};

static struct gsh_lock errors_lock = GSH_LOCK_INITIALIZER(GSH_RANK_ERRORS);
static struct armed armed[PLACES];                    /* by sequence modulo PLACES */
static struct gsh_errors_found *places;               /* by the same index; written by kernels */
static const volatile struct gsh_errors_found *found; /* the same, once everything is allocated */
static uint64_t found_device, claims_device;          /* device addresses */
static _Atomic uint64_t last_armed;                   /* written under the DISPATCH lock */
static _Atomic uint64_t last_submitted;
static _Atomic uint64_t last_read;   /* written under the ERRORS lock */
static struct kept reports[REPORTS]; /* oldest first, from first_report on; ERRORS lock */
static unsigned first_report;
static _Atomic unsigned report_count;
static _Thread_local uint64_t own_sequence; /* of the last launch armed by this thread */
static _Atomic bool has_news;
static void (*on_found)(void);

/* Integer loops divide by zero and overflow in a quotient; their other operations wrap silently. */
static unsigned kinds_of_op(enum gsh_op op, enum gsh_dtype loop)
{
    unsigned flags = gsh_op_info(op)->flags, kinds = 0;
    kinds |= flags & GSH_MAY_POLE ? 1u << GSH_ERROR_POLE : 0;
    kinds |= flags & GSH_MAY_OVERFLOW ? 1u << GSH_ERROR_OVERFLOW : 0;
    kinds |= flags & GSH_MAY_INVALID ? 1u << GSH_ERROR_INVALID : 0;
    bool is_inexact = gsh_dtype_kind(loop) == 'f' || gsh_dtype_kind(loop) == 'c';
    return is_inexact || (flags & GSH_MAY_POLE) ? kinds : 0;
}

static unsigned kinds_of_cast(enum gsh_dtype from, enum gsh_dtype to)
{
    bool is_integer = gsh_dtype_kind(to) == 'i' || gsh_dtype_kind(to) == 'u';
    if (!gsh_dtype_cast_may_fail(from, to))
        return 0;
    return 1u << (is_integer ? GSH_ERROR_INVALID : GSH_ERROR_OVERFLOW);
}

static unsigned kinds_of_casts(const struct gsh_launch *launch)
{
    unsigned kinds = 0;
    for (unsigned j = 0; j < launch->nout; j++) {
        enum gsh_dtype from = gsh_launch_result_dtype(launch, j);
        enum gsh_dtype to = launch->operands[launch->nin + j].dtype;
        kinds |= from == to ? 0 : kinds_of_cast(from, to);
    }
    return kinds;
}

bool gsh_errors_has_risky_cast(const struct gsh_launch *launch)
{
    bool is_copy = gsh_launch_has(launch, GSH_TRAIT_MAPS) && launch->op == GSH_OP_COPY;
    if (gsh_launch_is_batch(launch) || is_copy)
        return false;
    for (unsigned k = 0; k < launch->nin; k++) {
        enum gsh_dtype from = launch->operands[k].dtype;
        enum gsh_dtype to = gsh_launch_input_dtype(launch, k);
        if (from != to && kinds_of_cast(from, to) != 0)
            return true;
    }
    return gsh_launch_has(launch, GSH_TRAIT_JOINS) && kinds_of_casts(launch) != 0;
}

static unsigned possible_none(const struct gsh_launch *launch)
{
    (void)launch;
    return 0;
}

static unsigned possible_elementwise(const struct gsh_launch *launch)
{
    const struct gsh_operand *from = &launch->operands[0], *to = &launch->operands[1];
    if (launch->op != GSH_OP_COPY)
        return kinds_of_op(launch->op, launch->loop) | kinds_of_casts(launch);
    return from->is_constant || from->dtype == to->dtype ? 0
                                                         : kinds_of_cast(from->dtype, to->dtype);
}

static unsigned possible_joined(const struct gsh_launch *launch)
{
    const struct gsh_reduction_info *info = gsh_reduction_info(launch->reduction);
    return info->result == GSH_RESULT_SAME ? kinds_of_op(info->combine, launch->loop) : 0;
}

static unsigned possible_combined(const struct gsh_launch *launch)
{
    return kinds_of_op(launch->op, launch->loop);
}

unsigned gsh_errors_possible(const struct gsh_launch *launch)
{
    static unsigned (*const possible[])(const struct gsh_launch *launch) = {
#define X(kind, dtypes, errors, ...) [GSH_LAUNCH_##kind] = possible_##errors,
#include "launch_kinds.def"
#undef X
    };
    return possible[launch->kind](launch);
}

void gsh_errors_on_found(void (*notify)(void))
{
    on_found = notify;
}

void gsh_errors_note_submitted_locked(void)
{
    atomic_store_explicit(&last_submitted, last_armed, memory_order_release);
}

void gsh_errors_note_submitted_before_locked(uint64_t sequence)
{
    atomic_store_explicit(&last_submitted, sequence - 1, memory_order_release);
}

uint64_t gsh_errors_submitted(void)
{
    return atomic_load_explicit(&last_submitted, memory_order_acquire);
}

bool gsh_errors_is_pending(void)
{
    return atomic_load_explicit(&last_armed, memory_order_acquire) !=
           atomic_load_explicit(&last_read, memory_order_acquire);
}

/* Maps the places, once. */
static bool map_places(void)
{
    const struct gsh_backend *backend = gsh_backend_get();
    static struct gsh_errors_found own[PLACES];
    static bool failed;
    if (places == NULL && !failed) {
        places = own;
        found_device = (uint64_t)own;
        if (backend->map_host != NULL)
            places = backend->map_host(sizeof own, &found_device);
        failed = places == NULL;
    }
    return !failed;
}

/* The claims are a value, so that other values are evicted to make room. Where that fails, a later attempt may find
 * memory. */
static bool open_places(void)
{
    const size_t size = (size_t)PLACES * GSH_ERROR_KINDS * sizeof(uint64_t);
    struct gsh_value *claims;
    if (found != NULL)
        return true;
    if (!map_places() || gsh_value_create_locked(size, 0, &claims) != GSH_OK)
        return false;
    if (gsh_value_make_resident_locked(claims) != GSH_OK ||
        gsh_backend_get()->clear(claims->address, size) != GSH_OK) {
        gsh_value_release_sigsafe(claims);
        return false;
    }
    claims_device = claims->address; /* never released */
    found = places;
    return true;
}

static void keep(struct armed *entry, const struct gsh_launch *launch,
                 const struct gsh_error_request *request)
{
    *entry = (struct armed){.kind = launch->kind,
                            .row = (int)launch->op,
                            .loop = launch->loop,
                            .nin = launch->nin,
                            .nout = launch->nout,
                            .request = *request,
                            .source = last_armed + 1};
    for (unsigned k = 0; k < launch->nin + launch->nout; k++)
        entry->dtypes[k] = launch->operands[k].dtype;
}

bool gsh_errors_has_place_locked(void)
{
    return last_armed + 1 <= atomic_load_explicit(&last_read, memory_order_acquire) + PLACES;
}

/* Ensures that the next place has been read. */
static void free_place(void)
{
    if (!gsh_errors_has_place_locked() && gsh_backend_get()->synchronize() == GSH_OK)
        gsh_errors_note_run(last_submitted);
}

bool gsh_errors_arm_locked(struct gsh_launch *launch, const struct gsh_call *call)
{
    launch->errors = (struct gsh_error_sink){0};
    if (call->errors.kinds == 0)
        return true;
    if (!open_places())
        return false;
    uint64_t sequence = last_armed + 1, place = sequence % PLACES;
    free_place();
    keep(&armed[place], launch, &call->errors);
    launch->errors = (struct gsh_error_sink){
        .claims = claims_device + place * GSH_ERROR_KINDS * sizeof(uint64_t),
        .found = found_device + place * sizeof(struct gsh_errors_found),
        .sequence = sequence};
    last_armed = own_sequence = sequence;
    return true;
}

static bool is_armed(const struct gsh_error_sink *sink)
{
    uint64_t place = sink->sequence % PLACES;
    return sink->claims != 0 &&
           sink->claims == claims_device + place * GSH_ERROR_KINDS * sizeof(uint64_t);
}

struct gsh_error_sink gsh_errors_host_sink_locked(const struct gsh_error_sink *sink,
                                                  uint64_t *claims)
{
    if (!is_armed(sink))
        return (struct gsh_error_sink){0};
    memset(claims, 0, GSH_ERROR_KINDS * sizeof *claims);
    return (struct gsh_error_sink){.claims = (uint64_t)claims,
                                   .found = (uint64_t)&places[sink->sequence % PLACES],
                                   .sequence = sink->sequence};
}

bool gsh_errors_mirror_locked(const struct gsh_error_sink *first,
                              const struct gsh_error_sink *second)
{
    if (!is_armed(first) || !is_armed(second))
        return false;
    armed[second->sequence % PLACES].source = first->sequence;
    return true;
}

/* Memory for one more report; NULL: there is no room. */
static struct kept *new_report_locked(const struct gsh_error_request *request)
{
    unsigned count = atomic_load_explicit(&report_count, memory_order_relaxed);
    bool is_waited_for = request->is_loop || request->owner != 0;
    if (count >= (is_waited_for ? REPORTS : REPORTS - RESERVED))
        return NULL;
    if (first_report + count == REPORTS) {
        memmove(reports, &reports[first_report], count * sizeof reports[0]);
        first_report = 0;
    }
    return &reports[first_report + count];
}

static void report_locked(uint64_t sequence)
{
    const struct armed *entry = &armed[sequence % PLACES];
    const volatile struct gsh_errors_found *place = &found[entry->source % PLACES];
    unsigned kinds = 0;
    for (unsigned kind = 0; kind < GSH_ERROR_KINDS; kind++)
        if (place->found[kind].sequence == entry->source)
            kinds |= entry->request.kinds & 1u << kind;
    struct kept *report = kinds != 0 ? new_report_locked(&entry->request) : NULL;
    if (report == NULL)
        return;
    *report = (struct kept){.entry = *entry, .sequence = sequence};
    for (unsigned kind = 0; kind < GSH_ERROR_KINDS; kind++) {
        report->found[kind] = (kinds >> kind & 1) != 0;
        for (unsigned k = 0; report->found[kind] && k < GSH_MAX_INPUTS; k++) {
            report->inputs[kind][k].words[0] = place->found[kind].inputs[k].words[0];
            report->inputs[kind][k].words[1] = place->found[kind].inputs[k].words[1];
        }
    }
    atomic_fetch_add_explicit(&report_count, 1, memory_order_release);
}

void gsh_errors_note_run(uint64_t sequence)
{
    if (found == NULL || sequence == 0)
        return;
    gsh_lock_acquire(&errors_lock);
    unsigned before = atomic_load_explicit(&report_count, memory_order_relaxed);
    while (last_read < sequence)
        report_locked(++last_read);
    if (atomic_load_explicit(&report_count, memory_order_relaxed) > before)
        atomic_store_explicit(&has_news, true, memory_order_release);
    gsh_lock_release(&errors_lock);
}

void gsh_errors_announce_sigsafe(void)
{
    if (atomic_load_explicit(&has_news, memory_order_relaxed) &&
        atomic_exchange_explicit(&has_news, false, memory_order_acq_rel) && on_found != NULL)
        on_found();
}

static struct gsh_error_report unpack(const struct kept *kept)
{
    const struct armed *entry = &kept->entry;
    struct gsh_error_report report = {.sequence = kept->sequence,
                                      .owner = entry->request.owner,
                                      .place = {entry->request.place[0], entry->request.place[1]},
                                      .modes = entry->request.modes,
                                      .is_loop = entry->request.is_loop,
                                      .is_general = entry->request.is_general,
                                      .launch = {.kind = entry->kind,
                                                 .op = (enum gsh_op)entry->row,
                                                 .loop = entry->loop,
                                                 .nin = entry->nin,
                                                 .nout = entry->nout}};
    for (unsigned k = 0; k < entry->nin + entry->nout; k++)
        report.launch.operands[k].dtype = entry->dtypes[k];
    memcpy(report.found, kept->found, sizeof report.found);
    memcpy(report.inputs, kept->inputs, sizeof report.inputs);
    return report;
}

static void forget_locked(unsigned at, unsigned count)
{
    struct kept *first = &reports[first_report];
    if (at == 0)
        first_report++;
    else
        memmove(&first[at], &first[at + 1], (count - at - 1) * sizeof *first);
    if (count == 1)
        first_report = 0;
    atomic_store_explicit(&report_count, count - 1, memory_order_release);
}

/* Takes the first matching report: the one with this sequence number, or if that is 0 one of this owner and no loop. */
static bool fetch(uint64_t sequence, uint64_t owner, struct gsh_error_report *report)
{
    if (atomic_load_explicit(&report_count, memory_order_acquire) == 0)
        return false;
    gsh_lock_acquire(&errors_lock);
    unsigned count = atomic_load_explicit(&report_count, memory_order_relaxed), at = 0;
    for (; at < count; at++) {
        const struct kept *kept = &reports[first_report + at];
        const struct gsh_error_request *request = &kept->entry.request;
        if (sequence == 0 ? !request->is_loop && request->owner == owner
                          : kept->sequence == sequence)
            break;
    }
    bool is_there = at < count;
    if (is_there) {
        *report = unpack(&reports[first_report + at]);
        forget_locked(at, count);
    }
    gsh_lock_release(&errors_lock);
    return is_there;
}

bool gsh_errors_fetch(uint64_t owner, struct gsh_error_report *report)
{
    return fetch(0, owner, report);
}

bool gsh_errors_fetch_own(struct gsh_error_report *report)
{
    return own_sequence != 0 && fetch(own_sequence, 0, report);
}

void gsh_errors_reset_after_fork(void)
{
    gsh_lock_reset_after_fork(&errors_lock);
    found = NULL;
    first_report = 0;
    atomic_store(&report_count, 0);
    atomic_store(&last_read, atomic_load(&last_armed));
}
