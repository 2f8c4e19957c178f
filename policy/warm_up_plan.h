/* SPDX-License-Identifier: Apache-2.0
 *
 * How a library's routine is warmed up: a small launch of it runs before the first call, so that the call does not wait until
 * the routine's code is loaded. Decided is when the launch runs (from the device's state and the library's), how small it is
 * (from the call's extents), whether it fits (from its bytes), and which calls are alike, so that one launch serves them all
 * (from extents and lengths: libraries have separate code for small, for many, for tall and for wide matrices, and for
 * lengths with large prime factors). Pure functions.
 */
#pragma once

#include "base.h"

/* ---- when ---- */

struct gsh_warm_up_facts {
    bool is_ending;  /* the process ends */
    bool is_pending; /* the device is not started yet */
    bool is_ready;   /* the device takes launches */
    double opening;  /* s until the library is open; 0: it is */
};
enum gsh_warm_up_step {
    GSH_WARM_UP_WAIT, /* look again later */
    GSH_WARM_UP_OPEN, /* have the library opened, and look again later */
    GSH_WARM_UP_RUN   /* it is time, or there will be none: gsh_warm_up_plan_may_run says which */
};
enum gsh_warm_up_step gsh_warm_up_plan_next(const struct gsh_warm_up_facts *facts);
bool gsh_warm_up_plan_may_run(const struct gsh_warm_up_facts *facts);

/* ---- how small ---- */

/* An extent of matrices whose longest extent is `longest`: shrunk in proportion, so that the longest becomes 1024 and extents
 * that must agree still do. */
int64_t gsh_warm_up_plan_extent(int64_t extent, int64_t longest);
/* Most matrices along each dimension of the batch. `is_routine`: of linear algebra; `is_many`: it works on many matrices side
 * by side. */
int64_t gsh_warm_up_plan_batch(int64_t longest, bool is_routine, bool is_many);
/* Whether operands of so many bytes in all are small enough. */
bool gsh_warm_up_plan_fits(size_t bytes);

/* ---- which are alike ---- */

/* Equal for matrices that the same code of a library works on; below 32. */
uint64_t gsh_warm_up_plan_shape(int64_t rows, int64_t columns, bool is_many);
/* Whether a transform's length has no prime factor above 7. */
bool gsh_warm_up_plan_is_smooth(int64_t length);
