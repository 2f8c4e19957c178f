/* SPDX-License-Identifier: Apache-2.0
 *
 * See interpretation.h.
 */
#include "interpretation.h"

#define TIMES 3              /* runs after which a group is taken to recur */
#define STEP_SECONDS 0.5e-12 /* by which an interpreter is slower, for each step of an element */
#define COMPILE_SECONDS 0.1  /* of a group's kernel */

bool gsh_interpretation_ends(unsigned times, double work)
{
    return times >= TIMES || work * STEP_SECONDS >= COMPILE_SECONDS;
}
