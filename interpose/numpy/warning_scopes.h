/* SPDX-License-Identifier: Apache-2.0
 *
 * The moments at which late reports are made: a warnings.catch_warnings begins or ends, the filters
 * change, or the interpreter ends. Also before Python functions that may end the process or close
 * its stderr without an orderly end of the interpreter (warning_moments.def).
 */
#pragma once

#include "python_api.h"

/* `report` makes all late reports; it runs with the GIL and leaves no Python error. Called once, at
 * attach. GIL. */
void gsh_warning_scopes_install(PyObject *warnings, void (*report)(void));
/* Whether the interpreter is ending, after which no report could be made later. */
bool gsh_warning_scopes_is_over_sigsafe(void);
