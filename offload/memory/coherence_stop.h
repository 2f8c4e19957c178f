/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of the process where going on would mean wrong numbers: one line names the array.
 */
#pragma once

#include "block.h"

/* `why` comes first in the line. */
_Noreturn void gsh_coherence_stop_sigsafe(const struct gsh_block *block, const char *why);
