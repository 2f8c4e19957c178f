/* SPDX-License-Identifier: Apache-2.0
 *
 * What a list of filters (warnings.filters) makes of a RuntimeWarning. One list at a time is kept: its filters as they
 * stood when it was kept, so that a warning can be judged by them after the program has changed the list. GIL; sets no
 * Python error.
 */
#pragma once

#include "python_api.h"

/* Whether the list holds exactly the filters that are kept, in their order. A few compares; `list` is an exact list. */
bool gsh_warning_filters_is_kept(PyObject *list);
/* Keeps the list's filters in place of those before. */
void gsh_warning_filters_keep(PyObject *list);
/* The kept filters: a list of its own, borrowed; NULL: none are kept, for want of memory. */
PyObject *gsh_warning_filters_kept(void);
/* Whether one of the kept filters may make an exception of a RuntimeWarning, whatever its text and place; true as well
 * for anything in the list that is no filter, and where none are kept. */
bool gsh_warning_filters_may_raise(void);
