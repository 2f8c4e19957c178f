/* SPDX-License-Identifier: Apache-2.0
 *
 * The numerical contract (docs/user/numerics.md) as numbers: how far the result of a launch may be from NumPy's. Pure.
 */
#pragma once

#include "launch.h"

/* How a result is compared, the loosest last.
 *   EXACT: the same bits; any NaN is any other.
 *   EQUAL: the same numbers: also the sign of zero is free.
 *   ULPS: at most `factor` units in the last place of NumPy's result, of complex numbers of its larger part.
 *   MAGNITUDE: at most `factor` units in the last place of what the call gives for the magnitudes of its inputs.
 *   NORM: the norm of the difference, over each line of a transform, at most `factor` eps times that of NumPy's.
 *   RESIDUAL: results are not compared; their residual is at most `factor` eps times the norms of what was given. */
enum gsh_contract_kind {
    GSH_CONTRACT_EXACT,
    GSH_CONTRACT_EQUAL,
    GSH_CONTRACT_ULPS,
    GSH_CONTRACT_MAGNITUDE,
    GSH_CONTRACT_NORM,
    GSH_CONTRACT_RESIDUAL
};

struct gsh_contract {
    enum gsh_contract_kind kind;
    double factor; /* 0 for EXACT and EQUAL */
    double least;  /* units are at least those of this number */
    bool
        is_open; /* what the bound does not hold for is not fixed (numerics.md, known differences) */
};

/* Both sides' errors: where the contract bounds the distance from the exact result, NumPy's own is bounded likewise. */
struct gsh_contract gsh_contract_of(const struct gsh_launch *launch);
/* The contract of a result that two launches made one after the other: the looser kind, and both factors. */
struct gsh_contract gsh_contract_join(struct gsh_contract first, struct gsh_contract second);
