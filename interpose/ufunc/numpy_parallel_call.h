/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole elementwise calls on several cores. NumPy divides a call whose operands cannot be walked as one dimension (`a[:, 1:] -
 * a[:, :-1]`) into short loops, and copies operands to buffers between them, as it does where they are cast. Such a call is
 * computed here by NumPy's inner loop: row by row where the rows lie, or from buffers of each thread. Other calls are left to
 * NumPy, whose loops numpy_parallel.h divides. GIL; other Python threads run meanwhile.
 */
#pragma once

#include "numpy_output.h"
#include "numpy_promote.h"

/* Computes a described call that no device takes (`why`). `outs` and `layouts`: see gsh_numpy_output_run_all. True: *result is a new
 * reference, or NULL with a Python exception, of a floating-point error. False: left to NumPy, nothing was changed, no Python
 * error. */
bool gsh_numpy_parallel_call_try(const struct gsh_ufunc_call *request, struct gsh_call *call,
                                 const struct gsh_numpy_loop *loop,
                                 const struct gsh_layout *layouts, enum gsh_reason why,
                                 PyObject **result);
