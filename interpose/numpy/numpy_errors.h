/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating-point errors of device calls, told as NumPy tells them: the original ufunc is called on
 * the elements that met an error, so that NumPy itself gives the warning or the exception.
 *
 * Under errstate "warn", where nobody can tell when a warning comes (warning_state.h), that happens at the next
 * synchronisation, in the main thread, and before the moments of warning_scopes.h, with the line of the call, under the
 * filters of the call, and never by an exception. Under "raise", "call", "print" and "log", where somebody could tell,
 * or with GPUSHIM_FPERR=strict, the call waits for the device and reports before it returns, to its own thread. GIL
 * throughout, but for the last function.
 */
#pragma once

#include "call.h"
#include "python_api.h"

struct gsh_numpy_loop;

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
/* Behind gsh_dispatch_synchronize: raises the processor's floating-point flags by what the device found: NumPy's own loop
 * runs on the elements. No GIL needed. */
void gsh_numpy_errors_settle_loop(const struct gsh_numpy_loop *loop);
