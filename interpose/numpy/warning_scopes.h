/* SPDX-License-Identifier: Apache-2.0
 *
 * Moments at which what is still owed is told: a warnings.catch_warnings begins or ends, filters change, the
 * interpreter ends, and before functions of Python by which the process may end or lose its stderr without that
 * (warning_moments.def).
 */
#pragma once

#include "python_api.h"

/* `settle` tells everything, with the GIL; it leaves no Python error. Once, at attach. GIL. */
void gsh_warning_scopes_install(PyObject *warnings, void (*settle)(void));
/* Whether the interpreter is ending: nobody would ask again. */
bool gsh_warning_scopes_is_over_sigsafe(void);
