/* SPDX-License-Identifier: Apache-2.0
 *
 * The transforms of scipy.fft: c2c, r2c and c2r of its extension module (pypocketfft; pyduccfft
 * since SciPy 1.18).
 */
#pragma once

/* Called before the module is opened. Hooks it once it is loaded. Any thread. */
void gsh_scipy_fft_adopt_module(void);
