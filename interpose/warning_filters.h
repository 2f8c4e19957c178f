/* SPDX-License-Identifier: Apache-2.0
 *
 * What the module warnings makes of a RuntimeWarning, by warnings.filters. GIL; sets no Python error.
 */
#pragma once

#include "python_api.h"

/* Hands over the module, of which a reference is kept. Once, at attach. */
void gsh_warning_filters_init(PyObject *warnings);
/* Whether a filter in force may make an exception of it, wherever it is told. */
bool gsh_warning_filters_may_raise(void);
