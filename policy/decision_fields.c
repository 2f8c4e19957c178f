/* SPDX-License-Identifier: Apache-2.0
 *
 * decision_fields.def as a table.
 */
#include "decision_fields.h"

#include <stddef.h>

enum { REAL, FLAG, BYTE, WORD };

static const struct gsh_decision_field fields[] = {
#define TYPE(structure, member)                                                                    \
    _Generic(((struct structure *)NULL)->member, double                                            \
             : REAL, bool                                                                          \
             : FLAG, uint8_t                                                                       \
             : BYTE, default                                                                       \
             : WORD)
#define X(in, structure, member)                                                                   \
    {.name = #member,                                                                              \
     .group = GSH_DECISION_##in,                                                                   \
     .offset = offsetof(struct structure, member),                                                 \
     .type = TYPE(structure, member)},
#include "decision_fields.def"
#undef X
};
_Static_assert(sizeof(enum gsh_work_kind) == sizeof(unsigned) &&
                   sizeof(enum gsh_operand_place) == sizeof(unsigned),
               "a WORD is an enumeration");

const struct gsh_decision_field *gsh_decision_fields_next(enum gsh_decision_group group,
                                                          const struct gsh_decision_field *field)
{
    for (field = field ? field + 1 : fields; field < fields + GSH_COUNT(fields); field++)
        if (field->group == group)
            return field;
    return NULL;
}

double gsh_decision_fields_get(const struct gsh_decision_field *field, const void *object)
{
    const void *member = (const char *)object + field->offset;
    switch (field->type) {
    case REAL:
        return *(const double *)member;
    case FLAG:
        return *(const bool *)member;
    case BYTE:
        return *(const uint8_t *)member;
    default:
        return *(const unsigned *)member;
    }
}

void gsh_decision_fields_set(const struct gsh_decision_field *field, void *object, double value)
{
    void *member = (char *)object + field->offset;
    switch (field->type) {
    case REAL:
        *(double *)member = value;
        break;
    case FLAG:
        *(bool *)member = value != 0;
        break;
    case BYTE:
        *(uint8_t *)member = (uint8_t)value;
        break;
    default:
        *(unsigned *)member = (unsigned)value;
    }
}
