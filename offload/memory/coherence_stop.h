/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends the process where continuing would give wrong numbers: one line names the array.
 */
#pragma once

#include "block.h"

/* `why` begins the line. */
_Noreturn void gsh_coherence_stop_sigsafe(const struct gsh_block *block, const char *why);
