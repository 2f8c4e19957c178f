/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether anybody could tell that a RuntimeWarning comes late. Nobody can where it would only be written to the stderr
 * that the process began with, by Python's own functions, under filters that make no exception of it. One state is
 * kept: that under which all calls were made that are still to be told of. GIL; sets no Python error.
 */
#pragma once

#include "python_api.h"

/* Hands over the module warnings, of which a reference is kept. Once, at attach. */
void gsh_warning_state_init(PyObject *warnings);
/* Whether what is in force differs from what is kept. A few loads where neither module was touched since it was asked last. */
bool gsh_warning_state_has_changed(void);
/* Keeps what is in force. Nothing may be left to be told of calls under what was kept before. */
void gsh_warning_state_keep(void);
/* Of the kept state: whether a warning may come late (`always`: also where the program would see that). */
bool gsh_warning_state_may_be_late(bool always);
/* Behind gsh_warning_state_has_changed: whether a warning may end in an exception, or run code of the program's. It
 * does neither where it is written to stderr, or only joins the list of catch_warnings(record=True). */
bool gsh_warning_state_may_raise(void);
/* Borrowed: the module's own _formatwarnmsg_impl, the stderr that the process began with, and its method `write`; NULL
 * where not known. */
PyObject *gsh_warning_state_format(void);
PyObject *gsh_warning_state_stderr(void);
PyObject *gsh_warning_state_write(void);
/* The names of the module warnings, a dict; borrowed, NULL before init. */
PyObject *gsh_warning_state_names(void);
