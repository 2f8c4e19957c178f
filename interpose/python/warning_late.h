/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports a RuntimeWarning of an earlier call with that call's line, module and registry, as Python
 * would have done under the kept state (warning_state.h). If another state is in force at the time
 * of the report, the warning is written to the process's initial stderr, or suppressed if the kept
 * filters say so. GIL. May leave a Python error, which the caller handles.
 */
#pragma once

#include "python_place.h"

/* Once, at attach. */
void gsh_warning_late_init(void);
/* `text`: the warning's text, a str. `place` was noted in the call. If it was forgotten, the
 * current line is named. */
void gsh_warning_late_tell(PyObject *text, struct gsh_python_place place);
