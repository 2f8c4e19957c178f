/* SPDX-License-Identifier: Apache-2.0
 *
 * The mark is thread-local: NVRTC changes actions in the thread that calls it.
 */
#include "library_call.h"

_Thread_local bool gsh_library_call_is_inside;

void gsh_library_call_begin(void)
{
    gsh_library_call_is_inside = true;
}

void gsh_library_call_end(void)
{
    gsh_library_call_is_inside = false;
}
