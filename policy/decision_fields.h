/* SPDX-License-Identifier: Apache-2.0
 *
 * The structures of numbers of which decisions are made, member by member under their names: for the log of decisions and for the
 * program that makes them again. Pure.
 */
#pragma once

#include "call_cost.h"

enum gsh_decision_group {
    GSH_DECISION_RATE,    /* struct gsh_rates */
    GSH_DECISION_WORK,    /* struct gsh_work */
    GSH_DECISION_OPERAND, /* struct gsh_operand_facts, but for the ledger */
    GSH_DECISION_LEDGER,  /* struct gsh_ledger */
    GSH_DECISION_FACT     /* struct gsh_facts */
};

struct gsh_decision_field {
    const char *name; /* of the member: "host_flops[0]" */
    enum gsh_decision_group group;
    unsigned offset; /* in the structure */
    unsigned type;   /* internal */
};

/* The next field of the group after `field`, the first one after NULL; NULL: there is none. */
const struct gsh_decision_field *gsh_decision_fields_next(enum gsh_decision_group group,
                                                          const struct gsh_decision_field *field);
/* The member of the structure of the field's group at `object`, which holds whole numbers exactly. */
double gsh_decision_fields_get(const struct gsh_decision_field *field, const void *object);
void gsh_decision_fields_set(const struct gsh_decision_field *field, void *object, double value);
