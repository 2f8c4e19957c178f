/* SPDX-License-Identifier: Apache-2.0
 *
 * A group of calls has a kernel of its own, or runs in a kernel that interprets any group. The interpreter is there at
 * once and takes longer. Decided is when a group's own kernel is compiled, beside the program. Pure functions.
 */
#pragma once

#include "base.h"

/* Whether a group that has run `times` times in an interpreter, its steps on `work` elements in all, gets a kernel. A
 * group that does not recur earns no compilation; a large one earns it in fewer runs. */
bool gsh_interpretation_ends(unsigned times, double work);
