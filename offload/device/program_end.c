/* SPDX-License-Identifier: Apache-2.0 */
#include "program_end.h"

#include <stdatomic.h>

static _Atomic bool is_near;

void gsh_program_end_note(void)
{
    is_near = true;
}

bool gsh_program_end_is_near(void)
{
    return is_near;
}
