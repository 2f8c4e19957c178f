/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells a RuntimeWarning of an earlier call, with the line, the module and the registry of that call. As Python would
 * have told it under the state that is kept (warning_state.h): where another is in force by now it is written to the
 * stderr that the process began with, or not at all. GIL. May leave a Python error, which the caller disarms.
 */
#pragma once

#include "python_place.h"

/* Once, at attach. */
void gsh_warning_late_init(void);
/* `text`: the warning's, a str. `place` was noted in the call; where it is not known any more, the line that runs now
 * is named. */
void gsh_warning_late_tell(PyObject *text, struct gsh_python_place place);
