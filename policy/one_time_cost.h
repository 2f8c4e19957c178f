/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that is done once in a process before the device can run a call: starting the device, opening a library, compiling a
 * kernel. Decided is whether that work begins beside the program, and whether the
 * call waits for it or runs on the CPU meanwhile. It is decided from the seconds that the work takes, the seconds that the
 * call gains on the device, and the seconds that earlier calls would have gained had the work been done ("foregone"). Pure
 * functions; all times are seconds.
 */
#pragma once

#include "decide.h"

/* A call waits for what takes so long: if it gains 5 times as much, or an option sends it to the device. */
bool gsh_one_time_cost_is_worth_waiting(const struct gsh_verdict *call, double seconds);

/* What the call adds to the gains that pay for the start: its gain, its upload paid. */
double gsh_one_time_cost_net_gain(const struct gsh_verdict *call);
/* The net gain of a call whose gain was counted as `gain`, while its `host` seconds on the CPU were modelled: it took `seconds`
 * there. At most 8 times `host` are believed: the process may have been stopped meanwhile. */
double gsh_one_time_cost_measured(double gain, double host, double seconds);
/* Whether a call that was left to the CPU for `reason` would have run on a device that had been ready: its operands then count as
 * expected on the device (operand_cost.h). Once the device is ready, only what is there counts. */
bool gsh_one_time_cost_expects_residency(enum gsh_reason reason, bool is_ready);

/* ---- the start of the device ---- */

/* What gains must reach for a start that takes `seconds`: a quarter of that where nothing but loops gains, because the start then
 * takes one core of several, and makes the process end later; two fifths where products and decompositions do, whose threads want
 * every core. `blas_gains`: of these, of all `gains`. */
double gsh_one_time_cost_start_price(double seconds, double gains, double blas_gains);

struct gsh_start_facts {
    double foregone; /* by earlier calls, net */
    double saved;    /* by loops on several cores: seconds of their threads beyond the program's */
    double price;    /* that gains must reach */
    double seconds;  /* that the call would wait, the opening of its library included */
};
struct gsh_start_verdict {
    bool opens;  /* the driver, beside the program, ahead of a start */
    bool begins; /* beside the program, or waited for */
    bool waits;  /* the call waits and then runs on the device */
};

/* The start begins if earlier calls have foregone its price, or this call alone gains 5 times the price, or waits. Up to three
 * quarters of the price may be paid by a quarter of what loops on several cores have saved: if the program ends at once, it waits for
 * the driver, which takes about as long as was saved. The driver opens, which is most of what ends with the process,
 * for its share of the price. The call waits if it is worth waiting and, with what was foregone, reaches the price; one that an
 * option sends always waits. */
struct gsh_start_verdict gsh_one_time_cost_start(const struct gsh_verdict *call,
                                                 const struct gsh_start_facts *facts);

/* The number of threads that the process's BLAS uses beside a start, of `count` that it uses on `cores`: one fewer where it has a
 * thread on each core, and has 4 threads at least. */
int gsh_one_time_cost_blas_threads(int count, unsigned cores);

/* ---- opening a library ---- */

/* What gains must reach for a library that takes `seconds` to open (0: it is open) to be opened beside the program: a quarter of
 * that beside loops, two fifths where it serves products and decompositions (`is_blas`). */
double gsh_one_time_cost_load_price(double seconds, bool is_blas);
/* The share of that price where the library opens while Python imports. */
#define GSH_ONE_TIME_COST_FORESEEN 0.5
/* Whether the gains of calls that need a library have reached the price of opening it; 0: it is open. */
bool gsh_one_time_cost_pays_loading(double gains, double price);

struct gsh_library_facts {
    double foregone; /* gains of earlier calls that need the library */
    double price;    /* that gains must reach */
    double seconds;  /* until it is open, 0: it is */
};
struct gsh_library_verdict {
    bool
        is_ready; /* the call runs on the device: the library is open, or the call waits, as long as it gains. If not, its gain is foregone. */
    bool opens;   /* the library is opened beside the program */
};
struct gsh_library_verdict gsh_one_time_cost_library(const struct gsh_verdict *call,
                                                     const struct gsh_library_facts *facts);
