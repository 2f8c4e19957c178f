/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating-point errors of device calls. A call that asks for it is armed when it is submitted: its
 * launch gets a place of its own where kernels leave, for each kind of error, the inputs of one
 * element that met it. The places are read once the launch is known to have run, that is after a
 * download or a wait that the program made anyway; what they hold is kept as reports until somebody
 * fetches them.
 */
#pragma once

#include "call.h"

/* One call's errors. */
struct gsh_error_report {
    struct gsh_launch
        launch; /* the call's, without shape: kind, op or reduction, loop, dtypes of the operands */
    uint64_t sequence;
    uint64_t owner; /* as in gsh_error_request; so the next four */
    uint32_t place[2];
    unsigned modes;
    bool is_loop, is_general;
    bool found[GSH_ERROR_KINDS];
    union gsh_scalar inputs[GSH_ERROR_KINDS][GSH_MAX_INPUTS];
};

/* The kinds (bit 1 << enum gsh_error_kind) that the launch can raise at all. Pure. */
unsigned gsh_errors_possible(const struct gsh_launch *launch);

/* True where an operand's cast to what the op takes, or that of what was joined to the output's dtype, could meet an error
 * of its own, which kernels do not look for. Pure. */
bool gsh_errors_has_risky_cast(const struct gsh_launch *launch);

/* Whether a place is free without waiting for the device; if not, everything armed must be submitted before more is. Under
 * the DISPATCH lock. */
bool gsh_errors_has_place_locked(void);
/* Gives the launch of a call that asks for it its place. Under the DISPATCH lock. False: there is no memory for the places;
 * the launch would look for no errors. */
bool gsh_errors_arm_locked(struct gsh_launch *launch, const struct gsh_call *call);
/* The place of an armed launch that the host computes in the device's stead, with GSH_ERROR_KINDS claims of the caller's
 * that outlive it; of others none. Under the DISPATCH lock. */
struct gsh_error_sink gsh_errors_host_sink_locked(const struct gsh_error_sink *sink,
                                                  uint64_t *claims);
/* The second launch, which will not run, would have met the errors of the first, armed before it and not submitted either:
 * its call gets them too. Under the DISPATCH lock. False: one of them has no place. */
bool gsh_errors_mirror_locked(const struct gsh_error_sink *first,
                              const struct gsh_error_sink *second);
/* Everything armed so far has been submitted, or never will be. Under the DISPATCH lock. */
void gsh_errors_note_submitted_locked(void);
/* Sequence of the last armed launch that was submitted; 0: none yet. */
uint64_t gsh_errors_submitted(void);
/* Whether something is armed whose place has not been read. Any thread; two loads. */
bool gsh_errors_is_pending(void);
/* Everything submitted up to this sequence has run: its places are read. Any thread; not in the fault handler. */
void gsh_errors_note_run(uint64_t sequence);
/* What gsh_errors_announce_sigsafe calls; set once, before the device starts. It may run in the fault handler. */
void gsh_errors_on_found(void (*notify)(void));
/* At the end of whatever waited for the device, in the thread that waited, no lock held: calls `notify` where there are
 * new reports. One load where there are none. */
void gsh_errors_announce_sigsafe(void);
/* The oldest report of a call that is no loop and has this owner (struct gsh_error_request); it is then forgotten.
 * False: there is none. One load where there are no reports. */
bool gsh_errors_fetch(uint64_t owner, struct gsh_error_report *report);
/* The report of the last call that this thread had armed; it is then forgotten. */
bool gsh_errors_fetch_own(struct gsh_error_report *report);
/* In a forked child: nothing is pending. */
void gsh_errors_reset_after_fork(void);
