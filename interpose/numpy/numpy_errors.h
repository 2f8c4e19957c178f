/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports floating-point errors of device calls as NumPy does: the original ufunc is called on the
 * elements that met an error, so that NumPy itself gives the warning or exception.
 *
 * Late reports: under errstate "warn", if the program cannot observe the time of a warning
 * (warning_state.h), the call does not wait. The main thread reports at the next synchronisation,
 * and before each moment of warning_scopes.h. The warning has the line and the filters of the call
 * and never becomes an exception. Under "raise", "call", "print" and "log", if the time can be
 * observed, or with GPUSHIM_FPERR=strict, the call waits for the device and reports in its own
 * thread before it returns. GIL, except for the last two functions.
 */
#pragma once

#include "call.h"
#include "python_api.h"

/* Sets call->errors from the launch, the errstate and GPUSHIM_FPERR. *waits:
 * gsh_numpy_errors_synchronize must follow the call. False: leave the call to NumPy (underflow matters,
 * or the state cannot be read). */
bool gsh_numpy_errors_request(struct gsh_call *call, bool *waits);
/* Whether an error of a requested call may raise an exception or run a function of the program. */
bool gsh_numpy_errors_may_raise(const struct gsh_call *call);
/* Waits for the device and reports the errors of this thread's calls that wait. False: a Python
 * exception is set. */
bool gsh_numpy_errors_synchronize(void);
/* Waits for the device. Whether this thread's last requested call met an error; its report is
 * discarded. */
bool gsh_numpy_errors_met_one(void);
/* Requests reports for the call of an inner loop, whose errstate is unknown. */
void gsh_numpy_errors_request_loop(struct gsh_call *call);
/* Whether pending calls in this thread must not report errors, because an exception raised there
 * would be lost. They are reported later. Returns the previous value. No GIL needed. */
bool gsh_numpy_errors_hold(bool hold);
