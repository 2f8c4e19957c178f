/* SPDX-License-Identifier: Apache-2.0
 *
 * The hint is thread-local.
 */
#include "arena_hint.h"

static _Thread_local bool hint;

void gsh_arena_hint_begin(void)
{
    hint = true;
}

void gsh_arena_hint_end(void)
{
    hint = false;
}

bool gsh_arena_hint_is_set(void)
{
    return hint;
}
