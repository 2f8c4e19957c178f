/* SPDX-License-Identifier: Apache-2.0
 *
 * The transforms of scipy.fft: c2c, r2c and c2r of the extension module that it computes with (pypocketfft; pyduccfft from
 * SciPy 1.18 on).
 */
#pragma once

/* Called before that module is opened: hooks it as soon as it is there. Any thread. */
void gsh_scipy_fft_adopt_module(void);
