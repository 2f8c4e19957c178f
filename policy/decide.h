/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a call runs, on the CPU or on the device. An option decides if it names the mode `force` or a minimum size for the
 * call's class. Otherwise the seconds of struct gsh_facts decide: the device takes a call that it does sooner, if the saving,
 * together with what was lost by leaving the operands on the host so far, exceeds what their upload costs ("rent or buy": no
 * order of calls costs more than twice the best choice in hindsight). Pure functions: no clock, no lock, no state.
 */
#pragma once

#include "reasons.h"

/* Seconds. */
struct gsh_facts {
    double host;   /* on the CPU, its operands being there */
    double device; /* on the device, its operands being there */
    double upload; /* to bring to the device what it lacks */
    double
        download; /* to fetch what the CPU would lack, less what earlier calls have paid for leaving it on the device */
    double fetch; /* expected for the host to fetch the result afterwards (its history) */
    double debt;  /* lost so far by leaving these operands on the host */
};

struct gsh_verdict {
    enum gsh_reason reason; /* NONE: the device; TOO_SMALL, NO_GAIN or DATA_ON_HOST otherwise */
    double gain;            /* s won by the device, uploads not counted; may be negative */
    double
        modelled;   /* s on the CPU before they were corrected, set by price.h; 0: they never are */
    bool is_forced; /* an option says that the call is to run there, whatever it gains */
    struct gsh_facts facts; /* that it was made of; zeros where an option decided */
};

struct gsh_verdict gsh_decide(const struct gsh_facts *facts);
/* Seconds that a call loses on the device which the CPU would do sooner, were its operands there; negative: it wins. */
double gsh_decide_loss(const struct gsh_facts *facts);

/* What the options say about a call. */
struct gsh_override {
    bool sends_all;  /* GPUSHIM_MODE=force */
    int64_t minimum; /* option of the call's class; negative: not set */
    double size;     /* of the call, in that option's unit */
};

/* False: they say nothing, the facts decide. True: *verdict is theirs. */
bool gsh_decide_by_options(const struct gsh_override *options, struct gsh_verdict *verdict);

/* Fewest elements that a call must have to be described and priced at all, where none of its operands is on the device and the
 * facts decide. Fewer than that never pay for a launch. */
enum { GSH_DECIDE_LEAST_ELEMENTS = 16384 };
