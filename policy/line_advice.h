/* SPDX-License-Identifier: Apache-2.0
 *
 * What a line of the program costs because its data or its calls are on the wrong side, and what the program may change: pure
 * functions of the line's numbers.
 */
#pragma once

#include "fmt.h"
#include "line_profile.h"
#include "reasons.h"

/* What the advice is made of. */
struct gsh_line_facts {
    const struct gsh_line_profile_copy *line;
    uint64_t elements;          /* reads of single elements that the device answered */
    enum gsh_reason top_reason; /* of the calls on the CPU; NONE where there was none */
};

/* Seconds: transfers and faults at usual rates, and the time of the CPU's calls where their reason is one to change. */
double gsh_line_advice_cost(const struct gsh_line_facts *facts);
/* The code of what to change, and appends it as a sentence; NULL: nothing. The code is stable: reports, JSON and tests use it. */
const char *gsh_line_advice_append(const struct gsh_line_facts *facts, struct gsh_fmt *fmt);
