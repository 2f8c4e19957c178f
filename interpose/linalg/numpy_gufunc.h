/* SPDX-License-Identifier: Apache-2.0
 *
 * Generalised ufuncs that NumPy's other C modules create after attach: numpy.linalg._umath_linalg,
 * and since NumPy 2 numpy.fft._pocketfft_umath. They all call one entry of NumPy's C-API table for
 * ufuncs, which is replaced, so each gufunc is hooked (gsh_numpy_ufunc_adopt) before a program sees
 * it. Each such module has one row in the table in numpy_gufunc.c: its library and a function of
 * the type below.
 */
#pragma once

#include "numpy_ufunc.h"

/* Called when a gufunc was created. Returns the handler for its calls. NULL: the calls are counted
 * as unsupported. GIL. */
typedef gsh_ufunc_handler gsh_gufunc_offer(const struct gsh_ufunc *ufunc);
