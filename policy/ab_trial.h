/* SPDX-License-Identifier: Apache-2.0
 *
 * An A/B trial of two ways to do a series of pieces of work that are too short for the model to tell which is quicker. It is the series
 * that is tried: it is cut into phases, each of which goes one way, and the time that passes for so much modelled work says which way
 * is quicker. The other way is tried again from time to time. Pure: no clock.
 */
#pragma once

#include "base.h"

struct gsh_ab_rules {
    double close; /* s between the beginnings of two pieces of a series, at most */
    double warm;  /* modelled s, with which a phase begins, not measured: caches fill, data moves */
    double measured; /* modelled s after that */
    double patience; /* a trial ends early after so many times the other way's time; 0: never */
    float gain;      /* A is the better way if it takes at most so much of the time of B */
    unsigned tried;  /* phases, after which B is tried, */
    unsigned
        retried; /* and the worse way again: after twice as many each time that it was not better */
    unsigned confirmed_most; /* doublings */
};

struct gsh_ab_trial {   /* zeros: initial */
    double last;        /* s: when the last piece began */
    double begun;       /* s: when the measured part of this phase began; 0: it has not */
    double work;        /* modelled s since then; before: since the phase began */
    float passed[2];    /* s for each modelled s: of phases that went way A and B; 0: none */
    unsigned phases;    /* in a row that went this way */
    unsigned confirmed; /* trials in a row, of which none was better */
    unsigned ended;     /* phases in all, modulo 2^32 */
    bool is_b;          /* pieces of this phase go way B */
    bool is_trial;      /* this phase goes the way that was not the better one */
};

/* The state for a piece of so many modelled seconds that begins `now` (s, any origin): its is_b is for this piece. */
struct gsh_ab_trial gsh_ab_trial_after(struct gsh_ab_trial state, const struct gsh_ab_rules *rules,
                                       double seconds, double now);
