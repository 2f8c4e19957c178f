/* SPDX-License-Identifier: Apache-2.0
 *
 * Gains against one-time costs.
 */
#include "one_time_cost.h"

#define WAITING_GAIN 5   /* times what is waited for: libraries may come from a slow disk */
#define LOOP_SHARE 0.25  /* of the start's time, its price beside loops: the process ends later */
#define BLAS_SHARE 0.4   /* ... beside products and decompositions, which it slows down */
#define DRIVER_SHARE 0.7 /* cuInit's, of the end of a process: 0.045 of 0.06 s (H200) */
#define SAVED_SHARE 0.25 /* of threads' seconds beyond the program's; at least half are saved */
#define LEAST_GAINS 0.25 /* of a price: what gains must reach, however much was saved */
#define LONG_CALL 5      /* times what starting takes: a start beside such a call is hardly felt */
#define FEW_THREADS 4    /* a quarter of BLAS's speed is the most that is given up */
#define MOST_TIMES 8     /* what was modelled */

bool gsh_one_time_cost_is_worth_waiting(const struct gsh_verdict *call, double seconds)
{
    return call->is_forced || call->gain >= WAITING_GAIN * seconds;
}

double gsh_one_time_cost_net_gain(const struct gsh_verdict *call)
{
    return GSH_MAX(call->gain - call->facts.upload, 0);
}

double gsh_one_time_cost_measured(double gain, double host, double seconds)
{
    return GSH_MAX(gain + GSH_MIN(seconds, MOST_TIMES * host) - host, 0);
}

bool gsh_one_time_cost_expects_residency(enum gsh_reason reason, bool is_ready)
{
    return reason == GSH_REASON_NOT_STARTED && !is_ready;
}

double gsh_one_time_cost_start_price(double seconds, double gains, double blas_gains)
{
    double share = gains > 0 ? GSH_MIN(blas_gains / gains, 1) : 0;
    return seconds * (LOOP_SHARE + (BLAS_SHARE - LOOP_SHARE) * share);
}

/* What may be spent on the start. */
static double funds(const struct gsh_start_facts *facts)
{
    double saved = SAVED_SHARE * facts->saved;
    return facts->foregone + GSH_MIN(saved, facts->foregone * (1 / LEAST_GAINS - 1));
}

struct gsh_start_verdict gsh_one_time_cost_start(const struct gsh_verdict *call,
                                                 const struct gsh_start_facts *facts)
{
    bool pays = facts->foregone + call->gain >= facts->price;
    bool waits =
        gsh_one_time_cost_is_worth_waiting(call, facts->seconds) && (pays || call->is_forced);
    bool begins = funds(facts) >= facts->price || call->gain >= LONG_CALL * facts->price || waits;
    bool opens = begins || funds(facts) >= DRIVER_SHARE * facts->price;
    return (struct gsh_start_verdict){opens, begins, waits};
}

int gsh_one_time_cost_blas_threads(int count, unsigned cores)
{
    return count >= FEW_THREADS && (unsigned)count == cores ? count - 1 : count;
}

double gsh_one_time_cost_load_price(double seconds, bool is_blas)
{
    return (is_blas ? BLAS_SHARE : LOOP_SHARE) * seconds;
}

bool gsh_one_time_cost_pays_loading(double gains, double price)
{
    return price > 0 && gains >= price;
}

struct gsh_library_verdict gsh_one_time_cost_library(const struct gsh_verdict *call,
                                                     const struct gsh_library_facts *facts)
{
    if (facts->seconds == 0 || gsh_one_time_cost_is_worth_waiting(call, facts->seconds))
        return (struct gsh_library_verdict){.is_ready = true};
    double gains = facts->foregone + gsh_one_time_cost_net_gain(call);
    return (struct gsh_library_verdict){.opens =
                                            gsh_one_time_cost_pays_loading(gains, facts->price)};
}
