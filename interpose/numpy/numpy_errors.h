/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating-point errors of device calls, told as NumPy tells them: the original ufunc is called on
 * the elements that met an error, so that NumPy itself gives the warning or the exception.
 *
 * Under errstate "warn", where nobody can tell when a warning comes (warning_state.h), that happens at the next
 * synchronisation, in the main thread, and before the moments of warning_scopes.h, with the line of the call, under the
 * filters of the call, and never by an exception. Under "raise", "call", "print" and "log", where somebody could tell,
 * or with GPUSHIM_FPERR=strict, the call waits for the device and reports before it returns, to its own thread. GIL
 * throughout, but for the last two functions.
 */
#pragma once

#include "call.h"
#include "python_api.h"

/* Sets call->errors from the launch, the errstate and GPUSHIM_FPERR; *waits tells whether
 * gsh_numpy_errors_settle must follow the call. False: leave the call to NumPy (underflow matters, or
 * the state cannot be read). */
bool gsh_numpy_errors_request(struct gsh_call *call, bool *waits);
/* Of a call that was requested: whether an error ends in an exception, or in a function of the program's. */
bool gsh_numpy_errors_may_raise(const struct gsh_call *call);
/* Waits for the device and tells of what it found in this thread's calls that wait. False: a Python exception is set. */
bool gsh_numpy_errors_settle(void);
/* Waits for the device; whether this thread's last armed call met an error, which is then forgotten. */
bool gsh_numpy_errors_met_one(void);
/* Arms the call of an inner loop, whose errstate is not known. */
void gsh_numpy_errors_request_loop(struct gsh_call *call);
/* Whether this thread is not to tell of errors in a pending call: an exception that is raised meanwhile would be lost. What is
 * found is told later. Returns what it was before. No GIL needed. */
bool gsh_numpy_errors_hold(bool hold);
