/* SPDX-License-Identifier: Apache-2.0
 *
 * Generalised ufuncs that NumPy's other C modules make after attach: numpy.linalg._umath_linalg, and since NumPy 2
 * numpy.fft._pocketfft_umath. They all come from one entry of NumPy's C-API table for ufuncs, which is ours, so that each is
 * hooked (gsh_numpy_ufunc_adopt) before any program sees it. A module of gufuncs is one row of the table in
 * numpy_gufunc.c: its library and a function of this type.
 */
#pragma once

#include "numpy_ufunc.h"

/* A gufunc has just been made. The handler that may take its calls; NULL: they are counted as unsupported. GIL. */
typedef gsh_ufunc_handler gsh_gufunc_offer(const struct gsh_ufunc *ufunc);
