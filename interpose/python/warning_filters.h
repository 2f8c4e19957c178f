/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluates a list of filters (warnings.filters) for a RuntimeWarning. A copy of one list is kept
 * at a time, so that a warning can be judged by the filters of its call after the program changed
 * the list. GIL; sets no Python error.
 */
#pragma once

#include "python_api.h"

/* Whether the list has exactly the kept filters in the same order. Costs a few comparisons; `list`
 * is an exact list. */
bool gsh_warning_filters_is_kept(PyObject *list);
/* Keeps the list's filters instead of the previous ones. */
void gsh_warning_filters_keep(PyObject *list);
/* The kept filters as a separate list, borrowed. NULL: none are kept, because memory ran out. */
PyObject *gsh_warning_filters_kept(void);
/* Whether a kept filter may turn a RuntimeWarning of any text and place into an exception. Also
 * true if the list contains anything that is not a filter, or if none are kept. */
bool gsh_warning_filters_may_raise(void);
