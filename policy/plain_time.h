/* SPDX-License-Identifier: Apache-2.0
 *
 * Seconds that NumPy alone takes for a call that the device computed: for the verdict's estimate of a plain run, and for nothing that is
 * decided. The cost model's seconds (cost_model.h) are those of a call in the library's own memory, and flatter the CPU. Here is added what
 * they leave out:
 *  - New results of 32 MiB and more. glibc's malloc maps each of them anew and gives it back when it is freed (mallopt(3),
 *    DEFAULT_MMAP_THRESHOLD_MAX), so that their pages are zeroed at every call; and their lines are fetched before they are written. Smaller
 *    ones come from memory that is in use, and mostly from a cache.
 *  - Masks. np.where copies one element after another, behind a branch that is often mispredicted.
 *  - Routines of LAPACK: their shares of a product's rate are doubled in kernels/lapack.def.
 *  - Products on fewer cores than those that the rates were measured on, unless they were measured here.
 * docs/user/report.md says how near the estimate is. Pure functions.
 */
#pragma once

#include "cost_model.h"

/* A new result of at least so many bytes is mapped anew by malloc. */
#define GSH_PLAIN_TIME_MAPPED (32 << 20)

struct gsh_plain_call {
    struct gsh_work work;
    double
        measured; /* over modelled seconds, of such calls here (host_speed.h); 0: none was measured */
    double mapped;  /* bytes of the new results that malloc maps */
    bool is_masked; /* a mask chooses each element */
    unsigned cores; /* of the process */
};

double gsh_plain_time(const struct gsh_rates *rates, const struct gsh_plain_call *call);
