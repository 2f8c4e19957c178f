/* SPDX-License-Identifier: Apache-2.0
 *
 * What a hook saw, described without Python: the unit that is priced, recorded or declined. A call
 * is a gsh_launch whose addresses are HOST addresses (arena or foreign memory).
 */
#pragma once

#include "launch.h"
#include "reasons.h"

struct gsh_call {
    struct gsh_launch
        launch;        /* not collapsed; the output's address is 0 until the hook has made it */
    bool fresh_output; /* the output was just allocated for this call: its old contents are nobody's
                        */
    unsigned row;      /* gsh_stats_row of this op and dtypes */
};
