/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating-point errors of device calls. A call that requests errors is armed when it is submitted: its launch gets a
 * place, a slot in which kernels leave, for each kind of error, the inputs of one element that raised it. The places
 * are read once the launch is known to have run, that is after a download or a wait that the program made anyway.
 * Errors found are kept as reports until they are fetched.
 */
#pragma once

#include "call.h"

/* One call's errors. */
struct gsh_error_report {
    struct gsh_launch
        launch; /* of the call, without shape: kind, op or reduction, loop, dtypes of the operands */
    uint64_t sequence;
    uint64_t owner; /* this member and the next four: as in gsh_error_request */
    uint32_t place[2];
    unsigned modes;
    bool is_loop, is_general;
    bool found[GSH_ERROR_KINDS];
    union gsh_scalar inputs[GSH_ERROR_KINDS][GSH_MAX_INPUTS];
};

/* The kinds (bit 1 << enum gsh_error_kind) that the launch can raise at all. Pure. */
unsigned gsh_errors_possible(const struct gsh_launch *launch);

/* True where a cast could raise an error that kernels do not look for: an operand's cast to the op's input dtype, or
 * the cast of a reduction's or scan's result to the output's dtype. Pure. */
bool gsh_errors_has_risky_cast(const struct gsh_launch *launch);

/* Whether a place is free without waiting for the device. If not, everything armed must be submitted before more is
 * armed. Under the DISPATCH lock. */
bool gsh_errors_has_place_locked(void);
/* Gives the launch a place if its call requests errors. Under the DISPATCH lock. False: there is no memory for the
 * places; the launch would look for no errors. */
bool gsh_errors_arm_locked(struct gsh_launch *launch, const struct gsh_call *call);
/* The place of an armed launch that the host computes instead of the device; for other launches an empty sink.
 * `claims` is the caller's array of GSH_ERROR_KINDS, which must outlive the sink. Under the DISPATCH lock. */
struct gsh_error_sink gsh_errors_host_sink_locked(const struct gsh_error_sink *sink,
                                                  uint64_t *claims);
/* The second launch will not run, and would have raised the errors of the first, which was armed before it and is not
 * submitted either. The second call gets these errors too. Under the DISPATCH lock. False: one of them has no place. */
bool gsh_errors_mirror_locked(const struct gsh_error_sink *first,
                              const struct gsh_error_sink *second);
/* Everything armed so far has been submitted, or never will be. Under the DISPATCH lock. */
void gsh_errors_note_submitted_locked(void);
/* The same of what was armed before the launch with this sequence number. */
void gsh_errors_note_submitted_before_locked(uint64_t sequence);
/* Sequence number of the last armed launch that was submitted; 0: none yet. */
uint64_t gsh_errors_submitted(void);
/* Whether an armed launch has a place that has not been read. Any thread; two loads. */
bool gsh_errors_is_pending(void);
/* Everything submitted up to this sequence number has run: reads its places. Any thread; not in the fault handler. */
void gsh_errors_note_run(uint64_t sequence);
/* Sets the function that gsh_errors_announce_sigsafe calls; once, before the device starts. It may run in the fault
 * handler. */
void gsh_errors_on_found(void (*notify)(void));
/* Called by a thread that has waited for the device and holds no lock any more. Calls `notify` where there are new
 * reports. One load where there are none. */
void gsh_errors_announce_sigsafe(void);
/* Takes the oldest report of a call that is no loop and has this owner (struct gsh_error_request). False: there is
 * none. One load where there are no reports. */
bool gsh_errors_fetch(uint64_t owner, struct gsh_error_report *report);
/* Takes the report of the last call that this thread armed. False: there is none. */
bool gsh_errors_fetch_own(struct gsh_error_report *report);
/* In a forked child: nothing is pending. */
void gsh_errors_reset_after_fork(void);
