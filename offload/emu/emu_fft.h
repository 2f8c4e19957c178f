/* SPDX-License-Identifier: Apache-2.0
 *
 * Fourier transforms of the emulated device by FFTW, if it is installed (libfftw3.so.3 and libfftw3f.so.3).
 */
#pragma once

#include "fft_run.h"

/* The name of what computes them. */
const char *gsh_emu_fft_name(void);
/* True where FFTW is installed and gsh_fft_run supports the launch. */
bool gsh_emu_fft_supports(const struct gsh_launch *launch);
/* See gsh_fft_device. Under the DISPATCH lock, as FFTW's planner requires. */
enum gsh_status gsh_emu_fft_transform(const struct gsh_fft_lines *lines, unsigned row);
