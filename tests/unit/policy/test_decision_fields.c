/* SPDX-License-Identifier: Apache-2.0
 *
 * Members by name: each holds what was set, alone, and no rate, fact or number of the work lacks a row.
 */
#include "decision_fields.h"

#include "check.h"

#include <string.h>

union numbers {
    struct gsh_rates rates;
    struct gsh_work work;
    struct gsh_operand_facts operand;
    struct gsh_ledger ledger;
    struct gsh_facts facts;
};

/* Flags hold 1, bytes up to 255. */
static double number_of(enum gsh_decision_group group, unsigned place)
{
    return group == GSH_DECISION_RATE || group == GSH_DECISION_FACT ? place + 0.5 : place % 2;
}

static unsigned set_all(enum gsh_decision_group group, union numbers *numbers)
{
    const struct gsh_decision_field *field = NULL;
    unsigned count = 0;
    memset(numbers, 0, sizeof *numbers);
    while ((field = gsh_decision_fields_next(group, field)) != NULL)
        gsh_decision_fields_set(field, numbers, number_of(group, count++));
    return count;
}

static void test_set_and_get(void)
{
    for (int group = GSH_DECISION_RATE; group <= GSH_DECISION_FACT; group++) {
        const struct gsh_decision_field *field = NULL;
        union numbers numbers;
        unsigned count = set_all(group, &numbers), place = 0;
        CHECK(count > 3);
        while ((field = gsh_decision_fields_next(group, field)) != NULL)
            CHECK(gsh_decision_fields_get(field, &numbers) == number_of(group, place++));
        CHECK(place == count);
    }
}

static void test_complete(void)
{
    union numbers numbers;
    CHECK(set_all(GSH_DECISION_RATE, &numbers) * sizeof(double) == sizeof(struct gsh_rates));
    CHECK(set_all(GSH_DECISION_WORK, &numbers) * sizeof(double) ==
          sizeof(struct gsh_work)); /* padded */
    CHECK(set_all(GSH_DECISION_FACT, &numbers) * sizeof(double) == sizeof(struct gsh_facts));
}

static void test_members(void)
{
    const struct gsh_decision_field *field = NULL;
    struct gsh_ledger ledger = {.debt = 0};
    while ((field = gsh_decision_fields_next(GSH_DECISION_LEDGER, field)) != NULL)
        gsh_decision_fields_set(field, &ledger, 7);
    CHECK(ledger.debt == 7 && ledger.price == 7 && ledger.earned == 7 && ledger.rent == 7 &&
          ledger.back_off == 7 && ledger.undone == 7 && ledger.parts == 7);
}

int main(void)
{
    test_set_and_get();
    test_complete();
    test_members();
    return check_result();
}
