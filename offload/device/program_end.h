/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the program is about to end: what takes long in a thread of ours asks between its steps, so that the program waits for one
 * step only. Any thread, no lock.
 */
#pragma once

#include "base.h"

void gsh_program_end_note(void);
bool gsh_program_end_is_near(void);
