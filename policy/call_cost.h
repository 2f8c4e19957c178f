/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call's facts (decide.h) are made of: its work, where its operands' bytes are, and how many of its results are fetched.
 * Pure arithmetic. The log of decisions (offload/dispatch/decision_file.h) holds these numbers, so that the facts can be computed
 * again at other rates.
 */
#pragma once

#include "operand_cost.h"

enum { GSH_CALL_COST_OPERANDS = 6 };

struct gsh_call_cost {
    struct gsh_work work;
    double host_factor; /* by which the modelled seconds on the CPU are multiplied (host_speed.h) */
    double result_bytes, result_share; /* of results; which share of them the host fetches */
    unsigned count;
    struct gsh_operand_facts operands[GSH_CALL_COST_OPERANDS];
};

struct gsh_facts gsh_call_cost_facts(const struct gsh_rates *rates,
                                     const struct gsh_call_cost *cost);
