/* SPDX-License-Identifier: Apache-2.0
 *
 * One-dimensional Fourier transforms, on which all functions of np.fft are based: the gufuncs of
 * numpy.fft._pocketfft_umath (NumPy 2; see gsh_gufunc_offer) and the function execute of
 * numpy.fft._pocketfft_internal (NumPy 1).
 */
#pragma once

#include "numpy_ufunc.h"

gsh_ufunc_handler gsh_numpy_fft_offer(const struct gsh_ufunc *ufunc);
/* Patches NumPy 1's module, once, if it is loaded and ufuncs are hooked. GIL; only after attach. */
void gsh_numpy_fft_adopt_module(void);
