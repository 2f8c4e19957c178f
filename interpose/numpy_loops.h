/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loops of the ufuncs that the device knows: calls that reach a loop without a
 * description of the whole call (subclasses of ndarray, sequences, where=) can still be computed on
 * the device, flat piece by flat piece.
 */
#pragma once

#include "ops.h"

/* Loop calls of this thread that the device computed. */
uint64_t gsh_numpy_loops_device_calls(void);
/* Whether this thread's loops may use the device; returns what it was before. They may not unless a
 * hook that has found the call's errstate quiet says so, for the length of the original: NumPy
 * learns nothing of a floating-point error on the device. */
bool gsh_numpy_loops_admit(bool admitted);
/* Whether NumPy's loop of this op for this dtype is still the one that we found at attach: somebody
 * may have put another in its place (PyUFunc_ReplaceLoopBySignature), whose results are then
 * wanted. GIL. */
bool gsh_numpy_loops_is_genuine(enum gsh_op op, enum gsh_dtype loop);
