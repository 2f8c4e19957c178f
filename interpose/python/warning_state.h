/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the program can observe that a RuntimeWarning comes late. It cannot if the warning is
 * only written to the process's initial stderr, by Python's own functions, under filters that do
 * not turn it into an exception. One state is kept: the state under which all calls with
 * outstanding reports were made. GIL; sets no Python error.
 */
#pragma once

#include "python_api.h"

/* Passes the module warnings; a reference is kept. Called once, at attach. */
void gsh_warning_state_init(PyObject *warnings);
/* Whether the current state differs from the kept one. Costs a few loads if neither module changed
 * since the last check. */
bool gsh_warning_state_has_changed(void);
/* Keeps the current state. No report of calls under the previous state may be outstanding. */
void gsh_warning_state_keep(void);
/* Whether a warning under the kept state may come late. always: even if the program can observe
 * that. */
bool gsh_warning_state_may_be_late(bool always);
/* Call after gsh_warning_state_has_changed: whether a warning may raise an exception or run the
 * program's code. It does neither if it is written to stderr or only appended to the list of
 * catch_warnings(record=True). */
bool gsh_warning_state_may_raise(void);
/* Borrowed: the module's own _formatwarnmsg_impl, the process's initial stderr, and its method
 * `write`. NULL if unknown. */
PyObject *gsh_warning_state_format(void);
PyObject *gsh_warning_state_stderr(void);
PyObject *gsh_warning_state_write(void);
/* The dict of the module warnings; borrowed, NULL before init. */
PyObject *gsh_warning_state_names(void);
