/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of a function that is composed of others, while its operands are on the host. None of the composition's own calls pays for
 * their upload, where the whole may. No model knows the work of the whole, so its calls on the CPU are measured
 * (policy/composition_speed.h): the first one runs there.
 *
 * One call goes like this: _begin, _add for each operand, _decide. If that says NONE, the operands are on the device: the
 * composition runs, and _note_composed is told how it went. Else the original runs, and _note_host is told of its time.
 *
 * One thread at a time (the GIL), without locks of the caller's. Checked by tests/unit/policy/test_composition_speed.c and
 * tests/preload/test_host_operands.py.
 */
#pragma once

#include "reasons.h"

#include <stdbool.h>
#include <stddef.h>

enum { GSH_COMPOSITION_OPERANDS = 4 };

struct gsh_composition {
    unsigned row;                                    /* the function's row of statistics */
    unsigned count;                                  /* operands */
    const char *addresses[GSH_COMPOSITION_OPERANDS]; /* of their lowest bytes */
    size_t bytes[GSH_COMPOSITION_OPERANDS];          /* from there to the highest, above 1 */
    double host; /* s that the CPU is expected to take; 0: not known */
};

void gsh_composition_begin(struct gsh_composition *composition, unsigned row);
/* False: the operand is not in the arena, or there are too many. */
bool gsh_composition_add(struct gsh_composition *composition, const void *address, size_t bytes);
/* NONE: the operands were uploaded. */
enum gsh_reason gsh_composition_decide(struct gsh_composition *composition);
/* The original took so many seconds. */
void gsh_composition_note_host(const struct gsh_composition *composition, double seconds);
/* The composition was made in so many seconds of the calling thread, or it declined. Where it declined, or took as long as the CPU,
 * the next calls are left to the CPU (policy/back_off.h). */
void gsh_composition_note_composed(const struct gsh_composition *composition, bool is_made,
                                   double seconds);
