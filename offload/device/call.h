/* SPDX-License-Identifier: Apache-2.0
 *
 * What a hook saw, described without Python: the unit that is priced, recorded or declined. A call
 * is a gsh_launch whose addresses are HOST addresses (arena or unmanaged memory).
 */
#pragma once

#include "launch.h"
#include "reasons.h"

/* Which floating-point errors of a call are to be reported (offload/graph/errors.h). */
struct gsh_error_request {
    unsigned kinds;    /* 1 << enum gsh_error_kind; 0: none */
    unsigned modes;    /* handed back in the report */
    uint64_t owner;    /* who alone may fetch the report, see gsh_errors_fetch; 0: anybody */
    uint32_t place[2]; /* handed back in the report */
    bool is_loop;      /* told by the thread that made the call, see gsh_errors_fetch_own */
    bool is_unwanted;  /* set by a hook that looks at the results itself */
    /* Set by the hook of a TAKE whose index may hold anything: one out of bounds is INVALID. */
    bool checks_index;
    /* Handed back in the report; set by the hook of a PUT that NumPy does not do by its loop for one dimension. */
    bool is_general;
};

struct gsh_call {
    struct gsh_launch
        launch; /* not collapsed; an output's address is 0 until the hook has made it */
    bool fresh
        [GSH_MAX_OUTPUTS]; /* the output was just allocated for this call: its old contents are nobody's */
    bool is_einsum;        /* the CPU's code for it is NumPy's einsum, not BLAS */
    bool is_read_next; /* the one output, of one element, is fresh, and the caller reads it next */
    uint8_t
        expiring; /* the call site (expiring.h) at which the call reads input 0, which does not outlive it; 0: not known */
    struct gsh_error_request errors;
    unsigned row; /* gsh_stats_row of this op and dtypes */
};
