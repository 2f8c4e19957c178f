/* SPDX-License-Identifier: Apache-2.0
 *
 * Fourier transforms of the `host` device by FFTW, if it is installed (libfftw3.so.3 and libfftw3f.so.3).
 */
#pragma once

#include "fft_run.h"

/* What computes them, in words. */
const char *gsh_emu_fft_name(void);
/* True where FFTW is there and the launch is one that gsh_fft_run takes. */
bool gsh_emu_fft_supports(const struct gsh_launch *launch);
/* As gsh_fft_device's; under the DISPATCH lock, as FFTW's planner asks for. */
enum gsh_status gsh_emu_fft_transform(const struct gsh_fft_lines *lines, unsigned row);
